#include <stdlib.h>

#include "experiments/inputs/philox.h"
#include "experiments/reveal/difference.h"

/* Each leaf weighs a random number of 64 bits; a node that weighs what another does has the same
 * leaves, but for a chance of 2^-64. */
struct weighed {
    uint64_t weight;
    uint32_t node;
};

static struct weighed *weigh(const struct sum_tree *t)
{
    size_t count = t->leaves + t->additions;
    struct weighed *node = calloc(count, sizeof *node);
    for (uint32_t i = 0; node && i < count; i++) {
        node[i].node = i;
        if (i < t->leaves) {
            node[i].weight = random_draw(0, RANDOM_MIXING, i).word[0];
            continue;
        }
        size_t k = i - t->leaves;
        for (uint32_t c = t->begin[k]; c < t->begin[k + 1]; c++)
            node[i].weight += node[t->child[c]].weight;
    }
    return node;
}

static int by_weight(const void *a, const void *b)
{
    uint64_t x = ((const struct weighed *)a)->weight, y = ((const struct weighed *)b)->weight;
    return (x > y) - (x < y);
}

/* The lowest node of t above all leaves that lie under `node` of `other`. */
static enum status lowest_above(const struct sum_tree *t, const struct sum_tree *other,
                                uint32_t node, uint32_t *found, struct problem *p)
{
    struct sum_tree_nodes nodes = {0};
    uint32_t *leaf = calloc(other->leaves, sizeof *leaf);
    enum status status = leaf ? sum_tree_nodes_make(&nodes, t, p)
                              : problem(p, STATUS_MEMORY, "reveal: out of memory for a tree");
    if (status == STATUS_OK) {
        size_t count = sum_tree_leaves(other, node, leaf);
        uint32_t top = leaf[0];
        for (size_t i = 1; i < count; i++) /* nodes above have higher numbers */
            for (uint32_t b = leaf[i]; top != b;)
                if (top < b)
                    top = nodes.parent[top];
                else
                    b = nodes.parent[b];
        *found = top;
    }
    free(nodes.parent);
    free(leaf);
    return status;
}

/* The first of `count` in x that y has not, or count. Sorts y. */
static size_t first_missing(const struct weighed *x, size_t count, struct weighed *y, size_t others)
{
    size_t i = 0;
    qsort(y, others, sizeof *y, by_weight);
    while (i < count && bsearch(&x[i], y, others, sizeof *y, by_weight))
        i++;
    return i;
}

enum status reveal_tree_difference(struct reveal_difference *d, const struct sum_tree *a,
                                   const struct sum_tree *b, struct problem *p)
{
    *d = (struct reveal_difference){.equal = sum_tree_equal(a, b)};
    if (d->equal)
        return STATUS_OK;
    size_t nodes = a->leaves + a->additions, others = b->leaves + b->additions, missing = nodes;
    struct weighed *x = weigh(a), *y = weigh(b);
    if (x && y)
        missing = first_missing(x, nodes, y, others);
    free(x);
    free(y);
    if (!x || !y)
        return problem(p, STATUS_MEMORY, "reveal: out of memory for a tree");
    if (missing < nodes) {
        d->node = (uint32_t)missing;
        return lowest_above(b, a, d->node, &d->other, p);
    }
    /* b has all nodes of a, and others. */
    enum status status = reveal_tree_difference(d, b, a, p);
    d->swapped = true;
    return status;
}
