/* sum/block_atomic: an atomic addition per block.
 *
 * Order: groups of consecutive elements (T, the threads of a block, on a GPU; 256 on the CPU), the
 * last one possibly short, are folded like a group of sum/shuffle: warps of 32 by halving, then
 * the warps' results by halving. The group sums are added to one accumulator, which starts from
 * -0, in the order in which the threads get hold of it. On the CPU real threads contend with
 * compare and exchange. */
#include "kernels/blocks/shared_sum.h"
#include "kernels/sum/warps.h"

enum { CPU_GROUP = 256 };

static struct shape resolve(size_t n, enum device_kind device, struct shape asked)
{
    return shared_sum_shape(n, CPU_GROUP, device, asked);
}

static enum status cpu(const struct task *t, struct problem *p)
{
    return shared_sum_run(t, CPU_GROUP, fold_warps, p);
}

const struct method sum_block_atomic = {
    .name = "sum/block_atomic",
    .summary = "blocks as in sum/shuffle, then an atomic addition per block",
    .operation = &operation_sum,
    .promise = PROMISE_NONE,
    .shape_read = {SHAPE_THREADS, SHAPE_THREADS},
    .resolve = resolve,
    .atomic = true,
    .bound = THEOREM_ANY_ORDER,
    .cpu = cpu,
};
