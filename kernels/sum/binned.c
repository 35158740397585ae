/* sum/binned: a sum that does not depend on the order of its elements, nor on how they are split
 * among threads, launches and devices.
 *
 * There is no order of additions: the elements are cut into bins of fixed places, whose sums are
 * exact (kernels/blocks/binned.h says what is computed, and names the sources). K = 3 folds here, 2
 * in sum/binned2, 4 in sum/binned4: parts of an element beyond K times the accumulator's digits
 * below the largest element are left out, which loses at most 2^-Kp max|x| of each; all else is
 * exact, and the sum is rounded once. So it is in error by at most u |S| + (1+u) (n-1) 2^-Kp
 * max|x|.
 *
 * What it returns:
 *     NaN                with any NaN, or infinities of both signs
 *     an infinity        with infinities of one sign, or where the sum rounds to one
 *     the element        rounded once to the accumulator, for n = 1
 *     -0                 where all elements are -0, and there are some
 *     +0                 for n = 0, other zeros only, and where what is kept cancels
 *     the sum otherwise, at every magnitude from the smallest subnormal number to the largest
 *     finite: subnormal elements and results are exact, and nothing overflows on the way, not even
 *     elements beyond the accumulator's range. */
#include "kernels/sum/binned_sum.h"

static enum status cpu(const struct task *t, struct problem *p)
{
    return binned_sum(t, 3, p);
}

const struct method sum_binned = {
    .name = "sum/binned",
    .summary = "elements cut into bins with exact sums: any order, three times the digits",
    .operation = &operation_sum,
    .promise = PROMISE_ORDER_INVARIANT,
    .pairs = {FORMAT_PAIRS_ALL, FORMAT_PAIRS_ALL},
    .shape_read = {SHAPE_THREADS, SHAPE_THREADS | SHAPE_BLOCKS},
    .resolve = binned_shape,
    .addition = ADDITION_BINS,
    .bound = THEOREM_BINNED,
    .folds = 3,
    .cpu = cpu,
};
