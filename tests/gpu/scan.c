/* Scans on a GPU: every output of every method, bit by bit that of its CPU twin or, where the order
 * is not fixed, within its bound. A look-back that waits for ever ends by an alarm. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "kernels/scan/tiled.h"
#include "tests/gpu/scan_runs.h"
#include "tests/support/samples.h"

enum { ROW = SCAN_ROW, TILE = SCAN_TILE, GROUP = TILE * SCAN_GROUP };

static void watch(void)
{
    alarm(240);
}

TestSuite(gpu_scan, .init = watch);

static char why[WHY], about[128];

enum { METHODS_MOST = 256 };
static bool failed[METHODS_MOST]; /* methods that have failed in this test: one case is told */

static void tell(size_t method)
{
    cr_assert(method < METHODS_MOST);
    cr_expect(false, "%s; %s", why, about);
    failed[method] = true;
}

/* An input in both memories. */
struct subject {
    struct array in;
    struct gpu_input *input;
};

static struct subject upload(struct array in, size_t offset)
{
    struct subject on = {in, NULL};
    struct problem p = {0};
    cr_assert_eq(gpu_upload(&on.input, 0, &in, offset, &p), STATUS_OK, "%s", p.text);
    return on;
}

static struct subject sample(enum format s, size_t n, enum sample kind, size_t offset)
{
    struct array in = {s, n, malloc(array_bytes(s, n) + 1)};
    cr_assert(in.data);
    sample_fill(&in, kind, (s + n) % ACCUMULATORS, n + kind);
    snprintf(about, sizeof about, "sample %s, offset %zu", sample_name[kind], offset);
    return upload(in, offset);
}

static void drop(struct subject *on)
{
    gpu_release(on->input);
    free(on->in.data);
}

/* What GPUs are asked for where a method reads it; 0: the method's choice. */
static const unsigned threads_asked[] = {0, 64, 1024, 33, 256, 1, 96, 512};
enum { SHAPES = sizeof threads_asked / sizeof *threads_asked };

static bool is_scan(const struct method *m)
{
    return m->operation == &operation_scan;
}

/* One thread over all elements takes long. */
static bool is_slow(const struct method *m)
{
    return strcmp(m->name, "scan/serial") == 0;
}

/* Every format that outputs may have, with and without the element itself, for every method and
 * accumulator; one in `one_in` of these, by turns. Where a method reads the launch shape, it is
 * asked for another each time. */
static void hold_all(const struct subject *on, const uint8_t *heads, unsigned one_in, size_t runs)
{
    static size_t turn;
    size_t asked = turn++;
    for (size_t i = 0; i < method_count; i++)
        for (unsigned k = 0; k < ACCUMULATORS * 4; k++) {
            const struct method *m = method_registry[i];
            enum format f = k / 4;
            struct scan_case c = {.in = on->in,
                                  .accumulator = f,
                                  .output = k / 2 % 2 ? on->in.format : f,
                                  .exclusive = k % 2,
                                  .heads = heads};
            if (failed[i] || !is_scan(m) || !method_supports(m, DEVICE_CUDA, on->in.format, f) ||
                (heads && !m->segmented) || (k / 2 % 2 && c.output == f) ||
                (is_slow(m) && on->in.n > 100000) || turn++ % one_in != 0)
                continue;
            if (m->shape_read[DEVICE_CUDA])
                c.shape.threads = threads_asked[asked++ % SHAPES];
            if (!gpu_scan_hold(m, &c, on->input, runs, why))
                tell(i);
        }
}

static void hold_length(size_t n, enum sample kind, size_t offset, unsigned one_in)
{
    for (enum format s = 0; s < ACCUMULATORS; s++) {
        struct subject on = sample(s, n, kind, offset);
        hold_all(&on, NULL, one_in, 2);
        drop(&on);
    }
}

Test(gpu_scan, short_lengths_agree)
{
    static const size_t lengths[] = {0,  1,  2,   3,   4,   5,   15,  16,  17,  31,  32,  33,  63,
                                     64, 65, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1000};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (enum sample kind = 0; kind < SAMPLES; kind++)
            hold_length(lengths[i], kind, 0, lengths[i] > 2 ? 3 : 1);
}

