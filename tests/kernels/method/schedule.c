/* Threads are a schedule: what promises an order from n alone gives the same bits whoever adds
 * what, also where n is no multiple of anything, and where there are more threads than there is
 * work. */
#include <criterion/criterion.h>

#include <math.h>

#include "experiments/runs/probe.h"
#include "tests/support/holds.h"
#include "tests/support/samples.h"

enum { MOST = 10007, BINS = 7 };

static bool is_scheduled(const struct method *m)
{
    return m->cpu && !m->foreign && m->promise >= PROMISE_GPU_TO_GPU &&
           (m->shape_read[DEVICE_CPU] & SHAPE_THREADS) && !m->operation->matrix &&
           method_supports(m, DEVICE_CPU, FP32, FP32);
}

/* Every third element is kept; a NaN stands before an infinity where they are asked for. */
static size_t run(const struct method *m, size_t n, unsigned threads, bool specials, float *bits)
{
    static uint8_t mask[MOST];
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        mask[i] = i % 3 == 0 ? 2 : 0; /* any flag but 0 keeps */
        kept += mask[i] != 0;
    }
    const struct operation *o = m->operation;
    struct probe *probe;
    struct problem p = {0};
    struct probe_spec spec = {.method = m,
                              .storage = FP32,
                              .accumulator = FP32,
                              .output = FP32,
                              .n = n,
                              .shape = {threads, 0},
                              .mask = o->mask ? mask : NULL,
                              .bins = o->mask   ? kept
                                      : o->keys ? BINS
                                                : 0};
    cr_assert(probe_open(&probe, &spec, &p) == STATUS_OK, "%s: %s", m->name, p.text);
    struct array in = probe_input(probe), out = {FP32, o->outputs(n, spec.bins), bits};
    sample_fill(&in, SAMPLE_NEAR, FP32, n);
    if (specials) {
        ((float *)in.data)[1] = NAN;
        ((float *)in.data)[n - 1] = INFINITY;
    }
    for (size_t i = 0; o->keys && i < n; i++)
        probe_keys(probe)[i] = (uint32_t)(i * i % BINS);
    cr_assert(probe_run(probe, &out, &p) == STATUS_OK, "%s: %s", m->name, p.text);
    probe_close(probe);
    return out.n;
}

Test(schedule, threads_do_not_show)
{
    static const size_t lengths[] = {2, 5, 2047, 2049, MOST};
    static float one[MOST], other[MOST];
    size_t held = 0;
    for (size_t i = 0; i < method_count; i++) {
        const struct method *m = method_registry[i];
        if (!is_scheduled(m))
            continue;
        for (size_t k = 0; k < 2 * sizeof lengths / sizeof *lengths; k++)
            for (unsigned threads = 2; threads <= 6; threads += threads == 3 ? 3 : 1) {
                size_t n = lengths[k / 2], count = run(m, n, 1, k % 2, one);
                cr_assert_eq(run(m, n, threads, k % 2, other), count);
                cr_expect(memcmp(one, other, count * sizeof *one) == 0,
                          "%s, n = %zu: %u threads give other bits than one", m->name, n, threads);
            }
        held++;
    }
    cr_expect(held > 20, "%zu methods", held);
}

/* A NaN in an early share stays one beside an infinity in a late one. */
Test(schedule, nan_stays_beside_infinity)
{
    static const char *const names[] = {"norm/scaled", "norm/exact", "sum/tiled",
                                        "sum/binned",  "sum/exact",  "dot/tiled"};
    float sum;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (unsigned threads = 1; threads <= 4; threads++) {
            run(method_named(names[i]), MOST, threads, true, &sum);
            cr_expect(isnan(sum), "%s with %u threads: %g", names[i], threads, sum);
        }
}

/* No more threads than tiles, shares or elements to add. */
Test(schedule, threads_without_work_are_not_started)
{
    static const struct {
        const char *name;
        size_t n;
        unsigned threads;
    } due[] = {{"sum/tiled", 1, 1},     {"sum/tiled", 2049, 2},   {"sum/exact", 4097, 3},
               {"sum/binned", 2047, 1}, {"sum/binned", 2048, 2},  {"sum/atomic", 2, 2},
               {"sum/atomic", 0, 1},    {"scan/tiled", 1, 1},     {"scan/lookback", 513, 2},
               {"scatter/sort", 3, 3},  {"scatter/atomic", 2, 2}, {"norm/scaled", 2048, 1}};
    for (size_t i = 0; i < sizeof due / sizeof *due; i++) {
        struct shape s =
            method_shape(method_named(due[i].name), DEVICE_CPU, due[i].n, (struct shape){8, 0});
        cr_expect_eq(s.threads, due[i].threads, "%s, n = %zu: %u threads", due[i].name, due[i].n,
                     s.threads);
    }
}

/* A group of 256 elements is folded as a whole before it is added: in fp16 the two ones find each
 * other, where 2048 would swallow either. */
Test(schedule, a_block_is_folded_before_it_is_added)
{
    uint16_t data[600] = {0};
    struct array in = {FP16, 600, data};
    for (size_t at = 0; at < 600; at += 256) {
        array_set_bits(&in, at, format_encode(FP16, at ? -1024 : 2048));
        array_set_bits(&in, at + 4, format_encode(FP16, at ? 0 : 1));
        array_set_bits(&in, at + 12, format_encode(FP16, at ? 0 : 1));
    }
    uint16_t sum;
    const struct method *m = method_named("sum/block_atomic");
    cr_assert(run_method_once(m, &in, FP16, (struct shape){1, 0}, &sum) == STATUS_OK);
    cr_expect(format_decode(FP16, sum) == 2, "%g", format_decode(FP16, sum));
}

/* Nothing is +0, with any number of threads. */
Test(schedule, sums_of_nothing)
{
    for (size_t i = 0; i < method_count; i++) {
        const struct method *m = method_registry[i];
        float sum = 1;
        if (m->operation != &operation_sum || !m->cpu ||
            !method_supports(m, DEVICE_CPU, FP32, FP32))
            continue;
        run(m, 0, 3, false, &sum);
        cr_expect(sum == 0 && !signbit(sum), "%s: %g", m->name, sum);
    }
}
