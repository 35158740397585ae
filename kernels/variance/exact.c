/* variance/exact: the population's variance of the elements as they are stored, sum x^2 / n -
 * (sum x / n)^2, rounded once to the accumulator, to nearest, ties to even.
 *
 * Order: none. The result is the same for every order of additions; so it keeps every promise. What
 * overflows or underflows on the way does not matter, and nothing cancels.
 *
 * What is returned:
 *   no element, any NaN or infinity       NaN
 *   elements that are all the same        +0
 *   a variance that rounds beyond the accumulator's largest number: +inf */
#include "kernels/blocks/tiled.h"
#include "kernels/blocks/whole.h"
#include "reference/exact/moments.h"

static enum status cpu(const struct task *t, struct problem *p)
{
    struct exact sum;
    struct products squares;
    double variance;
    enum status status = whole_sum(t, NULL, &sum, p);
    if (status == STATUS_OK)
        status = whole_products(t, &squares, p);
    if (status != STATUS_OK)
        return status;
    variance = moments_variance(&sum, &squares, t->of->in.n, t->accumulator);
    array_encode(&t->out, 0, 1, &variance);
    return status;
}

const struct method variance_exact = {
    .name = "variance/exact",
    .summary = "the exact mean of squares less the square of the mean, rounded once",
    .operation = &operation_variance,
    .promise = PROMISE_CORRECTLY_ROUNDED,
    .shape_read = {SHAPE_THREADS, 0},
    .resolve = tiled_shape,
    .addition = ADDITION_EXACT,
    .bound = THEOREM_CORRECTLY_ROUNDED,
    .cpu = cpu,
};
