/* scan/tiled: the flagship, a single pass with an order from n alone.
 *
 * Order: a chunk is 16 consecutive elements, a row 32 chunks, a tile 8 rows (4096 elements), a
 * group 32 tiles, a super-group 32 groups. Sums: the elements of a chunk are added serially; the
 * chunks of a row, the rows of a tile, the tiles of a group and the groups of a super-group by the
 * adjacent rule (neighbours first, an odd one out passing on; kernels/method/order.h); super-groups
 * serially. The prefix of an element is
 *
 *     (before its tile + before its chunk) + inside its chunk, where
 *     before its tile:   (the super-groups before + the groups before in its super-group)
 *                        + the tiles before in its group;
 *     before its chunk:  the rows before in its tile + the chunks before in its row;
 *     inside its chunk:  the elements up to it or, where the scan is exclusive, before it.
 *
 * Each of the five sums "before" is folded as said above, but for the chunks before in its row:
 * they are scanned as in scan/hillis_steele, which gives a whole row the sum that the adjacent rule
 * does. What covers no element is skipped.
 *
 * So an element costs two additions and a little; the long way of a tile's prefix ends in one
 * addition for each chunk and then one for each element, none waiting for another; and four
 * roundings, beside those of the chain of super-groups, are of the size of the prefix itself. All
 * that is added lies before the element and is whole: the tree depends on i alone, and the scan of
 * a longer array begins with the same bits. Threads and blocks are a schedule.
 *
 * Places for what covers no element hold -0, the identity of a rounded addition. */
#include "kernels/scan/tiled.h"

#include <stdlib.h>

#include "kernels/method/fold.h"
#include "kernels/method/team.h"

#define INLINE static inline __attribute__((always_inline))

/* By columns, so that the additions of all chunks of a row become vector code. */
typedef double row[SCAN_CHUNK][SCAN_CHUNKS];

/* running[j][c] = the sum of elements 0 .. j of chunk c. */
INLINE void sum_chunks(enum format f, const struct array *in, size_t begin, size_t count,
                       row running)
{
    double x[SCAN_ROW];
    array_decode(in, begin, count, x);
    for (size_t i = count; i < SCAN_ROW; i++)
        x[i] = -0.0;
    for (size_t c = 0; c < SCAN_CHUNKS; c++)
        for (size_t j = 0; j < SCAN_CHUNK; j++)
            running[j][c] = x[c * SCAN_CHUNK + j];
    for (size_t c = 0; c < SCAN_CHUNKS; c++)
        running[0][c] = format_round(f, running[0][c]);
    for (size_t j = 1; j < SCAN_CHUNK; j++)
        for (size_t c = 0; c < SCAN_CHUNKS; c++)
            running[j][c] = format_add(f, running[j - 1][c], format_round(f, running[j][c]));
}

/* before[c] = the sum of the chunks before chunk c; returns the row's sum. */
INLINE double scan_chunks(enum format f, const row running, double *before)
{
    double v[SCAN_CHUNKS], old[SCAN_CHUNKS];
    memcpy(v, running[SCAN_CHUNK - 1], sizeof v);
    for (size_t d = 1; d < SCAN_CHUNKS; d *= 2) {
        memcpy(old, v, sizeof v);
        for (size_t c = d; c < SCAN_CHUNKS; c++)
            v[c] = format_add(f, old[c - d], old[c]);
    }
    before[0] = -0.0;
    memcpy(before + 1, v, (SCAN_CHUNKS - 1) * sizeof *v);
    return v[SCAN_CHUNKS - 1];
}

/* The adjacent fold of a copy; -0 where count is 0. */
INLINE double fold_copy(enum format f, const double *v, size_t count)
{
    double copy[SCAN_GROUP > SCAN_ROWS ? SCAN_GROUP : SCAN_ROWS] = {-0.0};
    memcpy(copy, v, count * sizeof *v);
    return fold_adjacent(f, copy, count);
}

INLINE double sum_tile(enum format f, const struct array *in, size_t tile)
{
    double sum[SCAN_ROWS];
    for (size_t r = 0; r < SCAN_ROWS; r++) {
        row running;
        sum_chunks(f, in, tile * SCAN_TILE + r * SCAN_ROW, SCAN_ROW, running);
        sum[r] = fold_adjacent(f, running[SCAN_CHUNK - 1], SCAN_CHUNKS);
    }
    return fold_adjacent(f, sum, SCAN_ROWS);
}

/* Makes running[][] the prefixes. */
INLINE void add_seeds(enum format f, row running, const double *seed, bool exclusive)
{
    if (exclusive) {
        memmove(running + 1, running, sizeof(row) - sizeof *running);
        for (size_t c = 0; c < SCAN_CHUNKS; c++)
            running[0][c] = -0.0;
    }
    for (size_t j = 0; j < SCAN_CHUNK; j++)
        for (size_t c = 0; c < SCAN_CHUNKS; c++)
            running[j][c] = format_add(f, seed[c], running[j][c]);
}

