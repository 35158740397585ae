/* sum/exact: the exact sum of the elements as they are stored, rounded once to the accumulator, to
 * nearest, ties to even.
 *
 * Order: none. The result is the same for every order of additions; so it keeps every promise.
 *
 * What is returned:
 *   any NaN, or infinities of both signs     NaN
 *   infinities of one sign                   that infinity
 *   an exact sum of zero                     +0; but -0 where all elements are -0, and there is one
 *   no element                               +0
 *   an exact sum that rounds beyond the accumulator's largest number: that infinity. What overflows
 *   on the way does not matter, and neither does what underflows.
 *
 * Most sums are found from two doubles and a bound on what these miss, where all that is possible
 * rounds to one value (in the spirit of Rump, Ogita and Oishi 2008); the others by a
 * superaccumulator (Kulisch). The CPU has both from reference/exact/rounded.h. */
#include "kernels/blocks/tiled.h"
#include "reference/exact/rounded.h"

static enum status cpu(const struct task *t, struct problem *p)
{
    (void)p;
    double sum = rounded_sum(&t->of->in, t->accumulator, t->shape.threads);
    array_encode(&t->out, 0, 1, &sum);
    return STATUS_OK;
}

const struct method sum_exact = {
    .name = "sum/exact",
    .summary = "the exact sum, rounded once: a fast pass with a certificate, else fixed point",
    .operation = &operation_sum,
    .promise = PROMISE_CORRECTLY_ROUNDED,
    .shape_read = {SHAPE_THREADS, 0},
    .resolve = tiled_shape,
    .addition = ADDITION_EXACT,
    .bound = THEOREM_CORRECTLY_ROUNDED,
    .cpu = cpu,
};