Test(gpu_scan, tile_edges_agree)
{
    static const size_t edges[] = {1023,
                                   1024,
                                   1025,
                                   2047,
                                   2048,
                                   2049,
                                   4095,
                                   4096,
                                   4097,
                                   TILE - ROW - 1,
                                   TILE - 1,
                                   TILE,
                                   TILE + 1,
                                   TILE + ROW,
                                   2 * TILE - 1,
                                   2 * TILE,
                                   2 * TILE + 1,
                                   16385,
                                   3 * TILE + ROW + 17,
                                   5 * TILE + 300};
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++)
        for (enum sample kind = i % 2; kind < SAMPLES; kind += 2)
            hold_length(edges[i], kind, 0, 3);
}

/* Beyond a group, which is as far as look-backs of a warp see at once, and beyond a super-group. */
Test(gpu_scan, many_tiles_agree)
{
    static const size_t lengths[] = {GROUP - 1, GROUP, GROUP + 1, 33 * TILE + 17, 70 * TILE + 1};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        hold_length(lengths[i], i % SAMPLES, 0, 7);
    hold_length((size_t)SCAN_GROUP * GROUP + TILE + 33, SAMPLE_NEAR, 0, 31);
    hold_length((size_t)SCAN_GROUP * GROUP + 2 * GROUP + 1, SAMPLE_WIDE, 0, 31);
}

/* Loads as wide as the alignment allows must not change what is added to what. */
Test(gpu_scan, misaligned_inputs_agree)
{
    static const size_t lengths[] = {1, 3, 33, 1000, TILE - 1, TILE, TILE + 1, 3 * TILE + 5};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (size_t offset = 1; offset <= 3; offset++)
            hold_length(lengths[i], (i + offset) % SAMPLES, offset, 3);
}

/* --- segments --- */

enum cut {
    CUT_ALL,
    CUT_SOME,
    CUT_FEW,
    CUT_TILES,
    CUT_BEFORE,
    CUT_BEHIND,
    CUT_CHUNKS,
    CUT_ONCE,
    CUTS
};
static const char *const cut_name[CUTS] = {"every element",     "one in 3",         "one in 5000",
                                           "each tile's first", "each tile's last", "each second",
                                           "around chunks",     "the middle"};

static void cut(uint8_t *heads, size_t n, enum cut how)
{
    uint64_t seed = n + how;
    for (size_t i = 0; i < n; i++) {
        size_t in_tile = i % TILE;
        bool at[CUTS] = {[CUT_ALL] = true,
                         [CUT_SOME] = sample_next(&seed) % 3 == 0,
                         [CUT_FEW] = sample_next(&seed) % 5000 == 0,
                         [CUT_TILES] = in_tile == 0,
                         [CUT_BEFORE] = in_tile == TILE - 1,
                         [CUT_BEHIND] = in_tile == 1,
                         [CUT_CHUNKS] = i % SCAN_CHUNK == i / ROW % SCAN_CHUNK,
                         [CUT_ONCE] = i == n / 2};
        heads[i] = at[how] ? (uint8_t)(1 + seed % 255) : 0; /* any but 0 is a head */
    }
}

Test(gpu_scan, segments_agree)
{
    static const size_t lengths[] = {
        1, 2, 33, 1000, TILE - 1, TILE + 1, 2 * TILE, 5 * TILE + 300, GROUP + TILE + 3};
    static uint8_t heads[GROUP + TILE + 3];
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (enum format s = 0; s < ACCUMULATORS; s++) {
            struct subject on = sample(s, lengths[i], (i + s) % SAMPLES, s % 2);
            for (enum cut how = 0; how < CUTS; how++) {
                cut(heads, lengths[i], how);
                snprintf(about, sizeof about, "sample %s, heads: %s",
                         sample_name[(i + s) % SAMPLES], cut_name[how]);
                hold_all(&on, heads, 1, 2);
            }
            drop(&on);
        }
}

/* A head in the last of more than 1024 tiles, one in the first, and nothing between. */
Test(gpu_scan, long_segments_agree)
{
    size_t n = (size_t)SCAN_GROUP * GROUP + 3 * TILE + 33;
    uint8_t *heads = calloc(n, 1);
    struct subject on = sample(FP32, n, SAMPLE_NEAR, 0);
    cr_assert(heads);
    heads[5] = heads[n - TILE - 100] = 1;
    hold_all(&on, heads, 1, 2);
    drop(&on);
    free(heads);
}

