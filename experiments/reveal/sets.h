/* The tree of a sum, by the leaves of the lowest node of each pair of leaves. Sets are words: bit i
 * is leaf i. */
#pragma once

#include "experiments/reveal/reveal.h"

/* Leaves that a sum may have. */
enum { REVEAL_TERMS_MOST = 64 };

static inline size_t reveal_pairs(size_t terms)
{
    return terms * (terms - 1) / 2;
}

static inline uint64_t reveal_all_terms(size_t terms)
{
    return terms == 64 ? UINT64_MAX : (UINT64_C(1) << terms) - 1;
}

/* set[]: of the pairs 0 1, 0 2, ..., 1 2, ...; 0 where there is none. REVEAL_EXACT: each pair has a
 * node of its own; REVEAL_CONTRADICTION: no tree has these; REVEAL_TREE: *t, to be freed with
 * sum_tree_free. Fails for memory alone. */
enum status reveal_tree_of_sets(struct sum_tree *t, enum reveal_verdict *verdict,
                                const uint64_t *set, size_t terms, struct problem *p);
