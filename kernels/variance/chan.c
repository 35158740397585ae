/* variance/chan: means and scatters of parts, merged pairwise.
 *
 * Order: the tree of sum/tiled, which depends on n alone, over (k, m, M): how many elements, their
 * mean, the sum of their squared distances from it; an element x is (1, x, x - x). Two are merged
 * so: d = m2 - m1, q = d (k2 / (k1 + k2)), m = m1 + q, M = (M1 + M2) + (d q) k1, where each
 * operation is rounded and counts are taken whole. The variance is M / n, rounded. Threads are a
 * schedule.
 *
 * Source: Chan, Golub and LeVeque 1983, there with neighbours first. */
#include <stdlib.h>

#include "kernels/dot/product.h"
#include "kernels/mean/quotient.h"
#include "kernels/sum/tiled.h"
#include "kernels/team.h"

struct part {
    size_t count;
    double mean, scatter;
};

static struct part merge(enum format f, struct part a, struct part b)
{
    size_t count = a.count + b.count;
    double d = format_add(f, b.mean, -a.mean);
    double share = quotient_rounded(f, (double)b.count, count), q = product_rounded(f, d, share);
    double between = product_rounded(f, product_rounded(f, d, q), (double)a.count);
    return (struct part){count, format_add(f, a.mean, q),
                         format_add(f, format_add(f, a.scatter, b.scatter), between)};
}

/* As fold_columns (kernels/sum/columns.h). Overwrites v[]; count >= 1. */
static struct part fold(enum format f, struct part *v, size_t count)
{
    for (size_t i = TILE_COLUMNS; i < count; i++)
        v[i % TILE_COLUMNS] = merge(f, v[i % TILE_COLUMNS], v[i]);
    size_t columns = count < TILE_COLUMNS ? count : TILE_COLUMNS;
    for (size_t stride = TILE_COLUMNS / 2; stride > 0; stride /= 2)
        for (size_t i = 0; i < stride && i + stride < columns; i++)
            v[i] = merge(f, v[i], v[i + stride]);
    return v[0];
}

struct work {
    const struct task *task;
    struct part *part;
};

static void merge_share(void *context, unsigned thread)
{
    const struct work *w = context;
    const struct task *t = w->task;
    struct tiled_share share = tiled_share(tiled_tiles(t->in.n), thread, t->shape.threads);
    double x[TILE];
    struct part v[TILE];
    for (size_t i = share.first; i < share.first + share.count; i++) {
        size_t begin = i * TILE, present = t->in.n - begin < TILE ? t->in.n - begin : TILE;
        array_decode(&t->in, begin, present, x);
        for (size_t j = 0; j < present; j++) {
            double element = format_round(t->accumulator, x[j]);
            v[j] = (struct part){1, element, element - element};
        }
        w->part[i] = fold(t->accumulator, v, present);
    }
}

static enum status cpu(const struct task *t, struct problem *p)
{
    enum format f = t->accumulator;
    size_t count = tiled_tiles(t->in.n);
    struct part *v = calloc(count + (count == 0), sizeof *v);
    if (!v)
        return problem(p, STATUS_DEVICE, "device cpu: no memory for %zu tiles", count);
    enum status status = team_run(t->shape.threads, merge_share, &(struct work){t, v}, p);
    for (size_t n = count; status == STATUS_OK && n > 1; n = count) {
        count = tiled_tiles(n);
        for (size_t i = 0; i < count; i++)
            v[i] = fold(f, v + i * TILE, n - i * TILE < TILE ? n - i * TILE : TILE);
    }
    if (status == STATUS_OK)
        array_encode(&t->out, 0, 1, &(double){quotient_rounded(f, v[0].scatter, t->in.n)});
    free(v);
    return status;
}

const struct method variance_chan = {
    .name = "variance/chan",
    .summary = "counts, means and scatters of parts merged in the tree of sum/tiled: one pass",
    .operation = &operation_variance,
    .promise = PROMISE_GPU_TO_GPU,
    .pairs = {FORMAT_PAIRS_ALL, FORMAT_PAIRS_ALL},
    .shape_read = {SHAPE_THREADS, 0},
    .resolve = tiled_shape,
    .bound = THEOREM_CHAN,
    .height = tiled_height,
    .order = tiled_order,
    .cpu = cpu,
};
