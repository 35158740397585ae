/* asum/exact: the exact sum of the magnitudes of the elements as they are stored, rounded once to
 * the accumulator, to nearest, ties to even.
 *
 * Order: none. The result is the same for every order of additions; so it keeps every promise.
 *
 * What is returned:
 *   any NaN                       NaN
 *   else any infinity             +inf
 *   no element, or zeros alone    +0
 *   a sum that rounds beyond the accumulator's largest number: +inf */
#include <math.h>

#include "kernels/blocks/tiled.h"
#include "kernels/blocks/whole.h"

static enum status cpu(const struct task *t, struct problem *p)
{
    struct exact sum;
    enum status status = whole_sum(t, fabs, &sum, p);
    if (status == STATUS_OK)
        array_encode(&t->out, 0, 1, &(double){exact_round(&sum, t->accumulator)});
    return status;
}

const struct method asum_exact = {
    .name = "asum/exact",
    .summary = "the exact sum of magnitudes, rounded once",
    .operation = &operation_asum,
    .promise = PROMISE_CORRECTLY_ROUNDED,
    .shape_read = {SHAPE_THREADS, 0},
    .resolve = tiled_shape,
    .addition = ADDITION_EXACT,
    .bound = THEOREM_CORRECTLY_ROUNDED,
    .cpu = cpu,
};
