/* Products of more terms than masks can tell apart one by one. The first REVEAL_MATRIX_FIRST are,
 * among zeros, in a product of the whole k; where their chain ends is searched; and the tree that
 * goes on like this is asked for sizes of nodes all over k, then held to products of other
 * operands, which read all of k. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/inputs/philox.h"
#include "experiments/reveal/matrix_ask.h"

enum { QUESTIONS = 256, UNITS = 48 };

/* --- the first products, among zeros --- */

struct prefix {
    const struct reveal_matrix_subject *whole;
    unsigned char *a, *b; /* of the whole k, zero but for the first products */
};

static enum status product_of_first(void *context, size_t m, size_t n, size_t k, const void *a,
                                    const void *b, const void *c, void *d, struct problem *p)
{
    const struct prefix *to = context;
    const struct reveal_matrix_subject *s = to->whole;
    const size_t bytes = (size_t)mma_elements[s->element].bits / 8;
    for (size_t i = 0; i < m; i++)
        memcpy(to->a + i * s->k * bytes, (const char *)a + i * k * bytes, k * bytes);
    for (size_t j = 0; j < n; j++)
        memcpy(to->b + j * s->k * bytes, (const char *)b + j * k * bytes, k * bytes);
    return s->product(s->context, m, n, s->k, to->a, to->b, c, d, p);
}

static enum status ask_first(struct reveal_matrix *r, const struct reveal_matrix_subject *s,
                             uint64_t seed, struct problem *p)
{
    const size_t bytes = (size_t)mma_elements[s->element].bits / 8, most = matrix_most(s);
    struct prefix to = {s, calloc(s->m * s->k, bytes), calloc(s->n * s->k, bytes)};
    struct reveal_matrix_subject first = *s;
    first.k = most < REVEAL_MATRIX_FIRST ? most : REVEAL_MATRIX_FIRST;
    first.product = product_of_first;
    first.context = &to;
    first.tree_only = false; /* a plan needs the length of blocks */
    enum status status = STATUS_OK;
    if (to.a && to.b)
        status = matrix_short(r, &first, seed, false, p);
    else
        status = problem(p, STATUS_MEMORY, "no memory for a product of %zu x %zu x %zu", s->m, s->n,
                         s->k);
    r->first = first.k;
    free(to.a);
    free(to.b);
    return status;
}

/* --- where the first chain ends --- */

/* Is a unit `step` products behind product i outside the smallest node that has i and the first
 * product? It is where both are of one chain, as is `step`; else all of the chain of i is inside,
 * but for its end, where the unit is of the next one. */
static bool outside(struct matrix_asker *a, size_t i, size_t step)
{
    if (i + step >= a->of->k)
        return true;
    matrix_clear(a);
    matrix_set(a, 0, 1, a->top);
    matrix_set(a, i, -1, a->top);
    matrix_set(a, i + step, 1, a->low);
    return matrix_ask(a, NULL) != 0;
}

static bool of_first_chain(struct matrix_asker *a, size_t i, size_t step)
{
    return outside(a, i, step) && outside(a, i - step, step);
}

/* The products of the first chain, which has `least` at least: k where none that is asked for is
 * of another. */
static size_t end_of_chain(struct matrix_asker *a, size_t least, size_t step)
{
    size_t in = least, out = a->of->k;
    for (size_t at = in; at < out && out == a->of->k; at *= 2)
        if (of_first_chain(a, at, step))
            in = at;
        else
            out = at;
    while (out - in > 1) {
        size_t middle = in + (out - in) / 2;
        if (of_first_chain(a, middle, step))
            in = middle;
        else
            out = middle;
    }
    return out;
}

/* How many of the first products are of the first chain: the sums above the first product, as long
 * as each adds products to the one before. */
