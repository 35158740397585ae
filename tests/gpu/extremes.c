/* Products, minima, maxima and their indices on a GPU, held to their CPU twins bit by bit; products
 * of no order to their theorem. */
#include <criterion/criterion.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "experiments/inputs/input.h"
#include "kernels/gpu/gpu.h"
#include "reference/measure/measure.h"
#include "tests/support/holds.h"
#include "tests/gpu/subject.h"
#include "tests/support/samples.h"

static bool is_subject(const struct method *m)
{
    enum exact_form form = exact_facts[m->operation->of].form;
    return form == FORM_PRODUCT || form == FORM_ELEMENT || form == FORM_INDEX;
}

/* All of three runs are one; returned. */
static uint64_t run_there(const struct subject *on, const struct method *m, enum format f,
                          struct shape shape, const char *what)
{
    struct task task = {.out.format = f, .accumulator = f, .shape = shape, .method = m};
    return gpu_run_same(on->gpu, m, &task, what);
}

static void describe(char what[256], const struct subject *on, const struct method *m,
                     enum format f, struct shape shape)
{
    snprintf(what, 256, "%s %s/%s n=%zu T=%u B=%u, %s", m->name, format_facts[on->in.format].name,
             format_facts[f].name, on->in.n, shape.threads, shape.blocks, on->what);
}

static void hold_to_theorem(const struct subject *on, const struct reference *r,
                            const struct method *m, enum format f)
{
    char what[256];
    struct measure measured;
    struct shape shape = method_shape(m, DEVICE_CUDA, on->in.n, (struct shape){0, 0});
    struct theorem theorem = method_theorem(m, DEVICE_CUDA, f, on->in.n, shape);
    describe(what, on, m, f, shape);
    double result = format_decode(f, run_there(on, m, f, shape, what));
    measure(&measured, r, on->in.format, f, result, &theorem);
    cr_assert(!measured.broken, "%s: %a is %g off, the bound is %g", what, result,
              measured.err_abs.value, measured.bound.value);
}

/* With the usual launch shape and every step-th of the others. */
static void hold_to_twin(const struct subject *on, const struct method *m, enum format f,
                         size_t step)
{
    char what[256];
    uint64_t want = 0;
    struct shape usual = {0, 0}, here = method_shape(m, DEVICE_CPU, on->in.n, usual);
    cr_assert_eq(run_method_once(m, &on->in, f, here, &want), STATUS_OK, "%s: it failed", m->name);
    want = format_canonical(f, want);
    for (size_t k = 0; k < SHAPES; k++)
        if (k == 0 || (k + (size_t)m->operation->of + f + on->in.n) % step == 0) {
            struct shape there = method_shape(m, DEVICE_CUDA, on->in.n, shapes[k]);
            describe(what, on, m, f, there);
            uint64_t got = run_there(on, m, f, there, what);
            cr_assert_eq(got, want, "%s: GPU %#" PRIx64 ", CPU %#" PRIx64, what, got, want);
        }
}

/* One thread takes long over long inputs, and so does the reference of a product. */
enum { SLOW = 100000 };

/* Every method; of accumulators all for products; extrema are rounded to one of them in turn. */
static void hold_all(const struct subject *on, size_t step)
{
    struct reference r;
    bool is_long = on->in.n > SLOW;
    cr_assert(is_long || reference_compute_of(&r, EXACT_PRODUCT, &on->in, NULL, REFERENCE_FAST,
                                              NULL) == STATUS_OK);
    for (size_t i = 0; i < method_count; i++)
        for (enum format f = 0; f < ACCUMULATORS; f++) {
            const struct method *m = method_registry[i];
            bool slow = strstr(m->name, "/serial") || strstr(m->name, "/atomic");
            bool due = m->operation == &operation_product ||
                       m->promise < PROMISE_CORRECTLY_ROUNDED ||
                       (i + on->in.n + on->in.format) % ACCUMULATORS == f;
            if (!is_subject(m) || !due || (slow && is_long) ||
                !method_supports(m, DEVICE_CUDA, on->in.format, f))
                continue;
            if (m->promise == PROMISE_NONE)
                hold_to_theorem(on, &r, m, f);
            else
                hold_to_twin(on, m, f, step);
        }
    if (!is_long)
        reference_free(&r);
}

static void hold_sample(enum format s, size_t n, enum sample k, size_t step)
{
    struct subject on = subject_new(s, n);
    sample_fill(&on.in, k, (enum format)((s + n) % ACCUMULATORS), n + k);
    on.what = sample_name[k];
    upload(&on, (n + k) % 3);
    hold_all(&on, step);
    subject_free(&on);
}

static void hold_samples(size_t n, size_t step, size_t every)
{
    for (enum format s = 0; s < ACCUMULATORS; s++)
        for (enum sample k = (enum sample)((n + s) % every); k < SAMPLES; k += every)
            hold_sample(s, n, k, step);
}

Test(gpu_extremes, every_side_is_there)
{
    size_t products = 0, extrema = 0;
    for (size_t i = 0; i < method_count; i++) {
        const struct method *m = method_registry[i];
        if (is_subject(m) && method_supports(m, DEVICE_CUDA, FP32, FP64))
            *(m->operation == &operation_product ? &products : &extrema) += 1;
    }
    cr_expect(products == 3 && extrema == 24, "%zu, %zu", products, extrema);
}

