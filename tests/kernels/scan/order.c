/* Scans' orders against their words, written down a second time: as recursions that say what the
 * tree of one output is. Trees are compared as fingerprints that tell left from right. */
#include <criterion/criterion.h>

#include <stdlib.h>

#include "tests/support/holds_scan.h"
#include "tests/support/samples.h"
#include "tests/support/small_scan.h"

enum { NOTHING = 0 };

static uint64_t leaf(size_t i)
{
    uint64_t state = i;
    return sample_next(&state) | 1;
}

static uint64_t plus(uint64_t a, uint64_t b)
{
    if (a == NOTHING || b == NOTHING)
        return a == NOTHING ? b : a;
    uint64_t state = 3 * a + 5 * b;
    return sample_next(&state) | 1;
}

/* --- serial, Hillis and Steele, Blelloch --- */

static uint64_t serial(size_t begin, size_t count)
{
    uint64_t sum = NOTHING;
    for (size_t i = 0; i < count; i++)
        sum = plus(sum, leaf(begin + i));
    return sum;
}

/* The element at `end` after rounds that reach over `window` elements; unit(i) is what the i-th one
 * was before the first round. */
static uint64_t rounds(size_t end, size_t window, uint64_t (*unit)(size_t i, unsigned context),
                       unsigned context)
{
    if (window == 1)
        return unit(end, context);
    uint64_t last = rounds(end, window / 2, unit, context);
    if (end < window / 2)
        return last;
    return plus(rounds(end - window / 2, window / 2, unit, context), last);
}

static uint64_t element(size_t i, unsigned context)
{
    (void)context;
    return leaf(i);
}

static uint64_t aligned(size_t begin, size_t count)
{
    return count == 1 ? leaf(begin)
                      : plus(aligned(begin, count / 2), aligned(begin + count / 2, count / 2));
}

static uint64_t of_serial(size_t i, bool exclusive, unsigned threads)
{
    (void)threads;
    return serial(0, exclusive ? i : i + 1);
}

static uint64_t of_hillis_steele(size_t i, bool exclusive, unsigned threads)
{
    (void)threads;
    if (exclusive && i == 0)
        return NOTHING;
    return rounds(exclusive ? i - 1 : i, (size_t)1 << 20, element, 0);
}

/* Down from the root: a left child has its parent's prefix, a right one that and its sibling. */
static uint64_t of_blelloch(size_t i, bool exclusive, unsigned threads)
{
    (void)threads;
    uint64_t prefix = NOTHING;
    for (size_t half = (size_t)1 << 20, begin = 0; half > 0; half /= 2)
        if (i - begin >= half) {
            prefix = plus(prefix, aligned(begin, half));
            begin += half;
        }
    return exclusive ? prefix : plus(prefix, leaf(i));
}

/* --- three kernels --- */

/* Element i of a level: an element, or the sum of a tile of the level below, all of them whole. */
static uint64_t of_level(unsigned level, size_t i, unsigned threads)
{
    if (level == 0)
        return leaf(i);
    uint64_t v[4 * 8] = {0};
    for (unsigned t = 0; t < threads; t++)
        for (size_t j = 0; j < 4; j++)
            v[t] = plus(v[t], of_level(level - 1, (i * threads + t) * 4 + j, threads));
    for (unsigned s = 8; s > 0; s /= 2)
        for (unsigned t = 0; t < s && t + s < threads; t++)
            v[t] = plus(v[t], v[t + s]);
    return v[0];
}

static uint64_t three_kernel(unsigned level, size_t i, bool exclusive, unsigned threads)
{
    size_t tile = i / (4 * threads), thread = i / 4 % threads, inside = i % 4 + !exclusive;
    uint64_t before = tile > 0 ? three_kernel(level + 1, tile, true, threads) : NOTHING;
    uint64_t sum[8] = {0}, own = NOTHING;
    for (size_t t = 0; t < thread; t++)
        for (size_t j = 0; j < 4; j++)
            sum[t] = plus(sum[t], of_level(level, (tile * threads + t) * 4 + j, threads));
    for (size_t d = 1; d < 8; d *= 2)
        for (size_t t = 7; t >= d; t--)
            sum[t] = plus(sum[t - d], sum[t]);
    for (size_t j = 0; j < inside; j++)
        own = plus(own, of_level(level, i / 4 * 4 + j, threads));
    return plus(plus(before, thread > 0 ? sum[thread - 1] : NOTHING), own);
}

static uint64_t of_three_kernel(size_t i, bool exclusive, unsigned threads)
{
    return three_kernel(0, i, exclusive, threads);
}

/* --- tiled --- */