static enum status chain_in_first(size_t *length, const struct sum_tree *t, size_t products,
                                  struct problem *p)
{
    struct sum_tree_nodes nodes;
    enum status status = sum_tree_nodes_make(&nodes, t, p);
    if (status != STATUS_OK)
        return status;
    uint32_t end = 0;
    for (uint32_t above = nodes.parent[0]; above != SUM_TREE_NO_PARENT; above = nodes.parent[end]) {
        size_t own = 0, sums = 0;
        for (uint32_t c = t->begin[above - t->leaves]; c < t->begin[above - t->leaves + 1]; c++) {
            own += t->child[c] < products;
            sums += t->child[c] >= t->leaves;
        }
        if (own == 0 || sums > 1)
            break;
        end = above;
    }
    *length = end < t->leaves ? 1 : nodes.size[end];
    if (t->leaves > products) { /* C may be one of them */
        uint32_t above = (uint32_t)products;
        while (above != end && above != SUM_TREE_NO_PARENT)
            above = nodes.parent[above];
        *length -= end >= t->leaves && above == end;
    }
    free(nodes.parent);
    return STATUS_OK;
}

/* --- questions over all of k --- */

static size_t below(uint64_t seed, uint64_t i, size_t bound)
{
    return random_below(random_draw(seed, RANDOM_PLACING, i).word[0], bound);
}

struct question {
    size_t mask[2], unit[UNITS], units;
};

static bool add_unit(struct question *q, size_t leaf, size_t leaves)
{
    bool fresh = leaf < leaves && leaf != q->mask[0] && leaf != q->mask[1];
    for (size_t i = 0; fresh && i < q->units; i++)
        fresh = q->unit[i] != leaf;
    if (fresh)
        q->unit[q->units++] = leaf;
    return fresh;
}

/* The first mask is in the part of k that the number of the question says, so that all parts have
 * one; the second anywhere, near, at about one chain's distance, or C. Units are near the masks and
 * anywhere. */
static struct question question_of(const struct matrix_asker *a, const struct matrix_plan *plan,
                                   uint64_t seed, uint64_t number)
{
    const size_t k = a->of->k, near = 4 * (size_t)plan->rule.k + 4, most = matrix_most(a->of) / 2;
    const size_t units = most < UNITS ? most : UNITS;
    uint64_t at = number * (4 * UNITS + 8);
    struct question q = {0};
    const size_t part = k / QUESTIONS + 1;
    q.mask[0] = (number * k / QUESTIONS + below(seed, at++, part)) % k;
    switch (number % 4) {
    case 0:
        q.mask[1] = below(seed, at++, k);
        break;
    case 1:
        q.mask[1] = (q.mask[0] + 1 + below(seed, at++, near)) % k;
        break;
    case 2:
        q.mask[1] = (q.mask[0] + plan->length + below(seed, at++, near)) % k;
        break;
    case 3:
        q.mask[1] = number % 8 == 3 && a->leaves > k ? k : below(seed, at++, k);
        break;
    }
    if (q.mask[1] == q.mask[0])
        q.mask[1] = (q.mask[0] + 1) % k;
    for (size_t i = 0; i < 4 * UNITS && q.units < units; i++) {
        const size_t by = i % 3 < 2 ? q.mask[i % 3] : k;
        add_unit(&q, by < k ? by + below(seed, at + i, near) : below(seed, at + i, a->leaves),
                 a->leaves);
    }
    return q;
}

/* How many of the question's units lie in the smallest node that has both masks. */
static size_t inside(const struct question *q, const struct sum_tree_nodes *nodes)
{
    uint32_t x = (uint32_t)q->mask[0], y = (uint32_t)q->mask[1];
    size_t count = 0;
    while (x != y) {
        if (nodes->depth[x] >= nodes->depth[y])
            x = nodes->parent[x];
        else
            y = nodes->parent[y];
    }
    for (size_t i = 0; i < q->units; i++) {
        uint32_t above = (uint32_t)q->unit[i];
        while (nodes->depth[above] > nodes->depth[x])
            above = nodes->parent[above];
        count += above == x;
    }
    return count;
}

static double answer(struct matrix_asker *a, const struct question *q)
{
    matrix_clear(a);
    for (size_t i = 0; i < q->units; i++)
        matrix_set(a, q->unit[i], 1, a->low);
    matrix_set(a, q->mask[0], 1, a->top);
    matrix_set(a, q->mask[1], -1, a->top);
    return ldexp(matrix_ask(a, NULL), -a->low);
}

