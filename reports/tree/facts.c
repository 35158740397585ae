#include <stdlib.h>

#include "reports/tree/text.h"

struct depths {
    uint32_t least, most;
    double mean;
};

static struct depths depths_of(const struct reveal_nodes *nodes, size_t leaves)
{
    struct depths d = {UINT32_MAX, 0, 0};
    for (size_t i = 0; i < leaves; i++) {
        uint32_t depth = nodes->depth[i];
        d.least = depth < d.least ? depth : d.least;
        d.most = depth > d.most ? depth : d.most;
        d.mean += (double)depth / (double)leaves;
    }
    return d;
}

enum status reveal_tree_facts(FILE *to, const struct reveal_tree *t, struct problem *p)
{
    struct reveal_nodes nodes;
    size_t two = 0, most = 2;
    enum status status = reveal_nodes_make(&nodes, t, p);
    if (status != STATUS_OK)
        return status;
    for (size_t k = 0; k < t->additions; k++) {
        size_t children = t->begin[k + 1] - t->begin[k];
        two += children == 2;
        most = children > most ? children : most;
    }
    struct depths d = depths_of(&nodes, t->leaves);
    fprintf(to, "%zu addition%s of two", two, two == 1 ? "" : "s");
    if (two < t->additions)
        fprintf(to, ", %zu of more at once (up to %zu)", t->additions - two, most);
    if (d.least == d.most)
        fprintf(to, "; every element passes through %u\n", d.most);
    else
        fprintf(to, "; an element passes through %u to %u of them, %.4g on average\n", d.least,
                d.most, d.mean);
    free(nodes.parent);
    return STATUS_OK;
}
