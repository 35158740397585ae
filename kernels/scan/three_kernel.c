/* scan/three_kernel: tile sums, a scan of the tile sums, the tiles again.
 *
 * Order: a tile is 4 T consecutive elements (T threads to a block), and thread t of it owns the
 * four from 4 t on.
 *   1. Tile sums: each thread adds its elements serially; the threads are folded by halving.
 *   2. The tile sums are an array, which is scanned exclusively by this same rule, as long as there
 *      is more than one tile.
 *   3. In each tile the threads' sums are scanned as in scan/hillis_steele. The element's prefix is
 *      (tile prefix + prefix of the threads before) + serial sum inside the thread, up to the
 *      element, or to the one before it where the scan is exclusive.
 * Of the three terms those that cover no element are skipped. */
#include "kernels/method/fold.h"
#include "kernels/method/method.h"
#include "kernels/scan/heights.h"

#include <stdlib.h>

enum { OWNED = 4, TILE_MAX = OWNED * THREADS_MAX };

static size_t tiles_of(size_t n, size_t tile)
{
    return n / tile + (n % tile != 0);
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* v[] becomes the serial sums inside the threads, thread[] their last: how many threads. */
static size_t sum_threads(enum format f, double *v, size_t count, double *thread)
{
    for (size_t i = 0; i < count; i++) {
        if (i % OWNED > 0)
            v[i] = format_add(f, v[i - 1], v[i]);
        thread[i / OWNED] = v[i];
    }
    return tiles_of(count, OWNED);
}

/* The third step for one tile. A place for what covers no element holds -0, the identity of a
 * rounded addition: x + -0 is x for every x. */
static void scan_tile(enum format f, double *v, size_t count, double prefix, bool exclusive)
{
    double thread[THREADS_MAX];
    size_t threads = sum_threads(f, v, count, thread);
    for (size_t d = 1; d < threads; d *= 2)
        for (size_t t = threads - 1; t >= d; t--) /* downwards, to see the round's old values */
            thread[t] = format_add(f, thread[t - d], thread[t]);
    for (size_t t = threads; t-- > 0;) {
        double *own = v + t * OWNED, seed = format_add(f, prefix, t > 0 ? thread[t - 1] : -0.0);
        for (size_t j = smaller(OWNED, count - t * OWNED); j-- > 0;)
            own[j] = !exclusive ? format_add(f, seed, own[j])
                     : j > 0    ? format_add(f, seed, own[j - 1])
                                : seed;
    }
}

/* Replaces the n tile sums by the sums of those before each, -0 for the first. The sums of their
 * own tiles are kept behind them. */
static void scan_sums(enum format f, double *v, size_t n, size_t tile)
{
    size_t tiles = tiles_of(n, tile);
    double *sum = v + n, copy[TILE_MAX], thread[THREADS_MAX];
    sum[0] = -0.0;
    for (size_t k = 0; tiles > 1 && k < tiles; k++) {
        size_t count = smaller(tile, n - k * tile);
        memcpy(copy, v + k * tile, count * sizeof *copy);
        sum[k] = fold_halving(f, thread, sum_threads(f, copy, count, thread));
    }
    if (tiles > 1)
        scan_sums(f, sum, tiles, tile);
    for (size_t k = 0; k < tiles; k++)
        scan_tile(f, v + k * tile, smaller(tile, n - k * tile), sum[k], true);
}

static void load_tile(const struct task *t, size_t begin, size_t count, double *v)
{
    array_decode(&t->of->in, begin, count, v);
    for (size_t i = 0; i < count; i++)
        v[i] = format_round(t->accumulator, v[i]);
}

/* Places for the sums of all levels: each level has at most a quarter of the one below. */
static double *make_room(size_t tiles, struct problem *p)
{
    size_t levels = tiles + tiles / 3 + 64;
    double *room = malloc(levels * sizeof *room);
    if (!room)
        problem(p, STATUS_MEMORY, "device cpu: no memory for %zu tile sums", tiles);
    return room;
}

static enum status cpu(const struct task *t, struct problem *p)
{
    enum format f = t->accumulator;
    size_t n = t->of->in.n, tile = (size_t)OWNED * t->shape.threads, tiles = tiles_of(n, tile);
    double v[TILE_MAX], thread[THREADS_MAX], *sum = make_room(tiles, p);
    if (!sum)
        return STATUS_MEMORY;
    for (size_t k = 0; k < tiles; k++) {
        size_t count = smaller(tile, n - k * tile);
        load_tile(t, k * tile, count, v);
        sum[k] = fold_halving(f, thread, sum_threads(f, v, count, thread));
    }
    if (tiles > 0)
        scan_sums(f, sum, tiles, tile);
    for (size_t k = 0; k < tiles; k++) {
        size_t count = smaller(tile, n - k * tile);
        load_tile(t, k * tile, count, v);
        scan_tile(f, v, count, sum[k], t->of->exclusive);
        if (k == 0 && t->of->exclusive)
            v[0] = 0; /* the sum of nothing */
        array_encode(&t->out, k * tile, count, v);
    }
    free(sum);
    return STATUS_OK;
}

/* --- the same on heights --- */

static long sum_height(long base, unsigned threads)
{
    return base + OWNED - 1 + (long)order_balanced_height(threads);
}

/* The height of element i of a tile whose prefix has height `tiles`, in an array of height `base`.
 */
static long height_inside(size_t i, long tiles, long base, bool exclusive)
{
    size_t t = i / OWNED;
    long j = (long)(i % OWNED) - exclusive;
    long before = t == 0 ? HEIGHT_OF_NOTHING : base + OWNED - 1 + (long)order_balanced_height(t);
    long own = j < 0 ? HEIGHT_OF_NOTHING : base + j;
    return height_join(height_join(tiles, before), own);
}

static long height_at(size_t i, long base, unsigned threads, bool exclusive)
{
    size_t tile = (size_t)OWNED * threads, k = i / tile;
    long tiles =
        k == 0 ? HEIGHT_OF_NOTHING : height_at(k, sum_height(base, threads), threads, true);
    return height_inside(i % tile, tiles, base, exclusive);
}

/* The greatest of elements 0 .. n-1. In a tile that is the last element's or, where the scan is
 * exclusive, perhaps that of the one before; in the tiles before the last one it is the last
 * element's, in the tile whose prefix is the highest. */
static long height_among(size_t n, long base, unsigned threads, bool exclusive)
{
    size_t tile = (size_t)OWNED * threads, last = n - 1;
    long highest = height_at(last, base, threads, exclusive), other = HEIGHT_OF_NOTHING;
    if (last > 0)
        other = height_at(last - 1, base, threads, exclusive);
    highest = other > highest ? other : highest;
    if (last >= tile) {
        long tiles = height_among(last / tile, sum_height(base, threads), threads, true);
        other = height_inside(tile - 1, tiles, base, exclusive);
    }
    return other > highest ? other : highest;
}

static size_t height(size_t n, struct shape shape)
{
    return height_known(height_among(n, 0, shape.threads, false));
}

static size_t prefix_height(size_t i, size_t n, struct shape shape, bool exclusive)
{
    (void)n;
    return height_known(height_at(i, 0, shape.threads, exclusive));
}

/* --- the same on nodes --- */

static size_t order_threads(struct order *o, uint32_t *v, size_t count, uint32_t *thread)
{
    for (size_t i = 0; i < count; i++) {
        if (i % OWNED > 0)
            v[i] = order_add(o, v[i - 1], v[i]);
        thread[i / OWNED] = v[i];
    }
    return tiles_of(count, OWNED);
}

static void order_tile(struct order *o, uint32_t *v, size_t count, uint32_t prefix, bool exclusive)
{
    uint32_t thread[THREADS_MAX];
    size_t threads = order_threads(o, v, count, thread);
    for (size_t d = 1; d < threads; d *= 2)
        for (size_t t = threads - 1; t >= d; t--)
            thread[t] = order_add(o, thread[t - d], thread[t]);
    for (size_t t = threads; t-- > 0;) {
        uint32_t *own = v + t * OWNED;
        uint32_t seed = order_join(o, prefix, t > 0 ? thread[t - 1] : ORDER_NOTHING);
        for (size_t j = smaller(OWNED, count - t * OWNED); j-- > 0;)
            own[j] = !exclusive ? order_join(o, seed, own[j])
                     : j > 0    ? order_join(o, seed, own[j - 1])
                                : seed;
    }
}

/* Replaces n nodes by those of their prefixes. */
static void order_scan(struct order *o, uint32_t *v, size_t n, size_t tile, bool exclusive)
{
    size_t tiles = tiles_of(n, tile);
    uint32_t copy[TILE_MAX], thread[THREADS_MAX];
    uint32_t *sum = malloc(tiles * sizeof *sum);
    if (!sum) {
        o->failed = true;
        return;
    }
    sum[0] = ORDER_NOTHING;
    for (size_t k = 0; tiles > 1 && k < tiles; k++) {
        size_t count = smaller(tile, n - k * tile);
        memcpy(copy, v + k * tile, count * sizeof *copy);
        sum[k] = order_halving(o, thread, order_threads(o, copy, count, thread));
    }
    if (tiles > 1)
        order_scan(o, sum, tiles, tile, true);
    for (size_t k = 0; k < tiles; k++)
        order_tile(o, v + k * tile, smaller(tile, n - k * tile), sum[k], exclusive);
    free(sum);
}

static void order(struct order *o, struct shape shape)
{
    for (size_t i = 0; i < o->leaves; i++)
        o->output[i] = (uint32_t)i;
    order_scan(o, o->output, o->leaves, (size_t)OWNED * shape.threads, o->exclusive);
}

static struct shape resolve(size_t n, enum device_kind device, struct shape asked)
{
    (void)n, (void)device;
    unsigned threads = asked.threads ? asked.threads : 256;
    return (struct shape){.threads = threads > THREADS_MAX ? THREADS_MAX : threads};
}

const struct method scan_three_kernel = {
    .name = "scan/three_kernel",
    .summary = "tiles of 4 T: their sums, a scan of the sums, the tiles again",
    .operation = &operation_scan,
    .promise = PROMISE_RUN_TO_RUN,
    .shape_read = {SHAPE_THREADS, SHAPE_THREADS},
    .shape_order = SHAPE_THREADS,
    .resolve = resolve,
    .bound = THEOREM_TREE,
    .height = height,
    .prefix_height = prefix_height,
    .order = order,
    .cpu = cpu,
};
