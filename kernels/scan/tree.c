#include "kernels/scan/tree.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/scan/tiled.h"
#include "kernels/method/team.h"

enum { FOLD_MAX = SCAN_CHUNKS + SCAN_ROWS + SCAN_GROUP };

static const struct piece nothing;

static struct piece join(const struct tree *tree, struct piece a, struct piece b)
{
    if (!a.present || !b.present)
        return a.present ? a : b;
    if (b.head)
        return b;
    struct piece both = tree->add(tree->context, a, b);
    both.present = true;
    both.head = a.head;
    return both;
}

/* The adjacent fold of a copy. */
static struct piece fold(const struct tree *tree, const struct piece *v, size_t count)
{
    struct piece copy[FOLD_MAX] = {nothing};
    memcpy(copy, v, count * sizeof *v);
    for (size_t stride = 1; stride < count; stride *= 2)
        for (size_t i = 0; i + stride < count; i += 2 * stride)
            copy[i] = join(tree, copy[i], copy[i + stride]);
    return copy[0];
}

static size_t read_row(const struct tree *tree, size_t begin, struct piece *leaf)
{
    size_t count = tree->n - begin < SCAN_ROW ? tree->n - begin : SCAN_ROW;
    tree->read(tree->context, begin, count, leaf);
    return count;
}

/* inside[i] = the sum of the elements of i's chunk up to i, chunk[c] = the sum of chunk c. */
static void sum_chunks(const struct tree *tree, const struct piece *leaf, size_t count,
                       struct piece *inside, struct piece *chunk)
{
    struct piece running = nothing;
    for (size_t i = 0; i < count; i++) {
        running = i % SCAN_CHUNK > 0 ? join(tree, running, leaf[i]) : leaf[i];
        chunk[i / SCAN_CHUNK] = inside[i] = running;
    }
}

static struct piece sum_tile(const struct tree *tree, size_t tile)
{
    struct piece leaf[SCAN_ROW], inside[SCAN_ROW], chunk[SCAN_CHUNKS], row[SCAN_ROWS];
    for (size_t r = 0; r < SCAN_ROWS; r++) {
        size_t count = read_row(tree, tile * SCAN_TILE + r * SCAN_ROW, leaf);
        sum_chunks(tree, leaf, count, inside, chunk);
        row[r] = fold(tree, chunk, SCAN_CHUNKS);
    }
    return fold(tree, row, SCAN_ROWS);
}

/* A head at i has, in an exclusive scan, nothing before it. */
static struct piece prefix_of(const struct tree *tree, struct piece before, const struct piece *own,
                              size_t inside, bool head)
{
    if (!tree->exclusive)
        return join(tree, before, own[0]);
    if (head)
        return nothing;
    return inside > 0 ? join(tree, before, own[-1]) : before;
}

/* Returns the row's sum, where the row is whole. */
static struct piece scan_row(const struct tree *tree, size_t begin, struct piece tiles,
                             struct piece rows)
{
    struct piece leaf[SCAN_ROW], inside[SCAN_ROW], chunk[SCAN_CHUNKS], prefix[SCAN_ROW];
    size_t count = read_row(tree, begin, leaf);
    sum_chunks(tree, leaf, count, inside, chunk);
    size_t chunks = (count + SCAN_CHUNK - 1) / SCAN_CHUNK;
    for (size_t d = 1; d < chunks; d *= 2)
        for (size_t c = chunks - 1; c >= d; c--) /* downwards, to see the round's old ones */
            chunk[c] = join(tree, chunk[c - d], chunk[c]);
    for (size_t c = 0; c < chunks; c++) {
        struct piece seed = join(tree, tiles, join(tree, rows, c > 0 ? chunk[c - 1] : nothing));
        for (size_t i = c * SCAN_CHUNK; i < count && i < (c + 1) * SCAN_CHUNK; i++)
            prefix[i] = prefix_of(tree, seed, inside + i, i % SCAN_CHUNK, leaf[i].head);
    }
    tree->write(tree->context, begin, count, prefix);
    return chunk[chunks - 1];
}

