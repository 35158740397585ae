/* From the tree of a matrix product to the rule of its blocks, and what shows of their arithmetic.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/inputs/philox.h"
#include "experiments/reveal/matrix_ask.h"

/* A tree being made from its leaves up: the parents of all nodes. */
struct up {
    uint32_t *of;
    size_t nodes;
};

static uint32_t joined(struct up *up, uint32_t one, uint32_t other)
{
    if (one == SUM_TREE_NO_PARENT || other == SUM_TREE_NO_PARENT)
        return one == SUM_TREE_NO_PARENT ? other : one;
    up->of[one] = up->of[other] = (uint32_t)up->nodes;
    return (uint32_t)up->nodes++;
}

/* The sum of products begin .. end-1 by a rule; SUM_TREE_NO_PARENT: no sum is before it. */
static uint32_t run_of(struct up *up, const struct mma_rule *r, size_t begin, size_t end,
                       uint32_t sum)
{
    const size_t whole = (size_t)r->k, size = (size_t)r->block;
    for (size_t first = begin; first < end; first += whole) {
        uint32_t chain = r->c == MMA_C_FIRST ? sum : SUM_TREE_NO_PARENT;
        for (size_t j = 0; j < whole / size; j++) {
            size_t count = 0;
            uint32_t only = SUM_TREE_NO_PARENT, here = (uint32_t)up->nodes;
            for (size_t i = 0; i < whole && first + i < end; i++) {
                size_t block = r->order == MMA_PAIRS     ? i % 4 / 2
                               : r->order == MMA_FORWARD ? i / size
                                                         : whole / size - 1 - i / size;
                if (block == j) {
                    only = (uint32_t)(first + i);
                    up->of[only] = here;
                    count++;
                }
            }
            if (count == 0)
                continue;
            if (chain == SUM_TREE_NO_PARENT && count == 1) { /* a sum of one is no node */
                up->of[only] = SUM_TREE_NO_PARENT;
                chain = only;
                continue;
            }
            if (chain != SUM_TREE_NO_PARENT)
                up->of[chain] = here;
            chain = here;
            up->nodes++;
        }
        sum = r->c == MMA_C_LAST ? joined(up, sum, chain) : chain;
    }
    return sum;
}

enum status matrix_tree_of(struct sum_tree *t, const struct matrix_plan *plan, size_t k, bool no_c,
                           struct problem *p)
{
    const size_t leaves = k + !no_c, most = 2 * leaves + 4;
    uint32_t *of = malloc(2 * most * sizeof *of), *parent = of + most;
    const uint32_t c = no_c ? SUM_TREE_NO_PARENT : (uint32_t)k;
    struct up up = {of, leaves};
    if (!of)
        return problem(p, STATUS_MEMORY, "no memory for a tree of %zu leaves", leaves);
    for (size_t i = 0; i < most; i++)
        of[i] = SUM_TREE_NO_PARENT;
    uint32_t sum = plan->c == MATRIX_C_BETWEEN ? c : SUM_TREE_NO_PARENT;
    for (size_t begin = 0; begin < k;) {
        const size_t end = plan->length < k - begin ? begin + plan->length : k;
        const bool first = begin == 0 && plan->c == MATRIX_C_WITH_PRODUCTS;
        sum =
            joined(&up, sum, run_of(&up, &plan->rule, begin, end, first ? c : SUM_TREE_NO_PARENT));
        begin = end;
    }
    if (plan->c == MATRIX_C_LAST)
        joined(&up, sum, c);
    /* Nodes were made from the leaves up; the tree wants the root first. */
    for (size_t i = 0; i < up.nodes; i++)
        parent[i < leaves ? i : up.nodes - 1 - (i - leaves)] =
            of[i] == SUM_TREE_NO_PARENT ? of[i] : (uint32_t)(up.nodes - 1 - (of[i] - leaves));
    enum status status = sum_tree_make(t, leaves, up.nodes, parent, p);
    free(of);
    return status;
}

/* Chains: nodes that have leaves, but no node, below them. */
static size_t chains(const struct sum_tree *t)
{
    size_t count = 0;
    for (size_t i = 0; i < t->additions; i++) {
        bool inner = true;
        for (uint32_t c = t->begin[i]; c < t->begin[i + 1]; c++)
            inner &= t->child[c] < t->leaves;
        count += inner;
    }
    return count;
}

/* Is the tree that of the rule? */
static bool fits(struct matrix_asker *a, const struct mma_rule *r)
{
    struct sum_tree t;
    bool same = false;
    if (a->status == STATUS_OK)
        a->status = matrix_tree_of(&t, &(struct matrix_plan){*r, a->of->k, MATRIX_C_WITH_PRODUCTS},
                                   a->of->k, a->of->no_c, a->p);
    if (a->status == STATUS_OK) {
        same = sum_tree_equal(&t, &a->found->tree);
        sum_tree_free(&t);
    }
    return same;
}

