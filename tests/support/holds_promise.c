#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "kernels/blocks/tiled.h"
#include "tests/support/holds_scan.h"
#include "tests/support/matrices.h"
#include "tests/support/statistics.h"
#include "tests/support/samples.h"
#include "tests/support/scatters.h"

enum { REPEATS = 2, LONG = 2000 };

/* Do all runs on this input give `*bits` (which the first run sets)? */
static bool same_bits(const struct method *m, const struct array *in, enum format f,
                      struct shape shape, bool first, uint64_t *bits, char why[WHY])
{
    for (int run = 0; run < REPEATS; run++) {
        uint64_t got = 0;
        if (run_method_once(m, in, f, shape, &got) != STATUS_OK)
            return not_held(why, m, in->format, f, in->n, shape, "it could not be run");
        if (first && run == 0)
            *bits = got;
        if (got != *bits)
            return not_held(why, m, in->format, f, in->n, shape,
                            "run %d gives %#" PRIx64 ", %s %#" PRIx64, run + 1, got,
                            run ? "the first run" : "another launch shape", *bits);
    }
    return true;
}

/* Every shape; of long inputs every third, each pair of formats beginning with another one. */
static bool holds_input(const struct method *m, const struct array *in, enum format f,
                        char why[WHY])
{
    struct shape shape[SHAPES_TRIED];
    size_t shapes = shapes_tried(m, in->n, shape), step = in->n > LONG ? 3 : 1;
    size_t begin = (in->format + f) % (step < shapes ? step : shapes);
    uint64_t bits = 0;
    for (size_t s = begin; s < shapes; s += step) {
        bool first = s == begin || m->promise < PROMISE_GPU_TO_GPU;
        if (!same_bits(m, in, f, shape[s], first, &bits, why))
            return false;
    }
    return true;
}

bool holds_promise(const struct method *m, char why[WHY])
{
    if (m->operation->of_rows)
        return holds_statistic_promise(m, why);
    if (m->operation->matrices || m->operation->ranks) /* tests/kernels/ */
        return true;
    if (m->operation == &operation_scan)
        return holds_scan_promise(m, why);
    if (m->operation == &operation_scatter)
        return holds_scatter_promise(m, why);
    if (matrix_takes(m))
        return holds_matrix_promise(m, why);
    static const size_t lengths[] = {0, 1, 2, 31, 100, 257, 1025, TILE + 1, 5 * TILE + 300, 40000};
    if (m->promise == PROMISE_NONE)
        return true;
    double *data = malloc(40000 * sizeof *data);
    bool fine = data;
    not_held(why, m, FORMATS, FORMATS, 0, (struct shape){0, 0}, "memory ran out");
    for (size_t i = 0; fine && i < sizeof lengths / sizeof *lengths; i++)
        for (enum format s = 0; fine && s < ACCUMULATORS; s++)
            for (enum format f = 0; fine && f < ACCUMULATORS; f++) {
                if (!method_supports(m, DEVICE_CPU, s, f))
                    continue;
                struct array in = {s, lengths[i], data};
                sample_fill(&in, SAMPLE_NEAR, f, lengths[i] + 4 * s + f);
                fine = holds_input(m, &in, f, why);
            }
    free(data);
    return fine && (m->promise < PROMISE_ORDER_INVARIANT || holds_permuted(m, why));
}

static bool holds_edge(const struct method *m, const struct array *in, enum format f, uint64_t want,
                       char why[WHY])
{
    struct shape shape[SHAPES_TRIED];
    size_t shapes = shapes_tried(m, in->n, shape);
    for (size_t k = 0; k < shapes; k++) {
        uint64_t got = ~UINT64_C(0) >> (64 - 8 * format_facts[f].bytes);
        if (run_method_once(m, in, f, shape[k], &got) != STATUS_OK)
            return not_held(why, m, in->format, f, in->n, shape[k], "it could not be run");
        if (got != want)
            return not_held(why, m, in->format, f, in->n, shape[k],
                            "result %#" PRIx64 ", expected %#" PRIx64, got, want);
    }
    return true;
}

static bool holds_pair_edges(const struct method *m, enum format s, enum format f, char why[WHY])
{
    static const size_t lengths[] = {1, 2, 3, 33, 255, 257, 1000, TILE + 1, 3 * TILE + 1};
    double data[3 * TILE + 1];
    uint64_t seed = 4 * s + f;
    enum exact_value of = m->operation->of;
    if (!holds_edge(m, &(struct array){s, 0, data}, f, 0, why))
        return false;
    for (enum sample kind = 0; kind < SAMPLES; kind++)
        for (int draw = 0; draw < 4; draw++) {
            struct array one = {s, 1, data};
            sample_fill(&one, kind, f, sample_next(&seed));
            uint64_t want = format_encode(f, exact_term(of, array_get(&one, 0)));
            if (!holds_edge(m, &one, f, want, why))
                return false;
        }
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct array zeros = {s, lengths[i], data};
        for (size_t j = 0; j < lengths[i]; j++)
            array_encode(&zeros, j, 1, &(double){-0.0});
        if (!holds_edge(m, &zeros, f, format_encode(f, exact_term(of, -0.0)), why))
            return false;
    }
    return true;
}

/* Two odd ones among numbers near 1, at random places. */
static bool holds_pair_specials(const struct method *m, enum format s, enum format f, char why[WHY])
{
    static const double odd[][2] = {{INFINITY, INFINITY},
                                    {-INFINITY, -INFINITY},
                                    {INFINITY, -INFINITY},
                                    {NAN, 1},
                                    {NAN, INFINITY}};
    static const size_t lengths[] = {2, 40, 257, 1000, TILE + 300};
    double data[TILE + 300];
    enum exact_value of = m->operation->of;
    uint64_t seed = 4 * s + f;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (size_t k = 0; k < sizeof odd / sizeof *odd; k++) {
            struct array in = {s, lengths[i], data};
            sample_fill(&in, SAMPLE_NEAR, f, seed);
            size_t at = sample_next(&seed) % in.n, apart = 1 + sample_next(&seed) % (in.n - 1);
            array_encode(&in, at, 1, &odd[k][0]);
            array_encode(&in, (at + apart) % in.n, 1, &odd[k][1]);
            double due = exact_term(of, odd[k][0]) + exact_term(of, odd[k][1]);
            if (!holds_edge(m, &in, f, format_encode(f, due), why))
                return false;
        }
    return true;
}

bool holds_edges(const struct method *m, char why[WHY])
{
    if (m->operation->matrices || m->operation->ranks || m->operation->of_rows) /* tests/kernels/ */
        return true;
    if (m->operation == &operation_scatter)
        return holds_scatter_edges(m, why);
    if (matrix_takes(m))
        return holds_matrix_edges(m, why);
    if (!only_adds(m))
        return true;
    if (m->operation == &operation_scan)
        return holds_scan_edges(m, why);
    for (enum format s = 0; s < ACCUMULATORS; s++)
        for (enum format f = 0; f < ACCUMULATORS; f++)
            if (method_supports(m, DEVICE_CPU, s, f) &&
                (!holds_pair_edges(m, s, f, why) || !holds_pair_specials(m, s, f, why)))
                return false;
    return true;
}
