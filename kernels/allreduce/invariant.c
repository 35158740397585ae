/* All-reduces whose bits depend neither on the order nor on the number of ranks that share the
 * addends, nor on where an element stands in the message.
 *
 * allreduce/exact     the exact sum over the ranks, rounded once to the accumulator
 * allreduce/binned    that of sum/binned: bins at fixed places, whose sums are exact, K = 3 folds
 *
 * Order: none. */
#include "kernels/allreduce/allreduce.h"
#include "kernels/blocks/binned_state.h"
#include "reference/exact/rounded.h"

static double exactly(const struct array *x, enum format f)
{
    return rounded_sum(x, f, 1);
}

static enum status exact_cpu(const struct task *t, struct problem *p)
{
    return allreduce_each(t, exactly, p);
}

enum { FOLDS = 3 };

static double in_bins(const struct array *x, enum format f)
{
    struct binned_state s;
    binned_state_init(&s, x->format, f, FOLDS, NULL);
    binned_state_add(&s, x, 0, x->n);
    return binned_state_finish(&s);
}

static enum status binned_cpu(const struct task *t, struct problem *p)
{
    return allreduce_each(t, in_bins, p);
}

const struct method allreduce_exact = {
    .name = "allreduce/exact",
    .summary = "the exact sum over the ranks, rounded once",
    .operation = &operation_allreduce,
    .promise = PROMISE_CORRECTLY_ROUNDED,
    .beside = 1u << PROMISE_RANK_INVARIANT,
    .pairs = {FORMAT_PAIRS_ALL},
    .addition = ADDITION_EXACT,
    .bound = THEOREM_CORRECTLY_ROUNDED,
    .cpu = exact_cpu,
};

const struct method allreduce_binned = {
    .name = "allreduce/binned",
    .summary = "elements cut into bins with exact sums: any order and number of ranks",
    .operation = &operation_allreduce,
    .promise = PROMISE_ORDER_INVARIANT,
    .beside = 1u << PROMISE_RANK_INVARIANT,
    .pairs = {FORMAT_PAIRS_ALL},
    .addition = ADDITION_BINS,
    .bound = THEOREM_BINNED,
    .folds = FOLDS,
    .cpu = binned_cpu,
};
