/* sum/binned, sum/binned2, sum/binned4: a sum that does not depend on the order of its elements,
 * nor on how they are split among threads, launches and devices.
 *
 * There is no order of additions: the elements are cut into bins of fixed places, whose sums are
 * exact (kernels/blocks/binned.h says what is computed, and names the sources). K = 3 folds in
 * sum/binned, 2 in sum/binned2, 4 in sum/binned4: parts of an element beyond K times the
 * accumulator's digits below the largest element are left out, which loses at most 2^-Kp max|x| of
 * each; all else is exact, and the sum is rounded once. So it is in error by at most u |S| + (1+u)
 * (n-1) 2^-Kp max|x|.
 *
 * What they return:
 *     NaN                with any NaN, or infinities of both signs
 *     an infinity        with infinities of one sign, or where the sum rounds to one
 *     the element        rounded once to the accumulator, for n = 1
 *     -0                 where all elements are -0, and there are some
 *     +0                 for n = 0, other zeros only, and where what is kept cancels
 *     the sum otherwise, at every magnitude from the smallest subnormal number to the largest
 *     finite: subnormal elements and results are exact, and nothing overflows on the way, not even
 *     elements beyond the accumulator's range. */
#include "kernels/sum/binned.h"

#include <stdlib.h>

#include "kernels/blocks/binned_state.h"
#include "kernels/method/method.h"
#include "kernels/method/team.h"

enum { SHARE = 2048 }; /* elements worth a thread */

struct work {
    const struct array *in;
    size_t threads;
    struct binned_state *state; /* of each thread's share */
};

static void add_share(void *context, unsigned thread)
{
    const struct work *w = context;
    size_t n = w->in->n, share = n / w->threads, longer = n % w->threads;
    size_t first = share * thread + (thread < longer ? thread : longer);
    struct binned_state s = w->state[thread];
    binned_state_add(&s, w->in, first, share + (thread < longer));
    w->state[thread] = s;
}

static enum status sum_in_bins(const struct task *t, unsigned folds, struct problem *p)
{
    size_t threads = t->shape.threads;
    struct binned_state *state = malloc(threads * sizeof *state);
    if (!state)
        return problem(p, STATUS_MEMORY, "device cpu: no memory for %zu states", threads);
    for (size_t i = 0; i < threads; i++)
        binned_state_init(&state[i], t->of->in.format, t->out.format, folds, NULL);
    enum status status =
        team_run(t->shape.threads, add_share, &(struct work){&t->of->in, threads, state}, p);
    for (size_t i = 1; i < threads; i++)
        binned_state_merge(&state[0], &state[i], NULL);
    double sum = binned_state_finish(&state[0]);
    if (status == STATUS_OK)
        array_encode(&t->out, 0, 1, &sum);
    free(state);
    return status;
}

static struct shape resolve(size_t n, enum device_kind device, struct shape asked)
{
    size_t most = n / SHARE + 1;
    if (device == DEVICE_CPU) {
        size_t threads = asked.threads ? asked.threads : 1;
        threads = threads > THREADS_MAX ? THREADS_MAX : threads;
        return (struct shape){.threads = (unsigned)(threads > most ? most : threads)};
    }
    unsigned threads = asked.threads ? asked.threads : BINNED_THREADS;
    threads = threads > BINNED_THREADS ? BINNED_THREADS : threads;
    size_t blocks = n / (BINNED_PER_LANE * threads) + 1;
    blocks = blocks > BINNED_BLOCKS ? BINNED_BLOCKS : blocks;
    blocks = asked.blocks ? asked.blocks : blocks;
    return (struct shape){threads, blocks > BLOCKS_MAX ? BLOCKS_MAX : (unsigned)blocks};
}

/* The method of K folds: its CPU side and its descriptor. */
#define METHOD(form, K, digits)                                                                    \
    static enum status form##_cpu(const struct task *t, struct problem *p)                         \
    {                                                                                              \
        return sum_in_bins(t, K, p);                                                               \
    }                                                                                              \
    const struct method sum_##form = {                                                             \
        .name = "sum/" #form,                                                                      \
        .summary = "elements cut into bins with exact sums: any order, " digits " the digits",     \
        .operation = &operation_sum,                                                               \
        .promise = PROMISE_ORDER_INVARIANT,                                                        \
        .shape_read = {SHAPE_THREADS, SHAPE_THREADS | SHAPE_BLOCKS},                               \
        .resolve = resolve,                                                                        \
        .addition = ADDITION_BINS,                                                                 \
        .bound = THEOREM_BINNED,                                                                   \
        .folds = K,                                                                                \
        .cpu = form##_cpu,                                                                         \
    };

METHOD(binned, 3, "three times")
METHOD(binned2, 2, "twice")
METHOD(binned4, 4, "four times")
