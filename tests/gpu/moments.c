/* Norms, sums of magnitudes, means and variances on a GPU, held to their CPU twins bit by bit; to
 * their theorem where there is no twin. */
#include <criterion/criterion.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "experiments/inputs/input.h"
#include "reference/measure/measure.h"
#include "tests/support/holds.h"
#include "tests/gpu/subject.h"
#include "tests/support/samples.h"
#include "tests/support/values.h"

/* Of libraries nothing is known at the ends of the range, nor with what is no number. */
static void hold_to_theorem(const struct subject *s, const struct method *m, enum format f,
                            struct shape shape, uint64_t got, const char *what)
{
    struct reference r;
    struct measure measured;
    struct theorem theorem = method_theorem(m, DEVICE_CUDA, f, s->in.n, shape);
    if (strcmp(s->what, sample_name[SAMPLE_NEAR]) != 0)
        return;
    cr_assert(reference_compute_of(&r, m->operation->of, &s->in, NULL, REFERENCE_FAST, NULL) ==
              STATUS_OK);
    measure(&measured, &r, s->in.format, f, format_decode(f, got), &theorem);
    cr_assert(!measured.broken, "%s: %g off, the bound is %g", what, measured.err_abs.value,
              measured.bound.value);
    reference_free(&r);
}

static void hold_one(const struct subject *s, const struct method *m, enum format f,
                     struct shape asked)
{
    char what[256];
    size_t n = s->in.n;
    uint64_t want = 0;
    struct shape there = method_shape(m, DEVICE_CUDA, n, asked);
    struct task task = {.out.format = f, .accumulator = f, .shape = there, .method = m};
    snprintf(what, sizeof what, "%s %s/%s n=%zu T=%u B=%u, %s", m->name,
             format_facts[s->in.format].name, format_facts[f].name, n, there.threads, there.blocks,
             s->what);
    uint64_t got = gpu_run_same(s->gpu, m, &task, what);
    if (!m->cpu) {
        hold_to_theorem(s, m, f, there, got, what);
        return;
    }
    struct shape here = method_shape(m, DEVICE_CPU, n, (struct shape){0, 0});
    cr_assert(run_method_once(m, &s->in, f, here, &want) == STATUS_OK, "%s", what);
    want = format_canonical(f, want);
    cr_assert_eq(got, want, "%s: GPU %#" PRIx64 ", CPU %#" PRIx64, what, got, want);
}

/* One result that sums give, of one array, but for sums of elements, which gpu.c holds. */
static bool is_held(const struct method *m)
{
    const struct operation *o = m->operation;
    return operation_plain(o) && o->inputs == 1 && !o->array && o->of != EXACT_SUM &&
           exact_facts[o->of].form <= FORM_MOMENTS;
}

/* One thread, or on the CPU many steps for an element. */
static bool is_slow(const struct method *m)
{
    return !m->shape_read[DEVICE_CUDA] && m->order;
}

/* Every method and accumulator, with the usual launch shape and every step-th of the others. */
static void hold_all(const struct subject *s, size_t step)
{
    for (size_t i = 0; i < method_count; i++)
        for (enum format f = 0; f < ACCUMULATORS; f++) {
            const struct method *m = method_registry[i];
            if (!is_held(m) || !method_supports(m, DEVICE_CUDA, s->in.format, f) ||
                (is_slow(m) && s->in.n > 70000))
                continue;
            for (size_t k = 0; k < SHAPES; k++)
                if (k == 0 ||
                    (m->shape_read[DEVICE_CUDA] && (k + i + (size_t)f + s->in.n) % step == 0))
                    hold_one(s, m, f, shapes[k]);
        }
}

/* Samples; some times a power of two, such that squares are at an end of the range; some far from
 * 0.
 */
static void hold_samples(size_t n, size_t step)
{
    static const char *const name[] = {"large", "small", "far from 0"};
    for (enum format s = 0; s < FORMATS; s++)
        for (size_t k = 0; k < SAMPLES + 3; k++) {
            const struct format_facts *facts = &format_facts[s];
            size_t how = k < SAMPLES ? 0 : k - SAMPLES + 1;
            int shift = how == 1   ? facts->emax / 2 - 2
                        : how == 2 ? (facts->emin - facts->precision) / 2
                                   : 0;
            struct subject on = {0};
            if (n > 3000 && (k + s + n) % 3 != 0)
                continue;
            on = subject_new(s, n);
            sample_fill(&on.in, how ? SAMPLE_NEAR : (enum sample)k,
                        (enum format)((s + n) % ACCUMULATORS), n + k);
            for (size_t i = 0; how && i < n; i++) {
                double x = ldexp(array_get(&on.in, i), shift) +
                           (how == 3 ? ldexp(1, facts->precision / 2) : 0);
                array_encode(&on.in, i, 1, &x);
            }
            on.what = how ? name[how - 1] : sample_name[k];
            upload(&on, n % 3);
            hold_all(&on, step);
            subject_free(&on);
        }
}

