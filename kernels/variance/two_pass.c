/* variance/two_pass: the mean first, then the mean of the squared distances from it.
 *
 * Order: the mean is mean/tiled's; the distance of each element from it is rounded, its square is,
 * and the squares are added by the tree of sum/tiled, which depends on n alone; their sum is
 * divided by n, which is taken whole, and rounded. Threads are a schedule. */
#include "kernels/dot/squares.h"
#include "kernels/mean/quotient.h"
#include "kernels/blocks/tiled.h"

static void distances(enum format f, double *x, size_t count, const void *mean)
{
    const double m = *(const double *)mean;
    for (size_t i = 0; i < count; i++)
        x[i] = format_add(f, format_round(f, x[i]), -m);
}

static enum status cpu(const struct task *t, struct problem *p)
{
    enum format f = t->accumulator;
    double sum, squares = 0;
    enum status status = tiled_sum(&t->of->in, NULL, f, t->shape.threads, &sum, p);
    double mean = quotient_rounded(f, sum, t->of->in.n);
    if (status == STATUS_OK)
        status = squares_sum(t, distances, &mean, &squares, p);
    if (status == STATUS_OK)
        array_encode(&t->out, 0, 1, &(double){quotient_rounded(f, squares, t->of->in.n)});
    return status;
}

const struct method variance_two_pass = {
    .name = "variance/two_pass",
    .summary = "the mean of squared distances from the mean, in the tree of sum/tiled: two passes",
    .operation = &operation_variance,
    .promise = PROMISE_GPU_TO_GPU,
    .shape_read = {SHAPE_THREADS, SHAPE_THREADS | SHAPE_BLOCKS},
    .resolve = tiled_shape,
    .bound = THEOREM_TWO_PASS,
    .height = tiled_height,
    .order = tiled_order,
    .cpu = cpu,
};
