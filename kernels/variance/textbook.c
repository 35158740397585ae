/* variance/textbook: the mean of the squares less the square of the mean.
 *
 * Order: the sum of the elements and that of their squares, each by the tree of sum/tiled, which
 * depends on n alone (squares, of the elements as they are stored, rounded before they are added);
 * both divided by n, which is taken whole; the mean squared; the difference. Each of these is
 * rounded. It needs one pass only, and loses what the two have in common: with a mean far from 0,
 * all of it, and the result may be negative. */
#include "kernels/mean/quotient.h"
#include "kernels/blocks/tiled.h"

extern const struct method dot_tiled;

static enum status cpu(const struct task *t, struct problem *p)
{
    enum format f = t->accumulator;
    size_t n = t->of->in.n;
    double sum, sum_of_squares;
    struct operands with_itself = {.in = t->of->in, .in2 = t->of->in, .product = PRODUCT_ROUNDED};
    struct task squares = *t;
    squares.method = &dot_tiled;
    squares.of = &with_itself;
    squares.out = (struct array){FP64, 1, &sum_of_squares};
    enum status status = tiled_sum(&t->of->in, NULL, f, t->shape.threads, &sum, p);
    if (status == STATUS_OK)
        status = dot_tiled.cpu(&squares, p);
    if (status != STATUS_OK)
        return status;
    double mean = quotient_rounded(f, sum, n), square = format_round(f, mean * mean);
    double variance = format_add(f, quotient_rounded(f, sum_of_squares, n), -square);
    array_encode(&t->out, 0, 1, &variance);
    return STATUS_OK;
}

const struct method variance_textbook = {
    .name = "variance/textbook",
    .summary = "the mean of squares less the square of the mean: cancels where the mean is large",
    .operation = &operation_variance,
    .promise = PROMISE_GPU_TO_GPU,
    .shape_read = {SHAPE_THREADS, SHAPE_THREADS | SHAPE_BLOCKS},
    .resolve = tiled_shape,
    .bound = THEOREM_TEXTBOOK,
    .height = tiled_height,
    .order = tiled_order,
    .cpu = cpu,
};
