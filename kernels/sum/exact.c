/* sum/exact: the exact sum of the elements as they are stored, rounded once to the accumulator, to
 * nearest, ties to even.
 *
 * Order: none. Whatever is added to what, the result is the same; so it keeps every promise.
 *
 * What is returned:
 *   any NaN, or infinities of both signs     NaN
 *   infinities of one sign                   that infinity
 *   an exact sum of zero                     +0; but -0 where all elements are -0, and there is one
 *   no element                               +0
 *   an exact sum that rounds beyond the accumulator's largest number: that infinity. What overflows
 *   on the way does not matter, and neither does what underflows.
 *
 * A superaccumulator (Kulisch) holds the sum on the CPU. On a GPU most sums are found from two
 * doubles and a bound on what these miss, where all that is possible rounds to one value (in the
 * spirit of Rump, Ogita and Oishi 2008). */
#include "kernels/method.h"
#include "reference/exact.h"

static enum status cpu(const struct task *t, struct problem *p)
{
    (void)p;
    struct exact sum;
    exact_init(&sum);
    exact_add_array(&sum, &t->in, 0, t->in.n);
    double result = exact_round(&sum, t->accumulator);
    array_encode(&t->out, 0, 1, &result);
    return STATUS_OK;
}

const struct method sum_exact = {
    .name = "sum/exact",
    .summary = "the exact sum, rounded once: a fast pass with a certificate, else fixed point",
    .operation = &operation_sum,
    .promise = PROMISE_CORRECTLY_ROUNDED,
    .pairs = {FORMAT_PAIRS_ALL, FORMAT_PAIRS_ALL},
    .bound = THEOREM_CORRECTLY_ROUNDED,
    .cpu = cpu,
};