/* The most products that one node adds itself. */
static size_t most_at_once(const struct matrix_asker *a)
{
    const struct sum_tree *t = &a->found->tree;
    size_t most = 0;
    for (size_t i = 0; i < t->additions; i++) {
        size_t own = 0;
        for (uint32_t c = t->begin[i]; c < t->begin[i + 1]; c++)
            own += t->child[c] < a->of->k;
        most = own > most ? own : most;
    }
    return most;
}

bool matrix_order(struct matrix_asker *a)
{
    static const enum mma_order orders[] = {MMA_FORWARD, MMA_PAIRS, MMA_BACKWARDS};
    struct reveal_matrix *r = a->found;
    struct mma_rule *rule = &r->rule;
    r->partial = chains(&r->tree);
    for (size_t o = 0; o < 3; o++)
        for (int last = 0; last < 2; last++)
            for (int block = 1; block <= MMA_BLOCK; block++)
                for (int times = 1; times * block <= MMA_BLOCK; times++) {
                    struct mma_rule try = *rule;
                    try.order = orders[o];
                    try.c = last ? MMA_C_LAST : MMA_C_FIRST;
                    try.block = block;
                    try.k = times * block;
                    if (try.order == MMA_PAIRS ? times != 2
                                               : try.order == MMA_BACKWARDS && times < 2)
                        continue;
                    if (try.order == MMA_FORWARD && !last && times > 1)
                        continue; /* as of once */
                    if (fits(a, &try)) {
                        *rule = try;
                        r->ordered = true;
                        r->block = a->of->k > (size_t)try.block;
                        return true;
                    }
                }
    if (most_at_once(a) > MMA_BLOCK)
        snprintf(r->words, sizeof r->words,
                 "fused sums of more than %d products: no rule here has as many to hold them to",
                 MMA_BLOCK);
    else
        snprintf(r->words, sizeof r->words,
                 "no chain of blocks of one size gives this tree; %zu partial sums begin apart",
                 r->partial);
    return false;
}

/* Leaves of the last node that has four products as its own, or else the most: where terms are
 * asked for. *cut: its result is a term of another fused sum, which cuts it as it does others;
 * *behind: a product of the last of these. */
static size_t terms_of(const struct matrix_asker *a, size_t leaf[4], bool *cut, size_t *behind)
{
    const struct sum_tree *t = &a->found->tree;
    size_t best = 0;
    bool fused = a->prefix;
    for (size_t i = t->additions; i-- > 0 && best < 4;) {
        size_t count = 0, own[4];
        for (uint32_t c = t->begin[i]; c < t->begin[i + 1] && count < 4; c++)
            if (t->child[c] < a->of->k)
                own[count++] = t->child[c];
        if (count > best) {
            memcpy(leaf, own, sizeof own);
            best = count;
            *cut = fused;
        }
        if (count > 0 && !fused)
            *behind = own[0];
        fused |= count > 0;
    }
    return best;
}

double matrix_third(struct matrix_asker *a, const size_t leaf[3], double value, int e)
{
    matrix_clear(a);
    matrix_set(a, leaf[0], 1, a->top);
    matrix_set(a, leaf[1], -1, a->top);
    matrix_set(a, leaf[2], value, e);
    return matrix_ask(a, NULL);
}

static void alignment(struct matrix_asker *a, const size_t leaf[4])
{
    struct reveal_matrix *r = a->found;
    int most = a->top - a->low, d = 1;
    while (d <= most && matrix_third(a, leaf, 1, a->top - d) == ldexp(1, a->top - d))
        d++;
    r->rule.fraction = d - 1;
    r->fraction = d <= most;
    if (d + 1 > most)
        return;
    int grid = a->top - r->rule.fraction;
    double unit = ldexp(1, grid), more = matrix_third(a, leaf, 1.5, grid - 1),
           less = matrix_third(a, leaf, -1.5, grid - 1);
    double tiny = matrix_third(a, leaf, 1, grid - 2);
    r->alignment = true;
    if (more == 0 && less == 0 && tiny == 0)
        r->rule.alignment = MMA_TRUNCATE;
    else if (more == unit && less == -unit && tiny == 0)
        r->rule.alignment = MMA_ROUND_TERMS;
    else {
        r->alignment = false;
        snprintf(r->words, sizeof r->words,
                 "what is cut off terms leaves %g and %g of +-0.75 and %g of 0.25 of the last bit",
                 more / unit, less / unit, tiny / unit);
    }
}