Test(gpu_moments, short_lengths_agree, .timeout = 300)
{
    static const size_t lengths[] = {0, 1, 2, 3, 31, 33, 255, 256, 257, 513, 1025};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        hold_samples(lengths[i], SHAPES);
}

Test(gpu_moments, long_lengths_agree, .timeout = 300)
{
    static const size_t lengths[] = {2047, 2048, 2049, 4097, 10241, 65537};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        hold_samples(lengths[i], SHAPES);
}

/* 512 tiles have a block each; three levels of tiles begin at 2048 squared. */
Test(gpu_moments, great_lengths_agree, .timeout = 300)
{
    static const size_t lengths[] = {(1 << 20) + 3, (1 << 22) + 1};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (enum format s = i ? FP32 : FP16; s < ACCUMULATORS; s++) {
            struct subject on = subject_new(s, lengths[i]);
            on.what = sample_name[SAMPLE_NEAR];
            sample_fill(&on.in, SAMPLE_NEAR, s, 11 + i);
            upload(&on, s % 2);
            hold_all(&on, SHAPES);
            if (i)
                hold_one(&on, method_named("variance/chan"), s, shapes[0]);
            subject_free(&on);
        }
}

/* Every input family; each in two of the formats. */
Test(gpu_moments, inputs_agree, .timeout = 300)
{
    enum { N = 700 };
    for (size_t i = 0; i < input_family_count; i++)
        for (enum format s = i % 2; s < ACCUMULATORS; s += 2) {
            struct input in;
            struct subject on = subject_new(s, N);
            on.what = input_families[i]->name;
            cr_assert(input_parse(&in, on.what, NULL) == STATUS_OK);
            if (input_generate(&in, &on.in, i, 0, NULL) == STATUS_OK) {
                upload(&on, 0);
                hold_all(&on, SHAPES);
            }
            subject_free(&on);
        }
}

/* Doubles of any exponent: squares from 2^-2148 to 2^2048. */
Test(gpu_moments, every_exponent_agrees, .timeout = 300)
{
    uint64_t seed = 9;
    for (int round = 0; round < 30; round++) {
        struct subject on = subject_new(FP64, (size_t)(1 + round * round * 3));
        for (size_t i = 0; i < on.in.n; i++) {
            uint64_t bits = sample_next(&seed), field = sample_next(&seed) % 2047;
            field = round % 3 == 2 ? (bits % 3 ? 0 : 2046) : field;
            array_set_bits(&on.in, i, (bits & ~(UINT64_C(0x7ff) << 52)) | field << 52);
        }
        on.what = "any exponent";
        upload(&on, 0);
        hold_all(&on, SHAPES);
        subject_free(&on);
    }
}

static const struct method *on_trial;

/* In the place of a CPU side. */
static enum status run_there(const struct task *t, struct problem *p)
{
    struct subject on = {t->of->in, NULL, ""};
    struct task task = *t;
    (void)p;
    task.method = on_trial;
    task.shape = method_shape(on_trial, DEVICE_CUDA, t->of->in.n, (struct shape){0, 0});
    upload(&on, 0);
    array_set_bits(&t->out, 0, gpu_run_same(on.gpu, on_trial, &task, "a tie or beside it"));
    gpu_release(on.gpu);
    return STATUS_OK;
}

/* Halfway between two numbers, and beside it, where no certificate holds. */
Test(gpu_moments, ties_are_rounded_as_mpfr_rounds_them, .timeout = 300)
{
    char why[WHY];
    for (size_t i = 0; i < method_count; i++) {
        struct method there = *method_registry[i];
        on_trial = method_registry[i];
        there.cpu = run_there;
        there.shape_read[DEVICE_CPU] = 0;
        if (has_value(on_trial) && on_trial->promise == PROMISE_CORRECTLY_ROUNDED &&
            method_supports(on_trial, DEVICE_CUDA, FP64, FP64))
            cr_assert(holds_ties(&there, why), "%s", why);
    }
}
