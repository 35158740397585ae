/* Does the order depend on the data? What sorts its terms, or adds negative ones apart, answers
 * masks as another order would, or as sums of many terms at once: so sums of three terms are asked
 * for, whose exact sum, rounded once, is none of the results of two additions. */
#include <math.h>
#include <stdlib.h>

#include "experiments/reveal/hold.h"
#include "experiments/reveal/matrix_ask.h"

/* The smallest node that has both leaves. */
static uint32_t meeting(const struct sum_tree_nodes *nodes, uint32_t i, uint32_t j)
{
    while (i != j)
        if (nodes->depth[i] >= nodes->depth[j])
            i = nodes->parent[i];
        else
            j = nodes->parent[j];
    return i;
}

/* Which of the three results is that of the tree; 3: of none, as all three meet at once. */
static size_t by_tree(const struct sum_tree_nodes *nodes, const uint32_t leaf[3])
{
    for (size_t k = 0; k < 3 && nodes->parent; k++) {
        const uint32_t two = meeting(nodes, leaf[k], leaf[(k + 1) % 3]),
                       all = meeting(nodes, two, leaf[(k + 2) % 3]);
        if (two != all)
            return k;
    }
    return 3;
}

/* Asks for the sum of the terms whose bit is set in `which`; all other products are zero. */
static double sum_of(struct matrix_asker *a, const struct reveal_three *q, unsigned which)
{
    matrix_clear(a);
    for (size_t k = 0; k < 3; k++)
        if (which >> k & 1)
            matrix_set(a, q->leaf[k], q->x[k], 0);
    return matrix_ask(a, NULL);
}

/* How many sums of three were asked for, where all of them are those of two additions, and some not
 * those of the tree; else 0. What drops the smallest of three gives such results too: so each term
 * is asked for alone. */
static size_t in_pairs(struct matrix_asker *a, const struct reveal_subject *as,
                       const struct sum_tree_nodes *nodes, uint64_t seed)
{
    size_t threes = 0, beside = 0;
    for (uint64_t i = 0; i < REVEAL_THREES && a->status == STATUS_OK && !a->broken; i++) {
        struct reveal_three q;
        if (!reveal_three(&q, as, &a->found->tree, seed + i))
            continue;
        const double sum = sum_of(a, &q, 7);
        const size_t tree = by_tree(nodes, q.leaf);
        bool inside = reveal_same(sum, q.result[0]) || reveal_same(sum, q.result[1]) ||
                      reveal_same(sum, q.result[2]);
        for (size_t k = 0; k < 3 && inside; k++)
            inside = sum_of(a, &q, 1U << k) == q.x[k];
        if (!inside)
            return 0;
        threes++;
        beside += tree == 3 || !reveal_same(sum, q.result[tree]);
    }
    return beside > 0 && a->status == STATUS_OK && !a->broken ? threes : 0;
}

/* Do masks show what additions of two in a format do to terms? Fused sums that cut them may give
 * all sums of three that such additions give. */
static bool rounds_as(const struct reveal_matrix *r, enum format f)
{
    if (r->tree.additions == 0)
        return true;
    if (r->plain)
        return r->adds == f;
    return r->fraction && r->alignment && r->rule.alignment == MMA_ROUND_TERMS &&
           r->rule.fraction == format_facts[f].precision - 1;
}

void matrix_threes(struct matrix_asker *a, uint64_t seed)
{
    struct reveal_matrix *r = a->found;
    const enum format f = r->plain && (int)r->adds < ACCUMULATORS ? r->adds : a->of->result;
    const struct reveal_subject as = {.in.format = mma_elements[a->of->element].stored,
                                      .leaves = a->leaves,
                                      .accumulator = f,
                                      .output = a->of->result};
    struct sum_tree_nodes nodes = {0};
    /* Numbers are drawn with all bits of their format; and where masks cannot swallow a unit in
     * this format, that they do not says nothing. */
    if ((a->of->element == MMA_TF32 && r->reads != REVEAL_READS_ALL) ||
        a->top - a->low <= format_facts[f].precision + 1 || !rounds_as(r, f))
        return;
    if (r->tree.additions > 0)
        a->status = sum_tree_nodes_make(&nodes, &r->tree, a->p);
    const size_t threes = a->status == STATUS_OK ? in_pairs(a, &as, &nodes, seed) : 0;
    free(nodes.parent);
    if (threes < REVEAL_THREES / 2)
        return;
    snprintf(r->words, sizeof r->words,
             "%s, but all %zu sums of three terms are of two additions in %s%s",
             r->tree.additions == 0 ? "masks swallow nothing"
             : r->plain             ? "masks show one tree"
                                    : "masks show terms added at once",
             threes, format_facts[f].name,
             r->tree.additions > 0 && r->plain ? ", not all along it" : "");
    r->verdict = REVEAL_MATRIX_DATA;
    sum_tree_free(&r->tree);
    r->tree = (struct sum_tree){0};
}
