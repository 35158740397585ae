/* scan/lookback: a single pass with decoupled look-back (Merrill and Garland 2016).
 *
 * Order: none that anybody could name. A tile is scanned by itself and publishes its sum. To learn
 * the sum of all before it, it looks back over its predecessors, the nearest first: the sum of one
 * is added from the left to what was gathered so far; one that knows its prefix, everything up to
 * its own end, ends the search. Who knows what by when depends on timing, and with it which sums
 * are added to which.
 *
 * On the CPU tiles are 512 elements, scanned serially, and real threads race. */
#include "kernels/method/method.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "kernels/method/team.h"

enum { TILE = 512 };

enum tile_state { UNKNOWN, SUM_KNOWN, PREFIX_KNOWN };

struct tile {
    _Atomic enum tile_state state; /* released after what it announces, acquired before */
    double sum, prefix;            /* of the tile alone; of all up to its end */
};

struct work {
    const struct task *task;
    size_t tiles;
    atomic_size_t ticket;
    struct tile *tile;
};

/* The sum of all before tile k > 0. It cannot deadlock: tiles are taken in ascending order by
 * ticket, so that every predecessor has been taken by a thread that is running; and a thread makes
 * its tile's sum known before it waits. The first tile whose prefix is not yet known therefore
 * waits for running threads only, and a waiting thread yields the processor to them. */
static double look_back(const struct work *w, size_t k)
{
    enum format f = w->task->accumulator;
    double gathered = -0.0; /* the identity of a rounded addition */
    for (;;) {
        const struct tile *before = &w->tile[--k];
        enum tile_state state;
        while ((state = atomic_load_explicit(&before->state, memory_order_acquire)) == UNKNOWN)
            sched_yield();
        if (state == PREFIX_KNOWN)
            return format_add(f, before->prefix, gathered);
        gathered = format_add(f, before->sum, gathered);
    }
}

static void scan_tile(const struct work *w, size_t k)
{
    const struct task *t = w->task;
    struct tile *tile = &w->tile[k];
    enum format f = t->accumulator;
    size_t begin = k * TILE, count = t->of->in.n - begin < TILE ? t->of->in.n - begin : TILE;
    double v[TILE], before = -0.0;
    array_decode(&t->of->in, begin, count, v);
    for (size_t i = 0; i < count; i++) {
        v[i] = format_round(f, v[i]);
        if (i > 0)
            v[i] = format_add(f, v[i - 1], v[i]);
    }
    tile->sum = v[count - 1];
    if (k > 0) {
        atomic_store_explicit(&tile->state, SUM_KNOWN, memory_order_release);
        before = look_back(w, k);
    }
    tile->prefix = format_add(f, before, tile->sum);
    atomic_store_explicit(&tile->state, PREFIX_KNOWN, memory_order_release);

    if (t->of->exclusive) {
        memmove(v + 1, v, (count - 1) * sizeof *v);
        v[0] = -0.0;
    }
    for (size_t i = 0; i < count; i++)
        v[i] = format_add(f, before, v[i]);
    if (t->of->exclusive && k == 0)
        v[0] = 0; /* the sum of nothing */
    array_encode(&t->out, begin, count, v);
}

static void scan_tiles(void *context, unsigned thread)
{
    struct work *w = context;
    (void)thread;
    for (size_t k; (k = atomic_fetch_add(&w->ticket, 1)) < w->tiles;)
        scan_tile(w, k);
}

static size_t tiles_of(size_t n)
{
    return n / TILE + (n % TILE != 0);
}

static enum status cpu(const struct task *t, struct problem *p)
{
    struct work w = {.task = t, .tiles = tiles_of(t->of->in.n)};
    w.tile = malloc((w.tiles + 1) * sizeof *w.tile);
    if (!w.tile)
        return problem(p, STATUS_MEMORY, "device cpu: no memory for %zu tiles", w.tiles);
    atomic_init(&w.ticket, 0);
    for (size_t k = 0; k < w.tiles; k++)
        atomic_init(&w.tile[k].state, UNKNOWN);
    enum status status = team_run(t->shape.threads, scan_tiles, &w, p);
    free(w.tile);
    return status;
}

static struct shape resolve(size_t n, enum device_kind device, struct shape asked)
{
    size_t threads = asked.threads ? asked.threads : device == DEVICE_CPU ? 4 : 256;
    size_t most = device == DEVICE_CPU && tiles_of(n) < THREADS_MAX ? tiles_of(n) : THREADS_MAX;
    threads = threads > most ? most : threads;
    return (struct shape){.threads = threads ? (unsigned)threads : 1};
}

const struct method scan_lookback = {
    .name = "scan/lookback",
    .summary = "a single pass; tiles look back over their predecessors' sums and prefixes",
    .operation = &operation_scan,
    .promise = PROMISE_NONE,
    .shape_read = {SHAPE_THREADS, SHAPE_THREADS},
    .resolve = resolve,
    .bound = THEOREM_ANY_ORDER,
    .cpu = cpu,
};