/* Returns the tile's sum, where the tile is whole. */
INLINE double scan_tile(enum format f, const struct task *t, size_t tile, double prefix)
{
    double sum[SCAN_ROWS], seed[SCAN_CHUNKS], out[SCAN_ROW];
    size_t r = 0;
    for (size_t i = tile * SCAN_TILE; r < SCAN_ROWS && i < t->of->in.n; r++, i += SCAN_ROW) {
        row running;
        size_t count = t->of->in.n - i < SCAN_ROW ? t->of->in.n - i : SCAN_ROW;
        sum_chunks(f, &t->of->in, i, count, running);
        sum[r] = scan_chunks(f, running, seed);
        double rows = fold_copy(f, sum, r);
        for (size_t c = 0; c < SCAN_CHUNKS; c++)
            seed[c] = format_add(f, prefix, format_add(f, rows, seed[c]));
        add_seeds(f, running, seed, t->of->exclusive);
        for (size_t c = 0; c < SCAN_CHUNKS; c++)
            for (size_t j = 0; j < SCAN_CHUNK; j++)
                out[c * SCAN_CHUNK + j] = running[j][c];
        if (t->of->exclusive && i == 0)
            out[0] = 0; /* the sum of nothing */
        array_encode(&t->out, i, count, out);
    }
    return fold_adjacent(f, sum, r);
}

static double sum_any_tile(const struct task *t, size_t tile)
{
    switch ((enum accumulator)t->accumulator) {
    case IN_FP16:
        return sum_tile(FP16, &t->of->in, tile);
    case BF16:
        return sum_tile(BF16, &t->of->in, tile);
    case IN_FP32:
        return sum_tile(FP32, &t->of->in, tile);
    case IN_FP64:
        break;
    }
    return sum_tile(FP64, &t->of->in, tile);
}

static double scan_any_tile(const struct task *t, size_t tile, double prefix)
{
    switch ((enum accumulator)t->accumulator) {
    case IN_FP16:
        return scan_tile(FP16, t, tile, prefix);
    case IN_BF16:
        return scan_tile(BF16, t, tile, prefix);
    case IN_FP32:
        return scan_tile(FP32, t, tile, prefix);
    case IN_FP64:
        break;
    }
    return scan_tile(FP64, t, tile, prefix);
}

/* The sums of the first tiles, as far as the next ones need them. */
struct before {
    size_t tiles;
    double super;             /* the super-groups before */
    double group[SCAN_GROUP]; /* the groups before in the super-group */
    double tile[SCAN_GROUP];  /* the tiles before in the group */
};

static double sum_before(enum format f, const struct before *b)
{
    size_t tiles = b->tiles % SCAN_GROUP, groups = b->tiles / SCAN_GROUP % SCAN_GROUP;
    double prefix = format_add(f, b->super, fold_copy(f, b->group, groups));
    return format_add(f, prefix, fold_copy(f, b->tile, tiles));
}

static void append(enum format f, struct before *b, double sum)
{
    b->tile[b->tiles++ % SCAN_GROUP] = sum;
    if (b->tiles % SCAN_GROUP > 0)
        return;
    size_t groups = b->tiles / SCAN_GROUP;
    b->group[(groups - 1) % SCAN_GROUP] = fold_copy(f, b->tile, SCAN_GROUP);
    if (groups % SCAN_GROUP == 0)
        b->super = format_add(f, b->super, fold_copy(f, b->group, SCAN_GROUP));
}

struct work {
    const struct task *task;
    size_t tiles;
    double *tile; /* of each: its sum, then the sum of all before it */
};

/* The last tile's sum is never asked for. */
static void sum_share(void *context, unsigned thread)
{
    const struct work *w = context;
    struct scan_share share = scan_tiled_share(w->tiles - 1, thread, w->task->shape.threads);
    for (size_t k = share.first; k < share.first + share.count; k++)
        w->tile[k] = sum_any_tile(w->task, k);
}

static void scan_share(void *context, unsigned thread)
{
    const struct work *w = context;
    struct scan_share share = scan_tiled_share(w->tiles, thread, w->task->shape.threads);
    for (size_t k = share.first; k < share.first + share.count; k++)
        scan_any_tile(w->task, k, w->tile[k]);
}

/* Reads the elements twice: sums of tiles, then prefixes. */
static enum status scan_shared(const struct task *t, size_t tiles, struct problem *p)
{
    enum format f = t->accumulator;
    struct work w = {t, tiles, calloc(tiles, sizeof *w.tile)};
    if (!w.tile)
        return problem(p, STATUS_MEMORY, "device cpu: no memory for %zu tile sums", tiles);
    enum status status = team_run(t->shape.threads, sum_share, &w, p);
    struct before before = {.super = -0.0};
    for (size_t k = 0; k < tiles; k++) {
        double sum = w.tile[k];
        w.tile[k] = sum_before(f, &before);
        append(f, &before, sum);
    }
    if (status == STATUS_OK)
        status = team_run(t->shape.threads, scan_share, &w, p);
    free(w.tile);
    return status;
}

static enum status cpu(const struct task *t, struct problem *p)
{
    enum format f = t->accumulator;
    size_t tiles = t->of->in.n / SCAN_TILE + (t->of->in.n % SCAN_TILE != 0);
    if (t->shape.threads > 1)
        return scan_shared(t, tiles, p);
    struct before before = {.super = -0.0};
    for (size_t k = 0; k < tiles; k++)
        append(f, &before, scan_any_tile(t, k, sum_before(f, &before)));
    return STATUS_OK;
}

const struct method scan_tiled = {
    .name = "scan/tiled",
    .summary = "tiles of 8 rows of 32 chunks of 16, groups of tiles: order from n alone, fast",
    .operation = &operation_scan,
    .promise = PROMISE_GPU_TO_GPU,
    .shape_read = {SHAPE_THREADS, 0},
    .resolve = scan_tiled_shape,
    .bound = THEOREM_TREE,
    .height = scan_tiled_height,
    .prefix_height = scan_tiled_prefix_height,
    .order = scan_tiled_order,
    .cpu = cpu,
};
