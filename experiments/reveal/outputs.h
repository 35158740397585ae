/* The orders of all outputs at once, where each is a sum of terms of its own and all have as many:
 * the elements of an all-reduce, whose terms are the ranks' elements. Libraries cut a message, and
 * add its parts in orders of their own.
 *
 * Every output is asked the same: +M in term i, -M in term j, and units in other terms. What is
 * left of the units lies outside of the lowest node that has both (ask.h). All pairs of terms are
 * asked, twice, so that the sets of terms that nodes have are known and not inferred. */
#pragma once

#include <jansson.h>

#include "experiments/reveal/sets.h"
#include "experiments/runs/probe.h"

/* An order, and who has it. */
struct reveal_order_of {
    enum reveal_verdict verdict;
    struct sum_tree tree; /* of REVEAL_TREE: of a sum's terms, from 0 on */
    size_t first, outputs;
    bool held; /* to arrays: a tree of additions of two */
};

struct reveal_outputs {
    struct probe_spec of; /* of n elements, n / terms outputs */
    size_t terms, outputs;
    enum reveal_verdict verdict; /* REVEAL_TREE: see each order; NO_SUM, OUT_OF_REACH: there are
                                    none */
    struct reveal_window window;
    uint64_t calls;
    struct reveal_order_of *order; /* by their first output */
    size_t orders;
    uint32_t *of_output; /* the number of its order */
    struct reveal_held held;
    char words[512]; /* of the first output that no tree explains */
};

/* spec: spec->n elements, spec->bins outputs. progress: draw it on standard error, which is a
 * terminal. Fails only as the subject does, or for memory. Free
 * with reveal_outputs_free, also after failure. */
enum status reveal_outputs_make(struct reveal_outputs *r, const struct probe_spec *spec,
                                uint64_t seed, bool progress, struct problem *p);
void reveal_outputs_free(struct reveal_outputs *r);

/* STATUS_FAILED where an output has no tree that explains it. */
enum status reveal_outputs_status(const struct reveal_outputs *r, struct problem *p);

/* Two subjects, output by output: an order shows where it is a tree that was held to arrays. */
struct reveal_outputs_beside {
    size_t equal, different, not_shown;
    size_t first; /* that differs */
};
/* As many outputs and terms in both. */
void reveal_outputs_compare(struct reveal_outputs_beside *b, const struct reveal_outputs *x,
                            const struct reveal_outputs *y);

enum status reveal_outputs_print(const struct reveal_outputs *r, struct problem *p);
json_t *reveal_outputs_json(const struct reveal_outputs *r);
