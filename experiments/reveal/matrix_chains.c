#include "experiments/reveal/matrix_chains.h"

#include <stdlib.h>

static const char *const c_words[] = {
    [MATRIX_C_NONE] = "the subject takes none",
    [MATRIX_C_WITH_PRODUCTS] = "a term of the first sum",
    [MATRIX_C_LAST] = "added last, to the sum of all products",
    [MATRIX_C_BETWEEN] = "added to a sum of products, before others",
};
const char *const matrix_join_words[] = {
    [MATRIX_JOIN_NONE] = "none",
    [MATRIX_JOIN_ORDER] = "in order",
    [MATRIX_JOIN_PAIRS] = "in pairs",
    [MATRIX_JOIN_OTHER] = "in another tree",
};

const char *matrix_c_words(enum matrix_c c, bool left_out)
{
    return c == MATRIX_C_NONE && left_out ? "left out by the shape (c=0)" : c_words[c];
}

struct walk {
    const struct sum_tree *t;
    const struct sum_tree_nodes *nodes;
    size_t products;
    uint32_t *leaf; /* room for all */
};

/* How many children are products, and how many are sums. */
static void children_of(const struct walk *w, uint32_t node, size_t *products, size_t *sums)
{
    const struct sum_tree *t = w->t;
    *products = *sums = 0;
    for (uint32_t c = t->begin[node - t->leaves]; c < t->begin[node - t->leaves + 1]; c++) {
        *products += t->child[c] < w->products;
        *sums += t->child[c] >= t->leaves;
    }
}

/* The last sum of the chain that starts at this node: each sum adds products to the one before. */
static uint32_t end_of(const struct walk *w, uint32_t node)
{
    size_t products, sums;
    for (uint32_t above = w->nodes->parent[node]; above != SUM_TREE_NO_PARENT;
         above = w->nodes->parent[node]) {
        children_of(w, above, &products, &sums);
        if (products == 0 || sums > 1)
            break;
        node = above;
    }
    return node;
}

/* Above a sum, over additions of C alone. */
static uint32_t over_c(const struct walk *w, uint32_t node)
{
    size_t products, sums;
    uint32_t above = w->nodes->parent[node];
    while (above != SUM_TREE_NO_PARENT) {
        children_of(w, above, &products, &sums);
        if (products > 0 || sums > 1)
            break;
        above = w->nodes->parent[above];
    }
    return above;
}

static void tell_chain(const struct walk *w, struct matrix_chains *c, uint32_t end)
{
    size_t count = sum_tree_leaves(w->t, end, w->leaf);
    count -= w->leaf[count - 1] >= w->products; /* C */
    size_t stride = count > 1 ? w->leaf[1] - w->leaf[0] : 0;
    for (size_t i = 1; i < count; i++) {
        const uint32_t *at = w->leaf + i, *depth = w->nodes->depth;
        stride = *at - at[-1] == stride ? stride : 0;
        c->forward &= depth[*at] <= depth[at[-1]];
        c->backwards &= depth[*at] >= depth[at[-1]];
    }
    c->length = c->count == 0 || c->length == count ? count : 0;
    c->stride = c->count == 0 || c->stride == stride ? stride : 0;
    c->count++;
}

/* Sums are joined in order where each next chain, by its least product, joins all before it. */
static enum matrix_join join_of(const struct walk *w, const uint32_t *end, size_t count)
{
    bool order = count > 1, pairs = count > 1;
    uint32_t sum = count ? end[0] : 0;
    for (size_t i = 1; i < count; i++) {
        uint32_t above = over_c(w, sum);
        order &= above != SUM_TREE_NO_PARENT && over_c(w, end[i]) == above;
        sum = order ? above : sum;
        pairs &= w->nodes->depth[end[i]] == w->nodes->depth[end[0]];
    }
    return count < 2 ? MATRIX_JOIN_NONE
           : order   ? MATRIX_JOIN_ORDER
           : pairs   ? MATRIX_JOIN_PAIRS
                     : MATRIX_JOIN_OTHER;
}

