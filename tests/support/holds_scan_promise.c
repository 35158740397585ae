#include <stdlib.h>

#include "kernels/scan/tiled.h"
#include "tests/support/holds_scan.h"
#include "tests/support/samples.h"

enum { REPEATS = 3, LONGEST = 5 * SCAN_TILE + 300 };

static size_t first_difference(const struct array *a, const struct array *b)
{
    size_t i = 0;
    while (i < a->n && array_bits(a, i) == array_bits(b, i))
        i++;
    return i;
}

/* Do all runs give the outputs of the first one, `*want`? From gpu_to_gpu up with every shape. */
static bool check_outputs(const struct method *m, struct scan_case *c, void *want, void *got,
                          char why[WHY])
{
    struct shape shape[SHAPES_TRIED];
    size_t shapes = shapes_tried(m, c->in.n, shape);
    struct array first = {c->output, c->in.n, want}, other = {c->output, c->in.n, got};
    for (size_t k = 0; k < shapes * REPEATS; k++) {
        size_t run = k % REPEATS;
        bool anew = run == 0 && (k == 0 || m->promise < PROMISE_GPU_TO_GPU);
        c->shape = shape[k / REPEATS];
        memset(got, 0x5a, array_bytes(c->output, c->in.n));
        if (scan_run(m, c, anew ? want : got) != STATUS_OK)
            return scan_failed(why, m, c, "it could not be run");
        size_t i = anew ? c->in.n : first_difference(&first, &other);
        if (i < c->in.n)
            return scan_failed(why, m, c, "run %zu: output %zu is not that of %s", run + 1, i,
                               run ? "the first run" : "another launch shape");
    }
    return true;
}

bool holds_scan_promise(const struct method *m, char why[WHY])
{
    static const size_t lengths[] = {0, 1, 2, 31, 100, 257, 1025, SCAN_TILE + 1, LONGEST};
    static double data[LONGEST], want[LONGEST], got[LONGEST];
    static uint8_t heads[LONGEST];
    struct scan_variant variant[SCAN_VARIANTS];
    size_t variants = scan_variants(m, variant);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (size_t k = 0; k < (size_t)ACCUMULATORS * ACCUMULATORS * variants; k++) {
            const struct scan_variant *v = &variant[k % variants];
            enum format s = k / variants / ACCUMULATORS, f = k / variants % ACCUMULATORS;
            bool chosen = lengths[i] <= 300 || (s + f + i) % ACCUMULATORS == k % 2;
            if (!chosen || !method_supports(m, DEVICE_CPU, s, f))
                continue;
            struct scan_case c = {.in = {s, lengths[i], data},
                                  .accumulator = f,
                                  .output = k % 3 ? f : s,
                                  .exclusive = v->exclusive,
                                  .heads = scan_heads(v, heads, lengths[i], k)};
            sample_fill(&c.in, SAMPLE_NEAR, f, lengths[i] + k);
            if (m->promise > PROMISE_NONE && !check_outputs(m, &c, want, got, why))
                return false;
        }
    return true;
}

/* --- edges --- */

/* Every output is `rest`, but for the first one of an exclusive scan: the sum of nothing. Beyond
 * the outputs nothing is written. */
static bool holds_edge(const struct method *m, struct scan_case *c, double rest, void *got,
                       char why[WHY])
{
    struct shape shape[SHAPES_TRIED];
    size_t n = c->in.n, shapes = shapes_tried(m, n, shape), bytes = array_bytes(c->output, n);
    struct array out = {c->output, n, got};
    for (size_t k = 0; k < shapes; k++) {
        c->shape = shape[k];
        memset(got, 0xa5, bytes + sizeof(double));
        if (scan_run(m, c, got) != STATUS_OK)
            return scan_failed(why, m, c, "it could not be run");
        for (size_t i = 0; i < n; i++) {
            double want = c->exclusive && i == 0 ? 0 : rest;
            if (array_bits(&out, i) != format_encode(c->output, want))
                return scan_failed(why, m, c, "output %zu is %a, expected %a", i,
                                   array_get(&out, i), want);
        }
        for (size_t i = 0; i < sizeof(double); i++)
            if (((unsigned char *)got)[bytes + i] != 0xa5)
                return scan_failed(why, m, c, "it writes beyond its outputs");
    }
    return true;
}

static bool holds_case_edges(const struct method *m, struct scan_case *c, void *got, char why[WHY])
{
    static const size_t lengths[] = {0, 2, 3, 17, 33, 255, 257, 1000, SCAN_TILE + 1};
    uint64_t seed = 4 * c->in.format + c->accumulator;
    for (enum sample kind = 0; kind < SAMPLES; kind++)
        for (int draw = 0; draw < 4; draw++) {
            c->in.n = 1;
            sample_fill(&c->in, kind, c->accumulator, sample_next(&seed));
            double x = format_round(c->accumulator, array_get(&c->in, 0));
            if (!holds_edge(m, c, x, got, why))
                return false;
        }
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        c->in.n = lengths[i];
        for (size_t j = 0; j < lengths[i]; j++)
            array_encode(&c->in, j, 1, &(double){-0.0});
        if (!holds_edge(m, c, -0.0, got, why))
            return false;
    }
    return true;
}

/* 2049 lies halfway between two numbers of fp16, and 2049 + 2^-24 beyond, but not so far as for
 * fp32 to tell. By way of that, as without the last bit, it would be 2048. */
static bool holds_output_rounding(const struct method *m, char why[WHY])
{
    double data[4], got[4], want[] = {2048, 2048, 2050};
    struct scan_case c = {.in = {FP16, 3, data}, .accumulator = FP64, .output = FP16};
    array_encode(&c.in, 0, 3, (const double[]){2048, 1, 0x1p-24});
    if (!method_supports(m, DEVICE_CPU, FP16, FP64))
        return true;
    c.shape = method_shape(m, DEVICE_CPU, 3, (struct shape){0, 0});
    if (scan_run(m, &c, got) != STATUS_OK)
        return scan_failed(why, m, &c, "it could not be run");
    for (size_t i = 0; i < 3; i++) {
        double x = array_get(&(struct array){FP16, 3, got}, i);
        if (x != want[i])
            return scan_failed(why, m, &c, "output %zu is %g, rounded once %g", i, x, want[i]);
    }
    return true;
}

bool holds_scan_edges(const struct method *m, char why[WHY])
{
    static double data[SCAN_TILE + 1], got[SCAN_TILE + 2];
    for (unsigned k = 0; k < ACCUMULATORS * ACCUMULATORS * ACCUMULATORS * 2; k++) {
        struct scan_case c = {.in = {k / 2 % ACCUMULATORS, 0, data},
                              .accumulator = k / 2 / ACCUMULATORS % ACCUMULATORS,
                              .output = k / 2 / ACCUMULATORS / ACCUMULATORS,
                              .exclusive = k % 2};
        bool chosen = c.output == c.in.format || c.output == c.accumulator || k / 2 % 7 == 0;
        if (chosen && method_supports(m, DEVICE_CPU, c.in.format, c.accumulator) &&
            !holds_case_edges(m, &c, got, why))
            return false;
    }
    return holds_output_rounding(m, why);
}
