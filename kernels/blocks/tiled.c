/* The order of sum/tiled (kernels/sum/tiled.c), for all methods that add in it. */
#include "kernels/blocks/tiled.h"

#include <stdlib.h>

#include "kernels/blocks/columns.h"
#include "kernels/blocks/passes.h"
#include "kernels/method/team.h"

size_t tiled_tiles(size_t n)
{
    return n / TILE + (n % TILE != 0);
}

void tiled_plain(const struct array *in, enum format f, size_t first, size_t count, double *sum)
{
    double tile[TILE];
    for (size_t i = 0; i < count; i++) {
        size_t begin = (first + i) * TILE, present = in->n - begin < TILE ? in->n - begin : TILE;
        array_decode(in, begin, present, tile);
        for (size_t j = 0; j < present; j++)
            tile[j] = format_round(f, tile[j]);
        sum[i] = fold_columns(f, tile, present, TILE_COLUMNS);
    }
}

struct tiled_share tiled_share(size_t tiles, unsigned thread, unsigned threads)
{
    size_t share = tiles / threads, longer = tiles % threads;
    return (struct tiled_share){share * thread + (thread < longer ? thread : longer),
                                share + (thread < longer)};
}

tile_sums *tiled_fastest(void)
{
    size_t i = 0;
    while (!tiled_variant[i].available())
        i++;
    return tiled_variant[i].sums;
}

struct work {
    const struct array *in;
    array_term *term;
    enum format format;
    unsigned threads;
    double *sum;
};

static void sum_tiles(const struct work *w, tile_sums *sums, size_t first, size_t count)
{
    double room[TILE];
    if (!w->term)
        sums(w->in, w->format, first, count, w->sum + first);
    for (size_t i = first; w->term && i < first + count; i++) {
        size_t rest = w->in->n - i * TILE;
        struct array tile = {w->in->format, rest < TILE ? rest : TILE, room};
        array_terms(&tile, w->in, i * TILE, tile.n, w->term);
        sums(&tile, w->format, 0, 1, w->sum + i);
    }
}

/* One thread's share of the full tiles. */
static void sum_share(void *context, unsigned thread)
{
    const struct work *w = context;
    struct tiled_share share = tiled_share(w->in->n / TILE, thread, w->threads);
    sum_tiles(w, tiled_fastest(), share.first, share.count);
}

void tiled_fold(enum format f, double *v, size_t count)
{
    if (count == 0)
        v[0] = 0; /* the sum of nothing */
    for (size_t n = count; n > 1; n = count) {
        count = tiled_tiles(n);
        tiled_plain(&(struct array){FP64, n, v}, f, 0, count, v);
    }
}

enum status tiled_sum(const struct array *in, array_term *term, enum format f, unsigned threads,
                      double *sum, struct problem *p)
{
    size_t n = in->n, count = tiled_tiles(n);
    double *v = malloc((count + (count == 0)) * sizeof *v);
    if (!v)
        return problem(p, STATUS_MEMORY, "device cpu: no memory for %zu tile sums", count);

    struct work w = {in, term, f, threads, v};
    enum status status = team_run(threads, sum_share, &w, p);
    if (n % TILE)
        sum_tiles(&w, tiled_plain, n / TILE, 1);
    tiled_fold(f, v, status == STATUS_OK ? count : 0);
    *sum = v[0];
    free(v);
    return status;
}

/* A column of a tile corresponds to a thread of a pass. */
static const struct pass pass = {.rows = TILE_ROWS, .fold = fold_halving, .order = order_halving};
static const struct shape columns = {.threads = TILE_COLUMNS};

size_t tiled_height(size_t n, struct shape shape)
{
    (void)shape;
    return passes_height(&pass, n, columns);
}

void tiled_order(struct order *o, struct shape shape)
{
    (void)shape;
    passes_order(&pass, o, columns);
}

/* The shape is a schedule. On the CPU, threads: 1 unless asked for, at most one a tile. On a GPU:
 * 256 threads to a block unless asked for; a block to each tile where they are few, else blocks
 * such that each warp has a tile, as far as they go. */
struct shape tiled_shape(size_t n, enum device_kind device, struct shape asked)
{
    size_t tiles = tiled_tiles(n) ? tiled_tiles(n) : 1;
    if (device == DEVICE_CPU) {
        size_t threads = asked.threads ? asked.threads : 1;
        threads = threads > THREADS_MAX ? THREADS_MAX : threads;
        return (struct shape){.threads = (unsigned)(threads > tiles ? tiles : threads)};
    }
    unsigned threads = asked.threads ? asked.threads : 256;
    threads = threads > TILE_THREADS_MAX ? TILE_THREADS_MAX : threads;
    size_t warps = (threads + 31) / 32, blocks = (tiles + warps - 1) / warps;
    if (tiles <= TILE_FEW && threads == TILE_COLUMNS)
        blocks = tiles;
    blocks = asked.blocks ? asked.blocks : blocks;
    return (struct shape){threads, blocks > BLOCKS_MAX ? BLOCKS_MAX : (unsigned)blocks};
}
