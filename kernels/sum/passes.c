/* sum/pairwise, sum/interleaved, sum/sequential, sum/shuffle, sum/coarsened: trees in passes.
 *
 * Consecutive elements are taken in groups, T threads to a block, and each group is folded to one
 * value; the pass is applied to x, then to its results, until one value is left. In a fold a
 * partner that is absent is skipped.
 *
 * sum/interleaved: the divergent textbook kernel. Order: in a group of T elements neighbours are
 * added first, v[i] + v[i + s] for i a multiple of 2s and s = 1, 2, 4, ...
 *
 * sum/pairwise: neighbours first, over all of x. Order: x[0] + x[1], x[2] + x[3], ...; then
 * neighbours among these sums; and so on, an odd one out passing on, until one value is left. The
 * same tree, seen from its root, splits n elements at the largest power of two below n. Its height
 * is ceil(log2 n), the least there is. Groups of any power of two elements, folded as in
 * sum/interleaved, are whole subtrees.
 *
 * sum/sequential: stride halving, so that busy threads stay together. Order: in a group of T
 * elements v[i] + v[i + s] for i < s and s = the largest power of two below the group's size, ...,
 * 4, 2, 1.
 *
 * sum/shuffle: warp shuffles, then shared memory for the warps' results. Order: in a group of T
 * elements, warps of 32 consecutive ones are folded by halving (v[i] + v[i + s] for i < s, s = 16,
 * 8, 4, 2, 1, where i + s is present); then the warps' results, at most 32, by halving too.
 *
 * sum/coarsened: many elements a thread before the tree. Order: in a chunk of 8 T elements thread t
 * adds its elements t, t + T, ..., t + 7 T serially, as far as they are present; the threads that
 * have any are folded by halving. */
#include "kernels/blocks/passes.h"
#include "kernels/method/fold.h"
#include "kernels/sum/warps.h"

/* A method whose tree depends on T: its pass, the last arguments, and the descriptor. */
#define METHOD(form, told, ...)                                                                    \
    static const struct pass form = {__VA_ARGS__};                                                 \
    static struct shape form##_shape(size_t n, enum device_kind device, struct shape asked)        \
    {                                                                                              \
        (void)n, (void)device;                                                                     \
        return passes_shape(&form, asked);                                                         \
    }                                                                                              \
    static size_t form##_height(size_t n, struct shape shape)                                      \
    {                                                                                              \
        return passes_height(&form, n, shape);                                                     \
    }                                                                                              \
    static void form##_order(struct order *o, struct shape shape)                                  \
    {                                                                                              \
        passes_order(&form, o, shape);                                                             \
    }                                                                                              \
    static enum status form##_cpu(const struct task *t, struct problem *p)                         \
    {                                                                                              \
        return passes_sum(&form, t, p);                                                            \
    }                                                                                              \
    const struct method sum_##form = {                                                             \
        .name = "sum/" #form,                                                                      \
        .summary = told,                                                                           \
        .operation = &operation_sum,                                                               \
        .promise = PROMISE_RUN_TO_RUN,                                                             \
        .shape_read = {SHAPE_THREADS, SHAPE_THREADS},                                              \
        .shape_order = SHAPE_THREADS,                                                              \
        .resolve = form##_shape,                                                                   \
        .bound = THEOREM_TREE,                                                                     \
        .height = form##_height,                                                                   \
        .order = form##_order,                                                                     \
        .cpu = form##_cpu,                                                                         \
    };

METHOD(interleaved, "passes over groups of T, stride doubling (the divergent textbook kernel)",
       .rows = 1, .threads_least = 2, .fold = fold_adjacent, .order = order_adjacent)
METHOD(sequential, "passes over groups of T, stride halving in shared memory", .rows = 1,
       .threads_least = 2, .fold = fold_halving, .order = order_halving)
METHOD(shuffle, "passes over groups of T: warp shuffles, then shared memory", .rows = 1,
       .threads_least = 2, .fold = fold_warps, .order = order_warps)
METHOD(coarsened, "passes over chunks of 8 T: each thread adds 8 elements, then stride halving",
       .rows = 8, .threads_least = 1, .fold = fold_halving, .order = order_halving)

/* Any power of two gives the tree of sum/pairwise. */
static const struct shape whole_subtrees = {.threads = THREADS_MAX};

static size_t pairwise_height(size_t n, struct shape shape)
{
    (void)shape;
    return order_balanced_height(n);
}

static void pairwise_order(struct order *o, struct shape shape)
{
    (void)shape;
    interleaved_order(o, whole_subtrees);
}

static enum status pairwise_cpu(const struct task *t, struct problem *p)
{
    struct task in_subtrees = *t;
    in_subtrees.shape = whole_subtrees;
    return interleaved_cpu(&in_subtrees, p);
}

const struct method sum_pairwise = {
    .name = "sum/pairwise",
    .summary = "neighbours first: a balanced tree over all of x",
    .operation = &operation_sum,
    .promise = PROMISE_GPU_TO_GPU,
    .bound = THEOREM_TREE,
    .height = pairwise_height,
    .order = pairwise_order,
    .cpu = pairwise_cpu,
};
