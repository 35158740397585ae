#include "kernels/blocks/reduction.h"

#include <stdlib.h>

#include "kernels/blocks/grid_stride.h"
#include "kernels/blocks/tiled.h"
#include "kernels/method/team.h"

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

enum status reduce_serial(const struct reduction *r, const struct task *t, struct problem *p)
{
    (void)p;
    struct partial block[ARRAY_BLOCK], whole = {0};
    for (size_t begin = 0; begin < t->of->in.n; begin += ARRAY_BLOCK) {
        size_t count = smaller(ARRAY_BLOCK, t->of->in.n - begin);
        r->load(block, t, begin, count);
        for (size_t i = 0; i < count; i++)
            whole = begin + i == 0 ? block[0] : r->join(t->accumulator, whole, block[i]);
    }
    r->finish(t, t->of->in.n > 0 ? &whole : NULL);
    return STATUS_OK;
}

/* Joins rows of `width` columns to the first one, as fold_rows, then folds it by halving. */
static struct partial join_columns(const struct reduction *r, enum format f, struct partial *v,
                                   size_t count, size_t width)
{
    size_t columns = smaller(count, width), stride = 1;
    for (size_t i = width; i < count; i++)
        v[i % width] = r->join(f, v[i % width], v[i]);
    while (stride < columns)
        stride *= 2;
    for (; stride > 0; stride /= 2)
        for (size_t i = 0; i < stride && i + stride < columns; i++)
            v[i] = r->join(f, v[i], v[i + stride]);
    return v[0];
}

/* ---- tiles ---- */

struct tiles {
    const struct reduction *reduction;
    const struct task *task;
    struct partial *result;
};

static void join_share(void *context, unsigned thread)
{
    const struct tiles *w = context;
    const struct task *t = w->task;
    struct tiled_share share = tiled_share(tiled_tiles(t->of->in.n), thread, t->shape.threads);
    struct partial tile[TILE];
    for (size_t i = share.first; i < share.first + share.count; i++) {
        size_t count = smaller(TILE, t->of->in.n - i * TILE);
        for (size_t begin = 0; begin < count; begin += ARRAY_BLOCK)
            w->reduction->load(tile + begin, t, i * TILE + begin,
                               smaller(ARRAY_BLOCK, count - begin));
        w->result[i] = join_columns(w->reduction, t->accumulator, tile, count, TILE_COLUMNS);
    }
}

enum status reduce_tiled(const struct reduction *r, const struct task *t, struct problem *p)
{
    size_t n = tiled_tiles(t->of->in.n);
    struct partial *v = malloc((n + (n == 0)) * sizeof *v);
    if (!v)
        return problem(p, STATUS_MEMORY, "device cpu: no memory for %zu tile results", n);
    enum status status = team_run(t->shape.threads, join_share, &(struct tiles){r, t, v}, p);
    for (size_t count; status == STATUS_OK && n > 1; n = count) {
        count = tiled_tiles(n);
        for (size_t i = 0; i < count; i++)
            v[i] = join_columns(r, t->accumulator, v + i * TILE, smaller(TILE, n - i * TILE),
                                TILE_COLUMNS);
    }
    if (status == STATUS_OK)
        r->finish(t, n > 0 ? v : NULL);
    free(v);
    return status;
}

/* ---- two kernels ---- */

/* Block b's result: row by row, its threads next to each other. */
static struct partial join_block(const struct reduction *r, const struct task *t, size_t b)
{
    struct partial whole[THREADS_MAX], row[THREADS_MAX];
    size_t threads = t->shape.threads, first = b * threads, present = 0;
    for (size_t begin = first; begin < t->of->in.n; begin += threads * t->shape.blocks) {
        size_t count = smaller(threads, t->of->in.n - begin);
        r->load(row, t, begin, count);
        for (size_t i = 0; i < count; i++)
            whole[i] = begin == first ? row[i] : r->join(t->accumulator, whole[i], row[i]);
        present = present ? present : count;
    }
    return join_columns(r, t->accumulator, whole, present, THREADS_MAX);
}

enum status reduce_two_kernel(const struct reduction *r, const struct task *t, struct problem *p)
{
    struct task on_gpu = *t; /* with the shape that it has there unless told otherwise */
    on_gpu.shape = grid_stride_shape(t->of->in.n, DEVICE_CUDA, (struct shape){0, 0});
    size_t blocks = grid_stride_blocks(t->of->in.n, on_gpu.shape);
    struct partial *v = malloc((blocks + (blocks == 0)) * sizeof *v);
    if (!v)
        return problem(p, STATUS_MEMORY, "device cpu: no memory for %zu block results", blocks);
    for (size_t b = 0; b < blocks; b++)
        v[b] = join_block(r, &on_gpu, b);
    if (blocks > 0)
        join_columns(r, t->accumulator, v, blocks, on_gpu.shape.threads);
    r->finish(t, blocks > 0 ? v : NULL);
    free(v);
    return STATUS_OK;
}
