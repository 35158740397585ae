/* sum/warp_atomic: an atomic addition per warp.
 *
 * Order: groups of 32 consecutive elements, the last one possibly short, are folded by halving
 * (v[i] + v[i + s] for i < s, s = 16, 8, 4, 2, 1, where i + s is present). Their sums are added to
 * one accumulator, which starts from -0, in the order in which the threads get hold of it. On the
 * CPU real threads contend with compare and exchange. */
#include "kernels/blocks/shared_sum.h"
#include "kernels/sum/warps.h"

static struct shape resolve(size_t n, enum device_kind device, struct shape asked)
{
    return shared_sum_shape(n, WARP, device, asked);
}

static enum status cpu(const struct task *t, struct problem *p)
{
    return shared_sum_run(t, WARP, fold_halving, p);
}

const struct method sum_warp_atomic = {
    .name = "sum/warp_atomic",
    .summary = "warps of 32 by shuffles, then an atomic addition per warp",
    .operation = &operation_sum,
    .promise = PROMISE_NONE,
    .shape_read = {SHAPE_THREADS, SHAPE_THREADS},
    .resolve = resolve,
    .atomic = true,
    .bound = THEOREM_ANY_ORDER,
    .cpu = cpu,
};