/* Does the plan's tree answer as the subject does, all over k? Then the tree is what is found. */
static bool answers(struct matrix_asker *a, const struct matrix_plan *plan, uint64_t seed,
                    uint64_t *reached)
{
    struct reveal_matrix *r = a->found;
    struct sum_tree t;
    struct sum_tree_nodes nodes = {0};
    a->status = matrix_tree_of(&t, plan, a->of->k, a->of->no_c, a->p);
    if (a->status != STATUS_OK)
        return false;
    a->status = sum_tree_nodes_make(&nodes, &t, a->p);
    bool same = a->status == STATUS_OK;
    for (uint64_t i = 0; same && i < QUESTIONS; i++) {
        const struct question q = question_of(a, plan, seed, i);
        const double due = (double)(q.units - inside(&q, &nodes)), left = answer(a, &q);
        if (a->status != STATUS_OK || a->broken) {
            same = false;
        } else if (left != due) {
            same = false;
            const double again = answer(a, &q);
            if (a->status != STATUS_OK || a->broken)
                break;
            if (i < *reached) /* another plan went further: that one is shown */
                break;
            *reached = i;
            r->verdict = again == left || (isnan(again) && isnan(left)) ? REVEAL_MATRIX_IRREGULAR
                                                                        : REVEAL_MATRIX_CHANGES;
            snprintf(r->words, sizeof r->words,
                     "if chains of %zu products went on over all of k, masks at %zu and %zu would "
                     "leave %g of %zu units; %g are left",
                     plan->length, q.mask[0], q.mask[1], due, q.units, left);
        }
    }
    if (same) {
        r->tree = t;
        r->sampled = QUESTIONS;
        r->verdict = REVEAL_MATRIX_TREE;
        r->words[0] = 0;
    } else {
        sum_tree_free(&t);
    }
    free(nodes.parent);
    return same;
}

/* --- all of it --- */

/* Plans to try: by the rule that the first products have, over all of k; then chains of the length
 * that is found, with C in each of its places. The longest that answers is kept. */
static bool find(struct matrix_asker *a, const struct reveal_matrix *first, uint64_t seed)
{
    static const enum matrix_c places[] = {MATRIX_C_WITH_PRODUCTS, MATRIX_C_BETWEEN, MATRIX_C_LAST};
    struct matrix_plan plan = {first->rule, a->of->k, MATRIX_C_WITH_PRODUCTS};
    uint64_t reached = 0;
    if (first->ordered && answers(a, &plan, seed, &reached)) {
        a->found->partial = 1;
        a->found->ordered = true;
        return true;
    }
    /* Chains begin anew: their rule has C, if any, as its first term. */
    plan.rule.c = MMA_C_FIRST;
    plan.rule.block = plan.rule.block ? plan.rule.block : 1;
    plan.rule.k = first->ordered && plan.rule.k ? plan.rule.k : plan.rule.block;
    plan.length = first->first;
    if (a->status == STATUS_OK && !first->ordered)
        a->status = chain_in_first(&plan.length, &first->tree, first->first, a->p);
    if (a->status == STATUS_OK && plan.length == first->first)
        plan.length = end_of_chain(a, first->first, (size_t)plan.rule.k);
    for (size_t i = 0; i < 3; i++) {
        plan.c = places[i];
        if (a->status != STATUS_OK || a->broken)
            return false;
        if (answers(a, &plan, seed, &reached)) {
            a->found->rule = plan.rule;
            a->found->partial = (a->of->k + plan.length - 1) / plan.length;
            return true;
        }
        if (a->of->no_c)
            return false;
    }
    return false;
}

enum status matrix_deep(struct reveal_matrix *r, const struct reveal_matrix_subject *s,
                        uint64_t seed, struct problem *p)
{
    struct matrix_asker a;
    struct reveal_matrix first;
    enum status status = ask_first(&first, s, seed, p);
    *r = first;
    if (status != STATUS_OK || first.verdict != REVEAL_MATRIX_TREE)
        return status;
    r->tree = (struct sum_tree){0};
    r->ordered = false;
    status = matrix_asker_make(&a, r, s, p);
    a.low = first.low;
    if (status == STATUS_OK) {
        if (find(&a, &first, seed) && !s->tree_only)
            matrix_hold(&a, seed);
        status = a.status;
    }
    matrix_asker_free(&a);
    reveal_matrix_free(&first);
    return status;
}