/* --- values that no rounding hides --- */

static void hold_specials(const struct array *in, const uint8_t *heads)
{
    struct subject on = upload(*in, 0);
    for (size_t i = 0; i < method_count; i++)
        for (unsigned k = 0; k < ACCUMULATORS * 2; k++) {
            const struct method *m = method_registry[i];
            struct scan_case c = {.in = *in,
                                  .accumulator = k / 2,
                                  .output = k / 2,
                                  .exclusive = k % 2,
                                  .heads = m->segmented ? heads : NULL};
            if (!failed[i] && is_scan(m) &&
                method_supports(m, DEVICE_CUDA, in->format, c.accumulator) &&
                !gpu_scan_hold_specials(m, &c, on.input, why))
                tell(i);
        }
    gpu_release(on.input);
}

/* Numbers in [1, 2), zeros of one sign or both at the beginning, and what is set by the caller. */
static void fill_positive(struct array *in, size_t zeros, bool plus)
{
    uint64_t seed = in->n + zeros;
    for (size_t i = 0; i < in->n; i++) {
        double x = 1 + (double)(sample_next(&seed) >> 12) * 0x1p-53;
        x = i >= zeros ? x : plus && i > zeros / 2 ? 0.0 : -0.0;
        array_encode(in, i, 1, &x);
    }
}

Test(gpu_scan, special_values)
{
    enum { N = 2 * TILE + 700 };
    static const double values[][2] = {
        {INFINITY, 1}, {-INFINITY, 1}, {NAN, 1}, {INFINITY, -INFINITY}, {INFINITY, INFINITY}};
    static const size_t places[][2] = {{0, 1},          {16, 17},         {ROW - 1, ROW},
                                       {100, TILE - 1}, {TILE, TILE + 1}, {TILE + 700, N - 1}};
    static double data[N];
    static uint8_t heads[N];
    cut(heads, N, CUT_BEHIND);
    heads[700] = heads[TILE + 900] = 1;
    for (enum format s = 0; s < ACCUMULATORS; s++)
        for (size_t v = 0; v < sizeof values / sizeof *values; v++)
            for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
                struct array in = {s, N, data};
                fill_positive(&in, 0, false);
                array_encode(&in, places[k][0], 1, &values[v][0]);
                array_encode(&in, places[k][1], 1, &values[v][1]);
                snprintf(about, sizeof about, "%g at %zu, %g at %zu", values[v][0], places[k][0],
                         values[v][1], places[k][1]);
                hold_specials(&in, v % 2 ? heads : NULL);
            }
}

Test(gpu_scan, signs_of_zeros)
{
    enum { N = 3 * TILE + 5 };
    static const size_t zeros[] = {0, 1, 2, 33, 1000, TILE, TILE + 1, 2 * TILE + 100, N};
    static double data[N];
    for (enum format s = 0; s < ACCUMULATORS; s++)
        for (size_t k = 0; k < sizeof zeros / sizeof *zeros; k++)
            for (size_t n = 1; n <= N; n = n == 1 ? 40 : n == 40 ? N : N + 1) {
                struct array in = {s, n, data};
                bool plus = (k + s) % 2;
                fill_positive(&in, zeros[k], plus);
                snprintf(about, sizeof about, "%zu zeros at the beginning, %s", zeros[k],
                         plus ? "then +0" : "all -0");
                hold_specials(&in, NULL);
            }
}

/* A little of everything, for runs under a sanitizer. */
Test(gpu_scan, tour)
{
    static const size_t lengths[] = {0, 1, 33, 1500, TILE + 100, 3 * TILE + 17};
    static uint8_t heads[3 * TILE + 17];
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (enum format s = 0; s < ACCUMULATORS; s++) {
            struct subject on = sample(s, lengths[i], SAMPLE_NEAR, i % 2);
            hold_all(&on, NULL, lengths[i] > 1000 ? 5 : 7, 2);
            cut(heads, lengths[i], CUT_SOME);
            hold_all(&on, heads, 5, 2);
            drop(&on);
        }
}
