/* mean/exact: the exact sum of the elements as they are stored, divided by n, rounded once to the
 * accumulator, to nearest, ties to even.
 *
 * Order: none. The result is the same for every order of additions; so it keeps every promise. What
 * overflows on the way does not matter; n is a whole number that no format has to hold.
 *
 * What is returned:
 *   no element, any NaN, or infinities of both signs    NaN
 *   infinities of one sign                              that infinity
 *   an exact sum of zero                                as sum/exact: +0, or -0 of nothing but -0
 */
#include "kernels/blocks/tiled.h"
#include "kernels/blocks/whole.h"
#include "reference/exact/moments.h"

static enum status cpu(const struct task *t, struct problem *p)
{
    struct exact sum;
    enum status status = whole_sum(t, NULL, &sum, p);
    if (status == STATUS_OK)
        array_encode(&t->out, 0, 1, &(double){moments_mean(&sum, t->of->in.n, t->accumulator)});
    return status;
}

const struct method mean_exact = {
    .name = "mean/exact",
    .summary = "the exact sum divided by n, rounded once",
    .operation = &operation_mean,
    .promise = PROMISE_CORRECTLY_ROUNDED,
    .shape_read = {SHAPE_THREADS, 0},
    .resolve = tiled_shape,
    .addition = ADDITION_EXACT,
    .bound = THEOREM_CORRECTLY_ROUNDED,
    .cpu = cpu,
};
