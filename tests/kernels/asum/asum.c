/* Sums of magnitudes: the bits that sums give of an array of magnitudes, and what they are of
 * special values. (Promises, theorems, orders and exact values are held by the tests that walk the
 * registry.) */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "kernels/blocks/tiled.h"
#include "reference/exact/reference.h"
#include "tests/support/holds.h"
#include "tests/support/oracle.h"
#include "tests/support/samples.h"

enum { MOST = 3 * TILE + 5, LONG = 40000 };

/* Does the method of magnitudes give of `in` what that of sums gives of the magnitudes? */
static bool alike(const struct method *of_magnitudes, const struct method *of_sums,
                  const struct array *in, enum format f, unsigned threads, char why[WHY])
{
    static double room[LONG];
    struct array magnitudes = {in->format, in->n, room};
    for (size_t i = 0; i < in->n; i++)
        array_encode(&magnitudes, i, 1, &(double){fabs(array_get(in, i))});
    struct shape shape = method_shape(of_sums, DEVICE_CPU, in->n, (struct shape){threads, 0});
    uint64_t got = 0, want = 0;
    if (run_method_once(of_magnitudes, in, f, shape, &got) != STATUS_OK ||
        run_method_once(of_sums, &magnitudes, f, shape, &want) != STATUS_OK)
        return not_held(why, of_magnitudes, in->format, f, in->n, shape, "it could not be run");
    return got == want || not_held(why, of_magnitudes, in->format, f, in->n, shape,
                                   "%#" PRIx64 ", the sum of magnitudes %#" PRIx64, got, want);
}

static const size_t lengths[] = {0,    1,          2,        3,    255,      257, 1000,
                                 TILE, TILE + 300, 2 * TILE, MOST, TILE - 1, 33,  2048 + 1};

static bool all_alike(const struct method *of_magnitudes, const struct method *of_sums,
                      char why[WHY])
{
    static double data[MOST];
    uint64_t seed = 1;
    size_t held = 0;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (enum format s = 0; s < FORMATS; s++)
            for (enum format f = 0; f < ACCUMULATORS; f++)
                for (enum sample kind = 0; kind < SAMPLES; kind++) {
                    struct array in = {s < ACCUMULATORS ? s : FP64, lengths[i], data};
                    sample_fill(&in, kind, f, sample_next(&seed));
                    if (s >= ACCUMULATORS) { /* what it makes of these, as they are stored in 8 */
                        for (size_t k = 0; k < in.n; k++)
                            ((uint8_t *)data)[k] =
                                (uint8_t)format_encode(s, format_round(s, ((double *)data)[k]));
                        in.format = s;
                    }
                    if (!method_supports(of_magnitudes, DEVICE_CPU, s, f))
                        continue;
                    if (!alike(of_magnitudes, of_sums, &in, f, 1 + (unsigned)kind % 3, why))
                        return false;
                    held++;
                }
    return held > 1000 || not_held(why, of_magnitudes, FORMATS, FORMATS, held, (struct shape){0, 0},
                                   "hardly tried");
}

static const char *const forms[] = {"serial", "tiled", "exact"};

static const struct method *form_of(const char *operation, const char *form)
{
    char name[32];
    snprintf(name, sizeof name, "%s/%s", operation, form);
    return method_named(name);
}

Test(asum, bits_are_those_of_sums_of_magnitudes)
{
    char why[WHY] = "";
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        cr_expect(all_alike(form_of("asum", forms[i]), form_of("sum", forms[i]), why), "%s", why);
}

/* Of more elements than any of them takes at a time. */
Test(asum, long_arrays)
{
    static double data[LONG];
    char why[WHY] = "";
    struct array in = {FP32, LONG, data};
    sample_fill(&in, SAMPLE_NEAR, FP32, 3);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        cr_expect(alike(form_of("asum", forms[i]), form_of("sum", forms[i]), &in, FP64, 1, why),
                  "%s", why);
}

/* What forgets a sign, or adds in another order, is found. */
Test(asum, others_are_not_alike)
{
    char why[WHY] = "";
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        for (size_t k = 0; k < sizeof forms / sizeof *forms; k++) {
            struct method sum = *form_of("sum", forms[i]);
            cr_expect(!all_alike(&sum, form_of("sum", forms[k]), why), "%s as asum/%s", sum.name,
                      forms[k]);
            if (i != k)
                cr_expect(!all_alike(form_of("asum", forms[i]), form_of("sum", forms[k]), why),
                          "asum/%s as asum/%s", forms[i], forms[k]);
        }
}

Test(asum, special_values)
{
    static const struct {
        size_t n;
        double x[3], due;
    } cases[] = {{0, {0}, 0.0},
                 {1, {-0.0}, 0.0},
                 {3, {-0.0, -0.0, -0.0}, 0.0},
                 {2, {-1, 1}, 2},
                 {2, {-INFINITY, INFINITY}, INFINITY},
                 {2, {-INFINITY, -1}, INFINITY},
                 {3, {NAN, -INFINITY, 1}, NAN},
                 {1, {-0x1p-149}, 0x1p-149},
                 {2, {-0x1.fffffep127, 0x1.fffffep127}, INFINITY}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
            const struct method *m = form_of("asum", forms[i]);
            float x[3], sum = -1;
            for (size_t j = 0; j < 3; j++)
                x[j] = (float)cases[k].x[j];
            struct array in = {FP32, cases[k].n, x};
            struct shape shape = method_shape(m, DEVICE_CPU, in.n, (struct shape){0, 0});
            cr_assert(run_method_once(m, &in, FP32, shape, &sum) == STATUS_OK);
            cr_expect(same_double(sum, cases[k].due), "%s, case %zu: %a", m->name, k, (double)sum);
        }
}

/* The value is A: its condition is 1. */
Test(asum, references_are_of_condition_1)
{
    static double data[1000];
    for (enum sample kind = 0; kind < SAMPLES; kind++) {
        struct array in = {FP32, 1000, data};
        struct reference fast, slow, sum;
        sample_fill(&in, kind, FP32, kind);
        cr_assert(
            reference_compute_of(&fast, EXACT_ASUM, &in, NULL, REFERENCE_FAST, NULL) == STATUS_OK &&
            reference_compute_of(&slow, EXACT_ASUM, &in, NULL, REFERENCE_MPFR, NULL) == STATUS_OK &&
            reference_compute(&sum, &in, REFERENCE_MPFR, NULL) == STATUS_OK);
        cr_expect(reference_equal(&fast, &slow), "%s", sample_name[kind]);
        cr_expect(same_mpfr(fast.sum, sum.sum_abs) && same_mpfr(fast.sum_abs, sum.sum_abs), "%s",
                  sample_name[kind]);
        double cond = reference_cond_log2(&fast);
        cr_expect(cond == 0 || mpfr_zero_p(fast.sum) || !mpfr_number_p(fast.sum), "%s: 2^%g",
                  sample_name[kind], cond);
        reference_free(&fast);
        reference_free(&slow);
        reference_free(&sum);
    }
}
