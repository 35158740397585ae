/* dot/tiled: the tree of sum/tiled over products.
 *
 * Order: that of sum/tiled (kernels/sum/tiled.c), which depends on n alone. In a tile, a column
 * begins with a rounded product and adds those of the rows below, rounded or fused; all else adds
 * sums. Threads are a schedule. */
#include <stdlib.h>

#include "kernels/dot/terms.h"
#include "kernels/sum/columns.h"
#include "kernels/sum/tiled.h"
#include "kernels/team.h"

static double sum_tile(const struct task *t, size_t tile, struct dot_block *b)
{
    enum format f = t->accumulator;
    size_t begin = tile * TILE, present = t->in.n - begin < TILE ? t->in.n - begin : TILE;
    double column[TILE_COLUMNS];
    dot_decode(b, t, begin, present);
    for (size_t i = 0; i < present; i++)
        column[i % TILE_COLUMNS] =
            i < TILE_COLUMNS
                ? product_rounded(f, b->x[i], b->y[i])
                : dot_append(f, t->product, column[i % TILE_COLUMNS], b->x[i], b->y[i]);
    return fold_halving(f, column, present < TILE_COLUMNS ? present : TILE_COLUMNS);
}

struct work {
    const struct task *task;
    double *sum;
};

static void sum_share(void *context, unsigned thread)
{
    const struct work *w = context;
    struct dot_block b;
    struct tiled_share share =
        tiled_share(tiled_tiles(w->task->in.n), thread, w->task->shape.threads);
    for (size_t i = share.first; i < share.first + share.count; i++)
        w->sum[i] = sum_tile(w->task, i, &b);
}

static enum status cpu(const struct task *t, struct problem *p)
{
    size_t count = tiled_tiles(t->in.n);
    double *v = malloc((count + (count == 0)) * sizeof *v);
    if (!v)
        return problem(p, STATUS_DEVICE, "device cpu: no memory for %zu tile sums", count);
    v[0] = 0; /* the sum of nothing */
    enum status status = team_run(t->shape.threads, sum_share, &(struct work){t, v}, p);
    for (size_t n = count; status == STATUS_OK && n > 1; n = count) {
        count = tiled_tiles(n);
        tiled_plain(&(struct array){FP64, n, v}, t->accumulator, 0, count, v);
    }
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
    .pairs = {FORMAT_PAIRS_ALL, FORMAT_PAIRS_ALL},
    .shape_read = {SHAPE_THREADS, SHAPE_THREADS | SHAPE_BLOCKS},
    .resolve = tiled_shape,
    .products = DOT_ROUNDED_OR_FUSED,
    .product = PRODUCT_ROUNDED,
    .bound = THEOREM_TREE,
    .height = tiled_height,
    .order = tiled_order,
    .cpu = cpu,
};
