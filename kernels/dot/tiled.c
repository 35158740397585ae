/* dot/tiled: the tree of sum/tiled over products.
 *
 * Order: that of sum/tiled (kernels/sum/tiled.c), which depends on n alone. In a tile, a column
 * begins with a rounded product and adds those of the rows below, rounded or fused; all else adds
 * sums. Threads are a schedule. */
#include <stdlib.h>

#include "kernels/dot/terms.h"
#include "kernels/dot/tiled.h"
#include "kernels/blocks/columns.h"
#include "kernels/blocks/tiled.h"
#include "kernels/method/team.h"

static double sum_tile(const struct task *t, size_t tile, struct dot_block *b)
{
    enum format f = t->accumulator;
    size_t begin = tile * TILE, present = t->of->in.n - begin < TILE ? t->of->in.n - begin : TILE;
    double column[TILE_COLUMNS];
    dot_decode(b, t, begin, present);
    for (size_t i = 0; i < present; i++)
        column[i % TILE_COLUMNS] =
            i < TILE_COLUMNS
                ? product_rounded(f, b->x[i], b->y[i])
                : dot_append(f, t->of->product, column[i % TILE_COLUMNS], b->x[i], b->y[i]);
    return fold_halving(f, column, present < TILE_COLUMNS ? present : TILE_COLUMNS);
}

void dot_tiles_plain(const struct task *t, size_t first, size_t count, double *sum)
{
    struct dot_block b;
    for (size_t i = 0; i < count; i++)
        sum[i] = sum_tile(t, first + i, &b);
}

dot_tiles *dot_tiles_fastest(const struct task *t)
{
    size_t i = 0;
    while (!dot_variant[i].available())
        i++;
    return dot_tiles_fast(t) ? dot_variant[i].tiles : dot_tiles_plain;
}

struct work {
    const struct task *task;
    double *sum;
};

/* One thread's share of the full tiles. */
static void sum_share(void *context, unsigned thread)
{
    const struct work *w = context;
    struct tiled_share share =
        tiled_share(w->task->of->in.n / TILE, thread, w->task->shape.threads);
    dot_tiles_fastest(w->task)(w->task, share.first, share.count, w->sum + share.first);
}

static enum status cpu(const struct task *t, struct problem *p)
{
    size_t count = tiled_tiles(t->of->in.n);
    double *v = malloc((count + (count == 0)) * sizeof *v);
    if (!v)
        return problem(p, STATUS_MEMORY, "device cpu: no memory for %zu tile sums", count);
    enum status status = team_run(t->shape.threads, sum_share, &(struct work){t, v}, p);
    if (status == STATUS_OK && t->of->in.n % TILE)
        dot_tiles_plain(t, t->of->in.n / TILE, 1, &v[t->of->in.n / TILE]);
    tiled_fold(t->accumulator, v, status == STATUS_OK ? count : 0);
    if (status == STATUS_OK)
        array_encode(&t->out, 0, 1, v);
    free(v);
    return status;
}

const struct method dot_tiled = {
    .name = "dot/tiled",
    .summary = "the tree of sum/tiled over products: order from n alone, fast",
    .operation = &operation_dot,
    .promise = PROMISE_GPU_TO_GPU,
    .shape_read = {SHAPE_THREADS, SHAPE_THREADS | SHAPE_BLOCKS},
    .resolve = tiled_shape,
    .products = DOT_ROUNDED_OR_FUSED,
    .product = PRODUCT_ROUNDED,
    .bound = THEOREM_TREE,
    .height = tiled_height,
    .order = tiled_order,
    .cpu = cpu,
};
