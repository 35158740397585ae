/* scatter/sort: a stable sort by bin, then the elements of each bin by sum/tiled's order.
 *
 * Order: the elements of a bin, as they follow each other in the array, are added in the order of
 * sum/tiled. So a bin's sum has the bits that sum/tiled gives for its elements alone, and does not
 * depend on other bins. Threads are a schedule. */
#include "kernels/scatter/bins.h"
#include "kernels/blocks/tiled.h"

enum status tiled_alone(const struct array *x, enum format f, double *sum, struct problem *p)
{
    if (x->n > TILE)
        return tiled_sum(x, NULL, f, 1, sum, p);
    tiled_plain(x, f, 0, 1, sum);
    return STATUS_OK;
}

enum status scatter_sum_tiled(const struct task *t, const struct array *x, const size_t *element,
                              double *sum, struct problem *p)
{
    (void)element;
    return tiled_alone(x, t->accumulator, sum, p);
}

static enum status cpu(const struct task *t, struct problem *p)
{
    return scatter_each(t, scatter_sum_tiled, p);
}

size_t scatter_tiled_height(const size_t *element, size_t terms, size_t n, size_t bins)
{
    (void)element, (void)n, (void)bins;
    return tiled_height(terms, (struct shape){0});
}

const struct method scatter_sort = {
    .name = "scatter/sort",
    .summary = "a stable sort by bin, then sum/tiled's order in each bin",
    .operation = &operation_scatter,
    .promise = PROMISE_GPU_TO_GPU,
    .shape_read = {SHAPE_THREADS, 0},
    .resolve = scatter_each_shape,
    .bound = THEOREM_TREE,
    .height = tiled_height,
    .bin_height = scatter_tiled_height,
    .order = tiled_order,
    .cpu = cpu,
};
