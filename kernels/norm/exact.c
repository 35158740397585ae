/* norm/exact: the root of the exact sum of squares of the elements as they are stored, rounded once
 * to the accumulator, to nearest, ties to even.
 *
 * Order: none. The result is the same for every order of additions; so it keeps every promise. What
 * overflows or underflows on the way does not matter.
 *
 * What is returned:
 *   any NaN                       NaN
 *   else any infinity             +inf
 *   no element, or zeros alone    +0
 *   a norm that rounds beyond the accumulator's largest number: +inf */
#include "kernels/blocks/tiled.h"
#include "kernels/blocks/whole.h"
#include "reference/exact/moments.h"

static enum status cpu(const struct task *t, struct problem *p)
{
    struct products squares;
    enum status status = whole_products(t, &squares, p);
    if (status == STATUS_OK)
        array_encode(&t->out, 0, 1, &(double){moments_norm(&squares, t->accumulator)});
    return status;
}

const struct method norm_exact = {
    .name = "norm/exact",
    .summary = "the root of the exact sum of squares, rounded once",
    .operation = &operation_norm,
    .promise = PROMISE_CORRECTLY_ROUNDED,
    .shape_read = {SHAPE_THREADS, 0},
    .resolve = tiled_shape,
    .addition = ADDITION_EXACT,
    .bound = THEOREM_CORRECTLY_ROUNDED,
    .cpu = cpu,
};
