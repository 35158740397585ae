/* variance/chan: means and scatters of parts, merged pairwise.
 *
 * Order: the tree of sum/tiled, which depends on n alone, over (k, m, M): how many elements, their
 * mean, the sum of their squared distances from it; an element x is (1, x, x - x). Two are merged
 * so: d = m2 - m1, q = d (k2 / (k1 + k2)), m = m1 + q, M = (M1 + M2) + (d q) k1, where each
 * operation is rounded and counts are taken whole. The variance is M / n, rounded. Threads are a
 * schedule.
 *
 * Source: Chan, Golub and LeVeque 1983, there with neighbours first. */
#include "kernels/variance/chan.h"

#include <stdlib.h>

#include "kernels/blocks/product.h"
#include "kernels/mean/quotient.h"
#include "kernels/blocks/tiled.h"
#include "kernels/method/team.h"
#include "reference/base/variants.h"

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

/* As fold_columns (kernels/blocks/columns.h). Overwrites v[]; count >= 1. */
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

/* ---- the same of a full tile of elements, at speed ----
 *
 * Counts are known beforehand, and what they are divided by. Where products of the narrower formats
 * have no error as doubles, they need no more than rounding; in FP64, not even that. */

/* Merges parts of `count` and `other` elements each, side by side. */
INLINE void merge_lanes(enum format f, double *mean, double *scatter, const double *mean2,
                        const double *scatter2, size_t lanes, size_t count, size_t other)
{
    const double share = quotient_rounded(f, (double)other, count + other), known = (double)count;
    for (size_t i = 0; i < lanes; i++) {
        double d = format_add(f, mean2[i], -mean[i]), q = format_round(f, d * share);
        double between = format_round(f, format_round(f, d * q) * known);
        mean[i] = format_add(f, mean[i], q);
        scatter[i] = format_add(f, format_add(f, scatter[i], scatter2[i]), between);
    }
}

/* Overwrites x. */
INLINE struct part fold_elements(enum format f, double *x)
{
    double scatter[TILE];
    for (size_t i = 0; i < TILE; i++)
        x[i] = format_round(f, x[i]);
    for (size_t i = 0; i < TILE; i++)
        scatter[i] = x[i] - x[i];
    for (size_t row = 1; row < TILE_ROWS; row++)
        merge_lanes(f, x, scatter, x + row * TILE_COLUMNS, scatter + row * TILE_COLUMNS,
                    TILE_COLUMNS, row, 1);
    for (size_t stride = TILE_COLUMNS / 2, count = TILE_ROWS; stride > 0; stride /= 2, count *= 2)
        merge_lanes(f, x, scatter, x + stride, scatter + stride, stride, count, count);
    return (struct part){TILE, x[0], scatter[0]};
}

static struct part fold_full(enum format f, double *x)
{
    switch ((enum accumulator)f) {
    case IN_FP16:
        return fold_elements(FP16, x);
    case IN_BF16:
        return fold_elements(BF16, x);
    case IN_FP32:
        return fold_elements(FP32, x);
    case IN_FP64:
        break;
    }
    return fold_elements(FP64, x);
}

struct work {
    const struct array *in;
    enum format format;
    unsigned threads;
    struct part *part;
};

static struct part fold_short(enum format f, const double *x, size_t present)
{
    struct part v[TILE];
    for (size_t j = 0; j < present; j++) {
        double element = format_round(f, x[j]);
        v[j] = (struct part){1, element, element - element};
    }
    return fold(f, v, present);
}

static void merge_share(void *context, unsigned thread)
{
    const struct work *w = context;
    enum format f = w->format;
    struct tiled_share share = tiled_share(tiled_tiles(w->in->n), thread, w->threads);
    double x[TILE];
    for (size_t i = share.first; i < share.first + share.count; i++) {
        size_t begin = i * TILE, present = w->in->n - begin < TILE ? w->in->n - begin : TILE;
        array_decode(w->in, begin, present, x);
        w->part[i] = present == TILE ? fold_full(f, x) : fold_short(f, x, present);
    }
}

enum status chan_moments(const struct array *in, enum format f, unsigned threads, double *mean,
                         double *scatter, struct problem *p)
{
    size_t count = tiled_tiles(in->n);
    struct part *v = calloc(count + (count == 0), sizeof *v);
    if (!v)
        return problem(p, STATUS_MEMORY, "device cpu: no memory for %zu tiles", count);
    enum status status = team_run(threads, merge_share, &(struct work){in, f, threads, v}, p);
    for (size_t n = count; status == STATUS_OK && n > 1; n = count) {
        count = tiled_tiles(n);
        for (size_t i = 0; i < count; i++)
            v[i] = fold(f, v + i * TILE, n - i * TILE < TILE ? n - i * TILE : TILE);
    }
    *mean = v[0].mean;
    *scatter = v[0].scatter;
    free(v);
    return status;
}

static enum status cpu(const struct task *t, struct problem *p)
{
    const struct array *in = &t->of->in;
    double mean, scatter;
    enum status status = chan_moments(in, t->accumulator, t->shape.threads, &mean, &scatter, p);
    if (status == STATUS_OK)
        array_encode(&t->out, 0, 1, &(double){quotient_rounded(t->accumulator, scatter, in->n)});
    return status;
}

const struct method variance_chan = {
    .name = "variance/chan",
    .summary = "counts, means and scatters of parts merged in the tree of sum/tiled: one pass",
    .operation = &operation_variance,
    .promise = PROMISE_GPU_TO_GPU,
    .shape_read = {SHAPE_THREADS, 0},
    .resolve = tiled_shape,
    .bound = THEOREM_CHAN,
    .height = tiled_height,
    .order = tiled_order,
    .cpu = cpu,
};