/* The last bits of a sum, whose terms' bits reach farther. */
static void rounding(struct matrix_asker *a, const size_t leaf[4], size_t terms)
{
    struct reveal_matrix *r = a->found;
    const int fraction = format_facts[r->rule.result].precision - 1;
    int base = a->top < 10 ? a->top : 10, q = 1, room = base - a->low;
    for (; q <= room; q++) {
        matrix_clear(a);
        matrix_set(a, leaf[0], 1, base);
        matrix_set(a, leaf[1], 1, base - q);
        if (matrix_ask(a, NULL) != ldexp(1, base) + ldexp(1, base - q))
            break;
    }
    r->rule.kept = q - 1;
    r->kept = q <= room;
    if (r->rule.kept < r->rule.fraction && r->kept && terms > 2) { /* a tie, above an odd number */
        double ulp = ldexp(1, base - r->rule.kept), one = ldexp(1, base);
        matrix_clear(a);
        matrix_set(a, leaf[0], 1, base);
        matrix_set(a, leaf[1], 1, base - r->rule.kept);
        matrix_set(a, leaf[2], 1, base - r->rule.kept - 1);
        double d = matrix_ask(a, NULL);
        r->rounding = d == one + ulp || d == one + 2 * ulp;
        r->rule.rounding = d == one + ulp ? MMA_TOWARD_ZERO : MMA_NEAREST;
        return;
    }
    if (!r->fraction || terms < 4)
        return;
    /* F bits are all that is there, unless terms carry: 3 (7/4)^2 = 147/16 takes three bits more.
     */
    double sum = 147.0 / 16;
    int scale = base - 4, f = r->rule.fraction, t = 0;
    for (; t < 4; t++) {
        matrix_clear(a);
        for (int i = 0; i < 3; i++) {
            matrix_set(a, leaf[i], 1.75, scale);
            a->y[leaf[i]] *= 1.75;
        }
        matrix_set(a, leaf[3], 1, scale - f + t);
        if (matrix_ask(a, NULL) == ldexp(sum, scale) + ldexp(1, scale - f + t))
            break;
    }
    r->rule.kept = f + 3 - t;
    r->kept = t > 0;
    if (t == 0 && r->rule.kept < fraction)
        r->rule.kept = fraction; /* all that is seen */
    if (t == 0)
        return;
    matrix_clear(a);
    for (int i = 0; i < 3; i++) {
        matrix_set(a, leaf[i], 1.75, scale);
        a->y[leaf[i]] *= 1.75;
    }
    matrix_set(a, leaf[3], 1.5, scale - f + t); /* a tie, above an odd number */
    double more = ldexp(matrix_ask(a, NULL) - ldexp(sum, scale), f - t - scale);
    r->rounding = more == 1 || more == 2;
    r->rule.rounding = more == 1 ? MMA_TOWARD_ZERO : MMA_NEAREST;
}

/* 0 times the largest power, beside a small term: does it push that out? */
static void zeros(struct matrix_asker *a, const size_t leaf[4])
{
    const struct mma_element_facts *facts = &mma_elements[a->of->element];
    int e = facts->emin + facts->emax - a->found->rule.fraction - 2;
    if (!a->found->fraction || e < a->low)
        return;
    matrix_clear(a);
    a->y[leaf[0]] = ldexp(1, facts->emax);
    matrix_set(a, leaf[1], 1, e);
    double d = matrix_ask(a, NULL);
    a->found->zeros = d == 0 || d == ldexp(1, e);
    a->found->rule.zeros = d == 0;
}

/* A result of no more than F bits may be one that the next fused sum cut. The last of these has a
 * bit more where it carries: of 2 + 3 2^-F, F bits are 2 + 2 2^-F or, to nearest, 2 + 4 2^-F. */
static void rounding_of_last(struct matrix_asker *a, const size_t leaf[4], size_t behind)
{
    struct reveal_matrix *r = a->found;
    const int base = a->top < 10 ? a->top : 10, low = base - r->rule.fraction;
    r->kept = r->rule.kept == format_facts[r->rule.result].precision - 1;
    r->rounding = false;
    if (a->prefix || behind == leaf[0] || low < a->low)
        return;
    matrix_clear(a);
    matrix_set(a, leaf[0], 1, base);
    matrix_set(a, leaf[1], 1, low + 1);
    matrix_set(a, leaf[2], 1, low);
    matrix_set(a, behind, 1, base);
    const double more = ldexp(matrix_ask(a, NULL) - ldexp(2, base), -low);
    if (more == 2 || more == 4) {
        r->kept = r->rounding = true;
        r->rule.rounding = more == 2 ? MMA_TOWARD_ZERO : MMA_NEAREST;
    }
}

void matrix_arithmetic(struct matrix_asker *a)
{
    struct reveal_matrix *r = a->found;
    bool cut = false;
    size_t leaf[4] = {0}, behind = 0, terms = terms_of(a, leaf, &cut, &behind);
    r->plain = true;
    for (size_t i = 0; i < r->tree.additions; i++)
        r->plain &= r->tree.begin[i + 1] - r->tree.begin[i] == 2;
    if (r->plain)
        matrix_plain(a);
    if (terms >= 3) {
        alignment(a, leaf);
        rounding(a, leaf, terms);
        if (r->fraction && r->rule.kept == r->rule.fraction && (cut || !r->rounding))
            rounding_of_last(a, leaf, behind);
        zeros(a, leaf);
    } else if (r->rule.block == 1) {
        r->rule.fraction = MMA_EXACT; /* additions of two */
    }
}