struct sizes {
    size_t chunk, parts[4]; /* chunks in a row, rows in a tile, tiles in a group, groups */
};
static const struct sizes small = {SMALL_CHUNK,
                                   {SMALL_CHUNKS, SMALL_ROWS, SMALL_GROUP, SMALL_GROUP}},
                          real = {16, {32, 8, 32, 32}};
static const struct sizes *sizes;

/* How many chunks a unit has: 0 a chunk, 1 a row, 2 a tile, 3 a group, 4 a super-group. */
static size_t chunks_in(unsigned unit)
{
    size_t chunks = 1;
    for (unsigned k = 0; k < unit; k++)
        chunks *= sizes->parts[k];
    return chunks;
}

/* `count` units from the one that begins at chunk `begin` on, by the adjacent rule: cut at the
 * largest power of two below count. */
static uint64_t adjacent(unsigned unit, size_t begin, size_t count)
{
    if (count == 0)
        return NOTHING;
    if (count == 1 && unit == 0)
        return serial(begin * sizes->chunk, sizes->chunk);
    if (count == 1)
        return adjacent(unit - 1, begin, sizes->parts[unit - 1]);
    size_t left = 1;
    while (2 * left < count)
        left *= 2;
    return plus(adjacent(unit, begin, left),
                adjacent(unit, begin + left * chunks_in(unit), count - left));
}

static uint64_t chunk_of_row(size_t c, unsigned first)
{
    return serial((first + c) * sizes->chunk, sizes->chunk);
}

static uint64_t of_tiled(size_t i, bool exclusive, unsigned threads)
{
    (void)threads;
    size_t chunk = i / sizes->chunk, begin[5], count[5]; /* units before, within the next larger */
    for (unsigned unit = 0; unit < 5; unit++) {
        size_t larger = chunks_in(unit + (unit < 4));
        begin[unit] = unit < 4 ? chunk / larger * larger : 0;
        count[unit] = (chunk - begin[unit]) / chunks_in(unit);
    }
    uint64_t supers = NOTHING;
    for (size_t k = 0; k < count[4]; k++)
        supers = plus(supers, adjacent(4, k * chunks_in(4), 1));
    uint64_t tiles =
        plus(plus(supers, adjacent(3, begin[3], count[3])), adjacent(2, begin[2], count[2]));
    uint64_t chunks = count[0] == 0
                          ? NOTHING
                          : rounds(count[0] - 1, (size_t)1 << 20, chunk_of_row, (unsigned)begin[0]);
    return plus(plus(tiles, plus(adjacent(1, begin[1], count[1]), chunks)),
                serial(chunk * sizes->chunk, i % sizes->chunk + !exclusive));
}

/* --- against what is declared --- */

/* The fingerprints of all outputs. The caller frees them. */
static uint64_t *trees_of(const struct method *m, size_t n, struct shape shape, bool exclusive)
{
    struct order o;
    order_init(&o, n, n);
    o.exclusive = exclusive;
    m->order(&o, shape);
    uint64_t *node = malloc((n + o.additions) * sizeof *node), *tree = malloc(n * sizeof *tree);
    cr_assert(node && tree && !o.failed);
    for (size_t i = 0; i < n; i++)
        node[i] = leaf(i);
    for (size_t k = 0; k < o.additions; k++)
        node[n + k] = plus(node[o.operand[k][0]], node[o.operand[k][1]]);
    for (size_t i = 0; i < n; i++)
        tree[i] = o.output[i] == ORDER_NOTHING ? NOTHING : node[o.output[i]];
    free(node);
    order_free(&o);
    return tree;
}

typedef uint64_t words(size_t i, bool exclusive, unsigned threads);

/* Every `step`-th output. */
static void hold(const struct method *m, size_t n, unsigned threads, words *due, size_t step)
{
    for (int exclusive = 0; exclusive < 2; exclusive++) {
        uint64_t *tree = trees_of(m, n, (struct shape){threads, 0}, exclusive);
        for (size_t i = 0; i < n; i += step)
            cr_assert(tree[i] == due(i, exclusive, threads),
                      "%s of %zu, T = %u, %s: output %zu is another tree", m->name, n, threads,
                      exclusive ? "exclusive" : "inclusive", i);
        free(tree);
    }
}

Test(scan_order, follows_its_words)
{
    static const size_t lengths[] = {1, 2, 3, 4, 5, 7, 8, 9, 31, 32, 33, 100, 300};
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        hold(method_named("scan/serial"), lengths[k], 0, of_serial, 1);
        hold(method_named("scan/hillis_steele"), lengths[k], 0, of_hillis_steele, 1);
        hold(method_named("scan/blelloch"), lengths[k], 0, of_blelloch, 1);
        for (unsigned threads = 1; threads <= 8; threads++)
            hold(method_named("scan/three_kernel"), lengths[k], threads, of_three_kernel, 1);
    }
    hold(method_named("scan/three_kernel"), 3000, 3, of_three_kernel, 7);
}

