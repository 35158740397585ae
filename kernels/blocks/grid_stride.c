#include "kernels/blocks/grid_stride.h"

#include <stdlib.h>

#include "kernels/blocks/columns.h"

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t grid_stride_blocks(size_t n, struct shape shape)
{
    return smaller(n / shape.threads + (n % shape.threads != 0), shape.blocks);
}

void grid_stride_sums(const struct array *in, enum format f, struct shape shape, double *result)
{
    size_t threads = shape.threads, grid = shape.blocks * threads;
    size_t blocks = grid_stride_blocks(in->n, shape);
    for (size_t b = 0; b < blocks; b++) {
        double sum[THREADS_MAX], row[THREADS_MAX];
        size_t first = b * threads;
        array_decode(in, first, smaller(threads, in->n - first), sum);
        for (size_t t = 0; t < threads && first + t < in->n; t++)
            sum[t] = format_round(f, sum[t]);
        for (size_t begin = first + grid; begin < in->n; begin += grid) {
            size_t present = smaller(threads, in->n - begin);
            array_decode(in, begin, present, row);
            for (size_t t = 0; t < present; t++)
                sum[t] = format_add(f, sum[t], format_round(f, row[t]));
        }
        result[b] = fold_halving(f, sum, smaller(threads, in->n - first));
    }
}

void grid_stride_order(struct order *o, struct shape shape, uint32_t *result)
{
    size_t n = o->leaves, grid = (size_t)shape.blocks * shape.threads;
    size_t blocks = grid_stride_blocks(n, shape);
    for (size_t b = 0; b < blocks; b++) {
        uint32_t sum[THREADS_MAX];
        size_t first = b * shape.threads, present = smaller(shape.threads, n - first);
        for (size_t t = 0; t < present; t++) {
            sum[t] = (uint32_t)(first + t);
            for (size_t i = first + t + grid; i < n; i += grid)
                sum[t] = order_add(o, sum[t], (uint32_t)i);
        }
        result[b] = order_halving(o, sum, present);
    }
}

size_t grid_stride_height(size_t n, struct shape shape)
{
    return (n - 1) / ((size_t)shape.blocks * shape.threads) +
           order_balanced_height(smaller(n, shape.threads));
}

struct shape grid_stride_shape(size_t n, enum device_kind device, struct shape asked)
{
    (void)device;
    unsigned threads = asked.threads ? asked.threads : 256;
    threads = threads > THREADS_MAX ? THREADS_MAX : threads;
    unsigned blocks = (unsigned)smaller(n / threads + (n % threads != 0), 1024);
    blocks = asked.blocks ? asked.blocks : blocks ? blocks : 1;
    return (struct shape){threads, blocks > BLOCKS_MAX ? BLOCKS_MAX : blocks};
}

enum status two_stage_sum(const struct task *t, struct problem *p)
{
    enum format f = t->out.format;
    size_t blocks = grid_stride_blocks(t->of->in.n, t->shape);
    double *result = malloc((blocks + (blocks == 0)) * sizeof *result);
    if (!result)
        return problem(p, STATUS_MEMORY, "device cpu: no memory for %zu block results", blocks);
    result[0] = 0; /* the sum of nothing */
    if (blocks > 0) {
        grid_stride_sums(&t->of->in, f, t->shape, result);
        fold_columns(f, result, blocks, t->shape.threads);
    }
    array_encode(&t->out, 0, 1, result);
    free(result);
    return STATUS_OK;
}

size_t two_stage_height(size_t n, struct shape shape)
{
    return grid_stride_height(n, shape) +
           columns_height(grid_stride_blocks(n, shape), shape.threads);
}

void two_stage_order(struct order *o, struct shape shape)
{
    size_t blocks = grid_stride_blocks(o->leaves, shape);
    uint32_t *result = malloc(blocks * sizeof *result);
    if (!result) {
        o->failed = true;
        return;
    }
    grid_stride_order(o, shape, result);
    o->output[0] = order_columns(o, result, blocks, shape.threads);
    free(result);
}