static enum matrix_c place_of_c(const struct walk *w)
{
    const uint32_t root = (uint32_t)(w->t->leaves + w->t->additions - 1);
    size_t products, sums;
    if (w->t->leaves == w->products)
        return MATRIX_C_NONE;
    uint32_t above = w->nodes->parent[w->products];
    children_of(w, above, &products, &sums);
    return products > 0 && sums == 0    ? MATRIX_C_WITH_PRODUCTS
           : above == root && !products ? MATRIX_C_LAST
                                        : MATRIX_C_BETWEEN;
}

static int by_least(const void *x, const void *y)
{
    const uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
    return a < b ? -1 : a > b;
}

static void walk(const struct walk *w, struct matrix_chains *c, uint64_t *key, uint32_t *end)
{
    const struct sum_tree *t = w->t;
    size_t count = 0, products, sums;
    *c = (struct matrix_chains){.forward = true, .backwards = true};
    for (size_t i = 0; i < t->additions; i++) {
        uint32_t node = (uint32_t)(t->leaves + i);
        children_of(w, node, &products, &sums);
        c->as_many = products > c->most ? 1 : c->as_many + (products == c->most);
        c->most = products > c->most ? products : c->most;
        if (products > 0 && sums == 0) {
            uint32_t last = end_of(w, node);
            key[count++] = (uint64_t)w->nodes->least[last] << 32 | last;
        }
    }
    qsort(key, count, sizeof *key, by_least);
    for (size_t i = 0; i < count; i++) {
        end[i] = (uint32_t)key[i];
        tell_chain(w, c, end[i]);
    }
    c->join = join_of(w, end, count);
    c->c = place_of_c(w);
}

enum status matrix_chains_of(struct matrix_chains *c, const struct sum_tree *t, size_t products,
                             struct problem *p)
{
    struct sum_tree_nodes nodes;
    *c = (struct matrix_chains){0};
    enum status status = sum_tree_nodes_make(&nodes, t, p);
    if (status != STATUS_OK)
        return status;
    uint64_t *key = malloc((t->additions + 1) * sizeof *key);
    uint32_t *end = malloc((t->additions + 1) * sizeof *end),
             *leaf = malloc((t->leaves + 1) * sizeof *leaf);
    if (key && end && leaf)
        walk(&(struct walk){t, &nodes, products, leaf}, c, key, end);
    else
        status = problem(p, STATUS_MEMORY, "reveal: no memory for a tree of %zu leaves", t->leaves);
    free(key);
    free(end);
    free(leaf);
    free(nodes.parent);
    return status;
}

void matrix_chains_print(FILE *to, const struct matrix_chains *c, bool plain, bool c_left_out)
{
    fprintf(to, "order: ");
    if (c->count > 1)
        fprintf(to, "%zu separate chains, ", c->count);
    if (c->count > 1 && c->length && c->stride == 1)
        fprintf(to, "each of %zu consecutive products", c->length);
    else if (c->count > 1 && c->stride > 1)
        fprintf(to, "each of every %zuth product", c->stride);
    else if (c->count > 1)
        fprintf(to, "of no regular parts of k");
    else
        fprintf(to, "one chain of products");
    fprintf(to, "%s%s\n", plain ? ", one after the other" : "",
            c->forward     ? ", in order of k"
            : c->backwards ? ", the last first"
                           : ", in no order of k");
    if (c->count > 1)
        fprintf(to, "sums of chains: added %s\n", matrix_join_words[c->join]);
    if (!plain)
        fprintf(to, "K: %s%zu products of a fused sum\n", c->as_many > 1 ? "" : "at least ",
                c->most);
    fprintf(to, "C: %s\n", matrix_c_words(c->c, c_left_out));
}