/* More than two super-groups of small units; and the units as they are. */
Test(scan_order, tiled_follows_its_words)
{
    sizes = &small;
    for (size_t n = 1; n < 100; n++)
        hold(&small_tiled, n, 0, of_tiled, 1);
    hold(&small_tiled, 3 * SMALL_SUPER + 50, 0, of_tiled, 1);
    hold(&small_compensated, 500, 0, of_tiled, 1);
    hold(&small_segmented, 500, 0, of_tiled, 1);
    sizes = &real;
    hold(method_named("scan/tiled"), 1200, 0, of_tiled, 1);
    hold(method_named("scan/tiled"), 70000, 0, of_tiled, 97);
}

static const struct method *const twin[] = {&small_tiled, &small_compensated, &small_segmented};
enum { TWINS = sizeof twin / sizeof *twin };

/* With small units every length has many of them. Without threads, which are slow to start. */
Test(scan_order, small_units_keep_every_claim)
{
    for (size_t k = 0; k < TWINS; k++) {
        char why[WHY] = "";
        struct method m = *twin[k];
        m.shape_read[DEVICE_CPU] = 0;
        cr_expect(holds_scan_order(&m, why), "small units: %s", why);
        cr_expect(holds_scan_walk(&m, why), "small units: %s", why);
    }
}

Test(scan_order, threads_share_small_units)
{
    enum { MOST = 3 * SMALL_SUPER };
    static double data[MOST], one[MOST], shared[MOST];
    static uint8_t heads[MOST];
    for (size_t n = 1; n < MOST; n += n < 60 ? 1 : 41) {
        struct scan_case c = {.in = {FP32, n, data},
                              .accumulator = FP32,
                              .output = FP32,
                              .exclusive = n % 2,
                              .heads =
                                  scan_heads(&(struct scan_variant){.one_in = 9}, heads, n, n)};
        sample_fill(&c.in, SAMPLE_NEAR, FP32, n);
        for (size_t k = 0; k < TWINS; k++)
            for (unsigned threads = 1; threads <= 5; threads++) {
                c.shape = method_shape(twin[k], DEVICE_CPU, n, (struct shape){threads, 0});
                cr_assert(scan_run(twin[k], &c, threads == 1 ? one : shared) == STATUS_OK);
                cr_assert(threads == 1 || memcmp(one, shared, array_bytes(FP32, n)) == 0,
                          "small units of %s: %zu elements, %u threads", twin[k]->name, n, threads);
            }
    }
}

/* Where the trees agree, an exclusive scan has the bits of the inclusive one, shifted. Returns in
 * how many places they do not. */
static size_t hold_shifted(const struct method *m, enum format f)
{
    enum { N = 2000 };
    static double data[N], before[N], upto[N];
    struct scan_case c = {.in = {f, N, data}, .accumulator = f, .output = f};
    struct array exclusive = {f, N, before}, inclusive = {f, N, upto};
    size_t agree = 0;
    c.shape = method_shape(m, DEVICE_CPU, N, (struct shape){0, 0});
    sample_fill(&c.in, SAMPLE_NEAR, f, f);
    cr_assert(scan_run(m, &c, upto) == STATUS_OK);
    c.exclusive = true;
    cr_assert(scan_run(m, &c, before) == STATUS_OK);
    uint64_t *shifted = trees_of(m, N, c.shape, true), *tree = trees_of(m, N, c.shape, false);
    for (size_t i = 1; i < N; i++) {
        bool same = shifted[i] == tree[i - 1];
        agree += same;
        cr_assert(!same || array_bits(&exclusive, i) == array_bits(&inclusive, i - 1),
                  "%s in %s: exclusive output %zu", m->name, format_facts[f].name, i);
    }
    free(shifted);
    free(tree);
    return N - 1 - agree;
}

Test(scan_order, exclusive_is_inclusive_shifted_where_the_trees_say_so)
{
    size_t held = 0;
    for (size_t i = 0; i < method_count; i++)
        for (enum format f = 0; f < ACCUMULATORS; f++) {
            const struct method *m = method_registry[i];
            if (m->operation != &operation_scan || !m->order || !m->cpu)
                continue;
            size_t others = hold_shifted(m, f);
            bool all =
                strcmp(m->name, "scan/serial") == 0 || strcmp(m->name, "scan/hillis_steele") == 0;
            cr_expect((others == 0) == all, "%s: %zu trees are not shifted ones", m->name, others);
            held++;
        }
    cr_expect(held >= 7 * ACCUMULATORS);
}
