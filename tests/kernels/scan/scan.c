/* What scans claim beside their orders: at lengths where every sum is exact, across heads, under
 * contention, and of arrays that grow. */
#include <criterion/criterion.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "kernels/scan/tiled.h"
#include "tests/support/holds_scan.h"
#include "tests/support/samples.h"

static void run(const struct method *m, struct scan_case *c, unsigned threads, void *out)
{
    c->shape = method_shape(m, DEVICE_CPU, c->in.n, (struct shape){threads, 0});
    cr_assert(scan_run(m, c, out) == STATUS_OK, "%s", m->name);
}

/* Whole numbers of which every contiguous sum is small: whoever adds what to what, whatever is
 * left out or twice shows. */
static void fill_walk(const struct array *a, int reach, uint64_t seed)
{
    int total = 0;
    for (size_t i = 0; i < a->n; i++) {
        int step = (int)(sample_next(&seed) % 3) - 1;
        step = abs(total + step) > reach ? -step : step;
        total += step;
        array_encode(a, i, 1, &(double){step});
    }
}

static void expect_walk(const char *what, const struct scan_case *c, const void *data)
{
    struct array out = {c->output, c->in.n, (void *)data};
    double total = 0;
    for (size_t i = 0; i < c->in.n; i++) {
        double before = total;
        total += array_get(&c->in, i);
        double want = c->exclusive ? before : total, got = array_get(&out, i);
        cr_assert(got == want, "%s: output %zu is %g, expected %g", what, i, got, want);
    }
}

/* Beyond a super-group of 32 groups of 32 tiles. */
Test(scan, nothing_is_lost_in_a_long_array)
{
    enum { N = SCAN_TILE * SCAN_GROUP * SCAN_GROUP + SCAN_TILE + 100 };
    static const char *const names[] = {"scan/tiled", "scan/compensated", "scan/lookback",
                                        "scan/blelloch", "scan/three_kernel"};
    void *data = malloc(N * sizeof(uint16_t)), *out = malloc(N * sizeof(float));
    cr_assert(data && out);
    struct scan_case c = {.in = {FP16, N, data}, .accumulator = FP32, .output = FP32};
    fill_walk(&c.in, 1000, 3);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        const struct method *m = method_named(names[k]);
        c.exclusive = k % 2;
        run(m, &c, m->shape_order ? 0 : k % 2 ? 3 : 1, out);
        expect_walk(names[k], &c, out);
    }
    free(data);
    free(out);
}

/* Far more threads than processors: whoever holds the tile that others wait for may not be
 * running. */
Test(scan, look_back_waits_for_threads_that_sleep)
{
    enum { N = 2000000 };
    static uint16_t data[N];
    static float out[N];
    struct scan_case c = {.in = {FP16, N, data}, .accumulator = FP32, .output = FP32};
    fill_walk(&c.in, 1000, 5);
    for (unsigned threads = 2; threads <= 128; threads *= 4) {
        c.exclusive = threads % 3 == 0;
        run(method_named("scan/lookback"), &c, threads, out);
        expect_walk("scan/lookback", &c, out);
    }
}

/* The tree of an element does not depend on how many follow. */
Test(scan, a_longer_array_begins_with_the_same_bits)
{
    enum { N = 3 * SCAN_TILE };
    static const size_t lengths[] = {1,   15,   16,   17,   511,           512,
                                     513, 1000, 4097, 8191, SCAN_TILE + 1, 2 * SCAN_TILE + 700};
    static double data[N], whole[N], part[N];
    for (size_t i = 0; i < method_count; i++) {
        const struct method *m = method_registry[i];
        if (m->operation != &operation_scan || m->promise < PROMISE_GPU_TO_GPU)
            continue;
        for (enum format f = 0; f < ACCUMULATORS; f++) {
            struct scan_case c = {.in = {f, N, data}, .accumulator = f, .output = f};
            sample_fill(&c.in, SAMPLE_NEAR, f, f);
            c.exclusive = f % 2;
            run(m, &c, 1, whole);
            for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
                c.in.n = lengths[k];
                run(m, &c, 1, part);
                cr_assert(memcmp(part, whole, array_bytes(f, c.in.n)) == 0,
                          "%s in %s: %zu elements of %d", m->name, format_facts[f].name, c.in.n, N);
            }
        }
    }
}