Test(gpu_extremes, short_lengths_agree, .timeout = 300)
{
    static const size_t lengths[] = {0,  1,  2,   3,   5,   7,   8,   31,  32,
                                     33, 65, 255, 256, 257, 511, 513, 1025};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        hold_samples(lengths[i], SHAPES, i < 2 ? 1 : 3);
}

Test(gpu_extremes, long_lengths_agree, .timeout = 300)
{
    static const size_t lengths[] = {2047, 2048, 2049, 4097, 16385, 65537};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        hold_samples(lengths[i], SHAPES, 4);
}

/* 512 tiles have a block each; three levels of tiles begin at 2048 squared. */
Test(gpu_extremes, great_lengths_agree, .timeout = 300)
{
    for (enum format s = 0; s < ACCUMULATORS; s++)
        hold_sample(s, (1 << 20) + 3, s == FP64 ? SAMPLE_BITS : SAMPLE_WIDE, SHAPES);
    hold_sample(FP32, (1 << 22) + 1, SAMPLE_NEAR, SHAPES);
}

/* What is sought at two places among others, about where vectors, warps, blocks and tiles end;
 * NaNs, and zeros of both signs. */
Test(gpu_extremes, places_and_ties, .timeout = 300)
{
    static const size_t place[] = {0, 1, 7, 8, 31, 1023, 1024, 2047, 2048, 20479, 29998, 29999};
    static const double value[][2] = {{1, -3},         {1, 3},         {0.0, -0.0},    {-0.0, 0.0},
                                      {1, NAN},        {NAN, 1},       {NAN, -1},      {NAN, NAN},
                                      {INFINITY, NAN}, {-INFINITY, 2}, {NAN, INFINITY}};
    enum { PLACES = sizeof place / sizeof *place, VALUES = sizeof value / sizeof *value };
    for (size_t k = 0; k < PLACES * VALUES; k += 2) {
        char what[64];
        const double *of = value[k % VALUES];
        size_t a = place[k / VALUES], b = place[(k / VALUES * 5 + k) % PLACES];
        struct subject on = subject_new((enum format)((k + k / VALUES) % ACCUMULATORS), 30000);
        for (size_t i = 0; i < on.in.n; i++)
            array_encode(&on.in, i, 1, &of[i == a || i == b]);
        snprintf(what, sizeof what, "%g at %zu and %zu among %g", of[1], a, b, of[0]);
        on.what = what;
        upload(&on, k % 5);
        hold_all(&on, SHAPES);
        subject_free(&on);
    }
}

/* A run of encodings of 16 bits, in an order that mixes them: as keys, and as factors. */
Test(gpu_extremes, encodings_of_16_bits, .timeout = 300)
{
    enum { PARTS = 32, PART = (1 << 16) / PARTS };
    for (size_t part = 0; part < PARTS; part++) {
        struct subject on = subject_new((enum format)(part % 2), PART);
        for (size_t i = 0; i < PART; i++) /* an odd multiple: each of the run once */
            array_set_bits(&on.in, i, part / 2 * 2 * PART + i * 1021 % (2 * PART));
        on.what = "encodings";
        upload(&on, part % 3);
        hold_all(&on, SHAPES);
        subject_free(&on);
    }
}

/* Products that leave every range on the way, and come back or not; subnormal factors and results.
 */
Test(gpu_extremes, exponents_kept_apart, .timeout = 300)
{
    enum { N = 9000 };
    for (int round = 0; round < 24; round++) {
        enum format s = (enum format)(round % ACCUMULATORS);
        const struct format_facts *facts = &format_facts[s];
        struct subject on = subject_new(s, round % 5 ? N : 40);
        uint64_t seed = (uint64_t)round;
        int range = facts->emax - facts->emin + facts->precision - 1, balance = 0;
        for (size_t i = 0; i < on.in.n; i++) {
            int wanted = (int)(sample_next(&seed) % (unsigned)range), e;
            double m = 1 + (double)(sample_next(&seed) >> 12) * 0x1p-52;
            e = facts->emin - facts->precision + 2 + wanted;
            if (i % 2 && round % 3) /* undoes what came before */
                e = -balance < facts->emin ? facts->emin : -balance;
            e = e > facts->emax - 1 ? facts->emax - 1 : e;
            array_encode(&on.in, i, 1, &(double){ldexp(i % 7 ? m : -m, e)});
            balance += e;
        }
        on.what = "any exponent";
        upload(&on, 0);
        hold_all(&on, SHAPES);
        subject_free(&on);
    }
}

/* Every input family. */
Test(gpu_extremes, inputs_agree, .timeout = 300)
{
    enum { N = 5000 };
    for (size_t i = 0; i < input_family_count; i++) {
        struct input in;
        struct subject on = subject_new((enum format)(i % ACCUMULATORS), N);
        cr_assert_eq(input_parse(&in, input_families[i]->name, NULL), STATUS_OK);
        if (input_generate(&in, &on.in, i, 0, NULL) == STATUS_OK) {
            on.what = input_families[i]->name;
            upload(&on, i % 2);
            hold_all(&on, SHAPES);
        }
        subject_free(&on);
    }
}

/* A little of everything, for runs under a sanitizer. */
Test(gpu_extremes, tour, .timeout = 300)
{
    hold_samples(0, SHAPES, SAMPLES);
    hold_samples(33, SHAPES, SAMPLES);
    hold_samples(6000, SHAPES, SAMPLES);
}
