#include "experiments/reveal/sets.h"

static bool contains(uint64_t set, uint64_t other)
{
    return (set & other) == other;
}

/* The distinct sets of a tree's nodes, the largest first; 0: they are no tree's. */
static size_t nodes_of(uint64_t node[REVEAL_TERMS_MOST], const uint64_t *set, size_t terms)
{
    size_t count = 0, pair = 0;
    for (pair = 0; pair < reveal_pairs(terms); pair++) {
        size_t k = 0;
        while (k < count && node[k] != set[pair])
            k++;
        if (k == count && count == terms - 1)
            return 0;
        if (k == count)
            node[count++] = set[pair];
    }
    for (size_t i = 0; i < count; i++) /* insertion */
        for (size_t k = i;
             k > 0 && __builtin_popcountll(node[k]) > __builtin_popcountll(node[k - 1]); k--) {
            uint64_t other = node[k];
            node[k] = node[k - 1];
            node[k - 1] = other;
        }
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < i; k++)
            if ((node[i] & node[k]) != 0 && !contains(node[k], node[i]))
                return 0;
    pair = 0;
    for (size_t i = 0; i < terms; i++)
        for (size_t j = i + 1; j < terms; j++, pair++) {
            uint64_t both = UINT64_C(1) << i | UINT64_C(1) << j;
            if (!contains(set[pair], both))
                return 0;
            for (size_t k = 0; k < count; k++)
                if (contains(node[k], both) && !contains(node[k], set[pair]))
                    return 0;
        }
    return node[0] == reveal_all_terms(terms) ? count : 0;
}

/* Did each pair leave all others? */
static bool keeps_all(const uint64_t *set, size_t terms)
{
    size_t pair = 0;
    for (size_t i = 0; i < terms; i++)
        for (size_t j = i + 1; j < terms; j++, pair++)
            if (set[pair] != (UINT64_C(1) << i | UINT64_C(1) << j))
                return false;
    return terms > 2;
}

enum status reveal_tree_of_sets(struct sum_tree *t, enum reveal_verdict *verdict,
                                const uint64_t *set, size_t terms, struct problem *p)
{
    uint64_t node[REVEAL_TERMS_MOST];
    uint32_t parent[2 * REVEAL_TERMS_MOST];
    size_t count = nodes_of(node, set, terms);
    *t = (struct sum_tree){0};
    *verdict = keeps_all(set, terms) ? REVEAL_EXACT
               : count == 0          ? REVEAL_CONTRADICTION
                                     : REVEAL_TREE;
    if (*verdict != REVEAL_TREE)
        return STATUS_OK;
    for (size_t k = 0; k < terms + count; k++) {
        uint64_t own = k < terms ? UINT64_C(1) << k : node[k - terms];
        parent[k] = SUM_TREE_NO_PARENT;
        for (size_t m = 0; m < count; m++)
            if (node[m] != own && contains(node[m], own))
                parent[k] = (uint32_t)(terms + m); /* the smallest is the last */
    }
    return sum_tree_make(t, terms, terms + count, parent, p);
}