/* From an inf on prefixes are inf, from another one of the other sign on NaN, and none before. */
Test(scan, infinities_begin_where_they_stand)
{
    enum { N = SCAN_TILE + 300, FIRST = 700, SECOND = SCAN_TILE + 40 };
    static double data[N], out[N];
    for (size_t k = 0; k < method_count * ACCUMULATORS * 2; k++) {
        const struct method *m = method_registry[k / 2 / ACCUMULATORS];
        enum format f = k / 2 % ACCUMULATORS;
        if (m->operation != &operation_scan || !m->cpu)
            continue;
        struct scan_case c = {
            .in = {f, N, data}, .accumulator = f, .output = f, .exclusive = k % 2};
        struct array result = {f, N, out};
        fill_walk(&c.in, 20, k);
        array_encode(&c.in, FIRST, 1, &(double){-INFINITY});
        array_encode(&c.in, SECOND, 1, &(double){INFINITY});
        run(m, &c, 1, out);
        for (size_t i = 0; i < N; i++) {
            size_t last = i - c.exclusive; /* covered; not for i = 0 */
            double got = array_get(&result, i);
            bool fine = i == 0 || last < FIRST ? isfinite(got)
                        : last < SECOND        ? got == -INFINITY
                                               : isnan(got);
            cr_assert(fine, "%s in %s, %s: output %zu is %g", m->name, format_facts[f].name,
                      c.exclusive ? "exclusive" : "inclusive", i, got);
        }
    }
}

/* Zeros of negative sign add up to -0 however far the scan has come; only nothing is +0. */
Test(scan, negative_zeros_stay_negative)
{
    enum { N = SCAN_TILE + 1025 };
    static float data[N], out[N];
    for (size_t k = 0; k < 2 * method_count; k++) {
        const struct method *m = method_registry[k / 2];
        struct scan_case c = {.in = {FP32, N, data}, FP32, FP32, .exclusive = k % 2};
        if (m->operation != &operation_scan || !m->cpu)
            continue;
        for (size_t i = 0; i < N; i++)
            data[i] = -0.0f;
        run(m, &c, 1, out);
        for (size_t i = 0; i < N; i++)
            cr_assert(out[i] == 0 && !signbit(out[i]) == (c.exclusive && i == 0),
                      "%s, %s: output %zu is %g", m->name, c.exclusive ? "exclusive" : "inclusive",
                      i, out[i]);
    }
}

/* --- segments --- */

enum { N = 3 * SCAN_TILE + 100 };

/* Segments of 1 .. 40 elements from -3 to 3, in every third of them, at some place, what must not
 * leak. */
static void fill_segments(const struct array *a, uint8_t *heads, uint64_t seed)
{
    static const double poison[] = {INFINITY, -INFINITY, NAN};
    size_t left = 0, poisoned = 0;
    for (size_t i = 0; i < a->n; i++, left--) {
        heads[i] = left == 0;
        if (left == 0) {
            left = 1 + sample_next(&seed) % 40;
            poisoned = sample_next(&seed) % 3 ? 0 : 1 + sample_next(&seed) % left;
        }
        double x = (double)(sample_next(&seed) % 7) - 3;
        array_encode(a, i, 1, left == poisoned ? &poison[sample_next(&seed) % 3] : &x);
    }
}

Test(scan, nothing_crosses_a_head)
{
    static double data[N], out[N];
    static uint8_t heads[N];
    const struct method *m = method_named("scan/segmented");
    for (unsigned k = 0; k < 2 * ACCUMULATORS * ACCUMULATORS; k++) {
        enum format s = k / 2 / ACCUMULATORS, f = k / 2 % ACCUMULATORS;
        struct scan_case c = {
            .in = {s, N, data}, .accumulator = f, .output = f, .exclusive = k % 2, .heads = heads};
        struct array result = {f, N, out};
        fill_segments(&c.in, heads, k);
        run(m, &c, k % 3 + 1, out);
        double total = 0;
        for (size_t i = 0; i < N; i++) {
            total = heads[i] ? 0 : total;
            double before = total;
            total += array_get(&c.in, i);
            double want = c.exclusive ? before : total, got = array_get(&result, i);
            cr_assert(got == want || (isnan(got) && isnan(want)),
                      "%s in %s, %s: output %zu is %g, expected %g", format_facts[s].name,
                      format_facts[f].name, c.exclusive ? "exclusive" : "inclusive", i, got, want);
        }
    }
}

Test(scan, the_first_segment_is_scanned_as_an_array)
{
    static double data[N], out[N], whole[N];
    static uint8_t heads[N];
    const struct method *segmented = method_named("scan/segmented"),
                        *tiled = method_named("scan/tiled");
    for (unsigned k = 0; k < 2 * ACCUMULATORS * ACCUMULATORS; k++) {
        enum format s = k / 2 / ACCUMULATORS, f = k / 2 % ACCUMULATORS;
        struct scan_case c = {
            .in = {s, N, data}, .accumulator = f, .output = f, .exclusive = k % 2};
        sample_fill(&c.in, SAMPLE_NEAR, f, k);
        run(tiled, &c, 2, whole);
        run(segmented, &c, 3, out);
        cr_assert(memcmp(out, whole, array_bytes(f, N)) == 0, "without heads");
        size_t head = 1 + k * (N - 2) / (2 * ACCUMULATORS * ACCUMULATORS);
        memset(heads, 0, sizeof heads);
        heads[head] = 1;
        c.heads = heads;
        run(segmented, &c, 3, out);
        cr_assert(memcmp(out, whole, array_bytes(f, head)) == 0, "up to the head at %zu", head);
    }
}