/* Returns the tile's sum, where the tile is whole. */
static struct piece scan_tile(const struct tree *tree, size_t tile, struct piece tiles)
{
    struct piece row[SCAN_ROWS] = {nothing};
    size_t r = 0;
    for (size_t i = tile * SCAN_TILE; r < SCAN_ROWS && i < tree->n; r++, i += SCAN_ROW)
        row[r] = scan_row(tree, i, tiles, fold(tree, row, r));
    return fold(tree, row, r);
}

/* The sums of the first tiles, as far as the next ones need them. */
struct before {
    size_t tiles;
    struct piece super;             /* the super-groups before */
    struct piece group[SCAN_GROUP]; /* the groups before in the super-group */
    struct piece tile[SCAN_GROUP];  /* the tiles before in the group */
};

static struct piece sum_before(const struct tree *tree, const struct before *b)
{
    size_t tiles = b->tiles % SCAN_GROUP, groups = b->tiles / SCAN_GROUP % SCAN_GROUP;
    struct piece prefix = join(tree, b->super, fold(tree, b->group, groups));
    return join(tree, prefix, fold(tree, b->tile, tiles));
}

static void append(const struct tree *tree, struct before *b, struct piece sum)
{
    b->tile[b->tiles++ % SCAN_GROUP] = sum;
    if (b->tiles % SCAN_GROUP > 0)
        return;
    size_t groups = b->tiles / SCAN_GROUP;
    b->group[(groups - 1) % SCAN_GROUP] = fold(tree, b->tile, SCAN_GROUP);
    if (groups % SCAN_GROUP == 0)
        b->super = join(tree, b->super, fold(tree, b->group, SCAN_GROUP));
}

struct work {
    const struct tree *tree;
    unsigned threads;
    size_t tiles;
    struct piece *tile; /* of each: its sum, then the sum of all before it */
};

/* The last tile's sum is never asked for. */
static void sum_share(void *context, unsigned thread)
{
    const struct work *w = context;
    struct scan_share share = scan_tiled_share(w->tiles - 1, thread, w->threads);
    for (size_t k = share.first; k < share.first + share.count; k++)
        w->tile[k] = sum_tile(w->tree, k);
}

static void scan_share(void *context, unsigned thread)
{
    const struct work *w = context;
    struct scan_share share = scan_tiled_share(w->tiles, thread, w->threads);
    for (size_t k = share.first; k < share.first + share.count; k++)
        scan_tile(w->tree, k, w->tile[k]);
}

/* Reads the elements twice: sums of tiles, then prefixes. */
static enum status walk_shared(const struct tree *tree, size_t tiles, unsigned threads,
                               struct problem *p)
{
    struct work w = {tree, threads, tiles, calloc(tiles, sizeof *w.tile)};
    if (!w.tile)
        return problem(p, STATUS_MEMORY, "device cpu: no memory for %zu tile sums", tiles);
    enum status status = team_run(threads, sum_share, &w, p);
    struct before before = {.super = nothing};
    for (size_t k = 0; k < tiles; k++) {
        struct piece sum = w.tile[k];
        w.tile[k] = sum_before(tree, &before);
        append(tree, &before, sum);
    }
    if (status == STATUS_OK)
        status = team_run(threads, scan_share, &w, p);
    free(w.tile);
    return status;
}

enum status scan_tree_walk(const struct tree *tree, unsigned threads, struct problem *p)
{
    size_t tiles = tree->n / SCAN_TILE + (tree->n % SCAN_TILE != 0);
    if (threads > 1)
        return walk_shared(tree, tiles, threads, p);
    struct before before = {.super = nothing};
    for (size_t k = 0; k < tiles; k++)
        append(tree, &before, scan_tile(tree, k, sum_before(tree, &before)));
    return STATUS_OK;
}
