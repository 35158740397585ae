/* Trees whose nodes all add two: to which format sums are rounded, and how. */
#include <math.h>

#include "experiments/reveal/matrix_ask.h"

/* A product below a node; the number of products where there is none. */
static size_t product_below(const struct sum_tree *t, uint32_t node, size_t products)
{
    while (node >= t->leaves) {
        const uint32_t *child = t->child + t->begin[node - t->leaves];
        node = child[0] >= products && child[0] < t->leaves ? child[1] : child[0];
    }
    return node < products ? node : products;
}

/* Products below the children of addition i but for one of them, at most two. */
static size_t products_of(const struct sum_tree *t, size_t i, uint32_t but, size_t products,
                          size_t leaf[2])
{
    size_t count = 0;
    for (uint32_t c = t->begin[i]; c < t->begin[i + 1] && count < 2; c++) {
        size_t below = t->child[c] == but ? products : product_below(t, t->child[c], products);
        if (below < products)
            leaf[count++] = below;
    }
    return count;
}

bool matrix_three(const struct matrix_asker *a, size_t leaf[3])
{
    const struct sum_tree *t = &a->found->tree;
    size_t other[2];
    for (size_t i = 0; i < t->additions; i++)
        for (uint32_t c = t->begin[i]; c < t->begin[i + 1]; c++) {
            const uint32_t inner = t->child[c];
            if (inner >= t->leaves &&
                products_of(t, inner - t->leaves, SUM_TREE_NO_PARENT, a->of->k, leaf) == 2 &&
                products_of(t, i, inner, a->of->k, other) > 0) {
                leaf[2] = leaf[1]; /* M, the later -M, and what is added to M before */
                leaf[1] = other[0];
                return true;
            }
        }
    return false;
}

void matrix_plain(struct matrix_asker *a)
{
    struct reveal_matrix *r = a->found;
    size_t leaf[3];
    int most = a->top - a->low, d = 1;
    if (!matrix_three(a, leaf))
        return;
    while (d <= most && matrix_third(a, leaf, 1, a->top - d) == ldexp(1, a->top - d))
        d++;
    r->kept = d <= most;
    r->rule.kept = d - 1;
    if (!r->kept || d + 2 > most)
        return;
    double last = ldexp(1, a->top - r->rule.kept),
           three_quarters = matrix_third(a, leaf, 1.5, a->top - d);
    r->rounding = three_quarters == last || three_quarters == 0;
    r->rule.rounding = three_quarters == 0 ? MMA_TOWARD_ZERO : MMA_NEAREST;
    for (enum format f = 0; (int)f < ACCUMULATORS; f++)
        if (format_facts[f].precision == d && r->rounding && r->rule.rounding == MMA_NEAREST)
            r->adds = f;
}
