/* Scales of 8-bit matrices: the exact element, the epilogue of each method, its bound, and who
 * refuses them. */
#include <criterion/criterion.h>
#include <math.h>

#include "experiments/operations/operation.h"
#include "kernels/mma/mma.h"
#include "reference/exact/mpfr.h"
#include "tests/support/oracle.h"
#include "tests/support/products.h"

static struct product_case a_case;
static double out[PRODUCT_ROOM];

/* Of any size: their product is rounded, subnormal, zero or infinite in fp32. */
static const float scales[][2] = {
    {0.37f, 1.5f},    {1, 1},           {0x1.fffffep-1f, 0x1.fffffep-1f},
    {3e-22f, 7e-21f}, {1e-30f, 3e-9f},  {3e-39f, 2.7f},
    {1e30f, 1e10f},   {1e-30f, 1e-30f}, {1.0f / 448, 3},
    {5e-5f, 0.0031f}};
enum { SCALES = sizeof scales / sizeof *scales };

static const enum format eight[] = {E4M3, E5M2};
static const struct {
    const char *name;
    enum mma_unit unit;
} methods[] = {{"gemm/exact", MMA_UNITS},          {"gemm/serial", MMA_UNITS},
               {"gemm/tiled", MMA_UNITS},          {"gemm/split_k", MMA_UNITS},
               {"gemm/split_k_atomic", MMA_UNITS}, {"gemm/mma", MMA_SYNC},
               {"gemm/wgmma", MMA_WGMMA},          {"gemm/promoted", MMA_WGMMA}};
enum { METHODS = sizeof methods / sizeof *methods };

static void factors(double *x, double *y, size_t output)
{
    const struct gemm_shape *s = &a_case.of.gemm;
    const struct array *in = &a_case.of.in;
    const struct array b = {gemm_format_of_b(s, in->format), in->n, in->data};
    for (size_t k = 0; k < s->k; k++) {
        x[k] = array_get(in, gemm_a_at(s, output / s->n, k));
        y[k] = array_get(&b, gemm_b_at(s, k, output % s->n));
    }
}

/* sum of (scale of A a) (scale of B b), and of magnitudes, with C: by MPFR, scales last. */
static void exact(mpfr_t sum, mpfr_t sum_abs, const double *x, const double *y, double c)
{
    const struct gemm_shape *s = &a_case.of.gemm;
    mpfr_t term;
    mpfr_init2(term, PRODUCTS_PRECISION);
    mpfr_set_d(sum, c, MPFR_RNDN);
    mpfr_abs(sum_abs, sum, MPFR_RNDN);
    for (size_t k = 0; k < s->k; k++) {
        mpfr_set_d(term, x[k], MPFR_RNDN);
        mpfr_mul_d(term, term, y[k], MPFR_RNDN);
        mpfr_mul_d(term, term, (double)s->scale[0], MPFR_RNDN);
        mpfr_mul_d(term, term, (double)s->scale[1], MPFR_RNDN);
        mpfr_add(sum, sum, term, MPFR_RNDN);
        mpfr_abs(term, term, MPFR_RNDN);
        mpfr_add(sum_abs, sum_abs, term, MPFR_RNDN);
    }
    mpfr_clear(term);
}

/* The sum of products as gemm/serial adds them. */
static double in_order(enum format f, const double *x, const double *y, size_t k)
{
    double sum = oracle_multiply(f, x[0], y[0]);
    for (size_t i = 1; i < k; i++)
        sum = oracle_multiply_add(f, x[i], y[i], sum);
    return sum;
}

static double by_instruction(size_t m, enum format f, const double *x, const double *y)
{
    const enum format of_a = a_case.of.in.format, of_b = gemm_format_of_b(&a_case.of.gemm, of_a);
    unsigned char a[PRODUCT_ROOM], b[PRODUCT_ROOM];
    const size_t k = a_case.of.gemm.k;
    array_encode(&(struct array){of_a, k, a}, 0, k, x);
    array_encode(&(struct array){of_b, k, b}, 0, k, y);
    const struct mma_instruction *is = mma_find(MMA_CHIP, methods[m].unit, mma_element_of(of_a), f);
    const size_t every = strcmp(methods[m].name, "gemm/promoted") == 0 ? GEMM_PROMOTE : 0;
    return format_decode(f, mma_promoted(&is->rule, mma_element_of(of_b), every, k, a, b, 0));
}

/* What the epilogue is due to make of the sum: in the machine's own float and double. */
static double epilogue(enum format f, double sum, double c)
{
    const float *scale = a_case.of.gemm.scale;
    if (f == FP64) {
        volatile double both = (double)scale[0] * (double)scale[1], scaled = both * sum;
        return scaled + c;
    }
    volatile float both = scale[0] * scale[1], scaled = both * (float)sum, last = scaled + (float)c;
    return (double)last;
}

struct count {
    size_t held, near, rounded, exact, special;
};

static void hold(size_t m, enum format f, enum format output, struct count *count)
{
    const struct method *method = method_named(methods[m].name);
    const struct shape launch = {2, 3};
    static double x[PRODUCT_ROOM], y[PRODUCT_ROOM];
    struct matrices_packed packed;
    struct matrices of = gemm_matrices(&a_case.of);
    mpfr_t sum, sum_abs, term;
    mpfr_inits2(PRODUCTS_PRECISION, sum, sum_abs, term, (mpfr_ptr)0);
    cr_assert(matrices_pack(&packed, &of, NULL) == STATUS_OK);
    cr_assert(product_run(method, &a_case, f, output, launch, out) == STATUS_OK);
    const bool once = strcmp(method->name, "gemm/exact") == 0;
    cr_expect_eq(method_bound(method, &a_case.of),
                 once ? THEOREM_CORRECTLY_ROUNDED : THEOREM_BLOCKS);
    for (size_t o = 0; o < a_case.of.bins; o++) {
        const double c = array_get(&a_case.of.c, o);
        const size_t k = a_case.of.gemm.k;
        factors(x, y, o);
        exact(sum, sum_abs, x, y, c);
        double due = c;
        if (once)
            due = oracle_round(output, sum);
        else if (k > 0 && methods[m].unit < MMA_UNITS)
            due = epilogue(f, by_instruction(m, f, x, y), c);
        else if (k > 0 && strcmp(method->name, "gemm/serial") == 0)
            due = epilogue(f, in_order(f, x, y, k), c);
        else if (k > 0)
            due = NAN; /* in another order: its bound alone holds it */
        if (!isnan(due))
            cr_assert(same_double(out[o], format_round(output, due)),
                      "%s, %s in %s, k = %zu, scales %a %a: %a, due %a", method->name,
                      format_facts[a_case.of.in.format].name, format_facts[f].name, k,
                      (double)a_case.of.gemm.scale[0], (double)a_case.of.gemm.scale[1], out[o],
                      format_round(output, due));
        if (once || !mpfr_number_p(sum) || !isfinite(out[o]) || output != f) {
            count->special += !isfinite(out[o]);
            continue;
        }
        const double bound = method->given(&a_case.of, f, launch, &packed, o);
        mpfr_sub_d(term, sum, out[o], MPFR_RNDA);
        const double error = fabs(mpfr_get_d(term, MPFR_RNDA));
        cr_assert(error <= bound, "%s, %s: %g, bound %g", method->name, format_facts[f].name, error,
                  bound);
        count->held++;
        count->near += bound > 0 && error > 0.1 * bound;
        count->rounded += error > 0;
        count->exact += error == 0;
    }
    matrices_free(&packed);
    mpfr_clears(sum, sum_abs, term, (mpfr_ptr)0);
}

Test(gemm_scaled, methods_scale_behind_the_sum)
{
    struct gemm_shape shape;
    struct count count = {0};
    uint64_t state = 1;
    for (size_t i = 0; product_shape(&shape, i); i++)
        for (size_t s = 0; s < SCALES; s++)
            for (size_t m = 0; m < METHODS; m++)
                for (enum format f = 0; f < ACCUMULATORS; f++) {
                    const uint64_t drawn = sample_next(&state);
                    const enum format of_a = eight[drawn & 1];
                    const struct method *method = method_named(methods[m].name);
                    const enum format output = drawn & 2 ? f : of_a;
                    if (!method_supports(method, DEVICE_CPU, of_a, f) ||
                        (method->of_chip && !method->of_chip(MMA_CHIP, of_a, f)))
                        continue;
                    shape.mixed = drawn & 4;
                    shape.scaling = GEMM_SCALED;
                    shape.scale[0] = scales[s][0];
                    shape.scale[1] = scales[s][1];
                    product_fill(&a_case, &shape, of_a, output,
                                 (enum sample)((drawn >> 8) % SAMPLES), drawn >> 16);
                    if (drawn & 8)
                        memset(a_case.c, 0, sizeof a_case.c);
                    hold(m, f, output, &count);
                }
    cr_expect(count.held > 2000 && count.near > 100 && count.rounded > 1000 && count.exact > 100 &&
                  count.special > 100,
              "%zu held, %zu near their bound, %zu rounded, %zu exact, %zu special", count.held,
              count.near, count.rounded, count.exact, count.special);
}

/* One product of each element is exact: all of the error is the epilogue's, which is up to nearly
 * three roundings, and the bound is no wider than these need. */
Test(gemm_scaled, the_bound_is_of_the_epilogue)
{
    struct gemm_shape shape = {.m = 16, .n = 16, .k = 1, .scaling = GEMM_SCALED};
    double worst = 0, over = 0;
    for (uint64_t seed = 1; seed < 200; seed++) {
        shape.scale[0] = 1 + (float)seed * 0x1.3p-9f;
        shape.scale[1] = 1 + (float)(seed * 7 % 200) * 0x1.7p-9f;
        product_fill(&a_case, &shape, E4M3, FP32, SAMPLE_NEAR, seed);
        const struct method *method = method_named("gemm/tiled");
        struct matrices_packed packed;
        struct matrices of = gemm_matrices(&a_case.of);
        mpfr_t sum, sum_abs;
        mpfr_inits2(PRODUCTS_PRECISION, sum, sum_abs, (mpfr_ptr)0);
        cr_assert(matrices_pack(&packed, &of, NULL) == STATUS_OK);
        cr_assert(product_run(method, &a_case, FP32, FP32, (struct shape){1, 0}, out) == STATUS_OK);
        for (size_t o = 0; o < a_case.of.bins; o++) {
            double x, y;
            factors(&x, &y, o);
            exact(sum, sum_abs, &x, &y, array_get(&a_case.of.c, o));
            const double size = mpfr_get_d(sum_abs, MPFR_RNDN);
            if (!isfinite(out[o]) || !mpfr_number_p(sum) || size < 0x1p-100)
                continue;
            const double bound = method->given(&a_case.of, FP32, (struct shape){1, 0}, &packed, o);
            mpfr_sub_d(sum, sum, out[o], MPFR_RNDA);
            const double error = fabs(mpfr_get_d(sum, MPFR_RNDA));
            cr_assert(error <= bound, "%g, bound %g", error, bound);
            worst = fmax(worst, error / (size * 0x1p-24));
            over = fmax(over, bound / (size * 0x1p-24));
        }
        matrices_free(&packed);
        mpfr_clears(sum, sum_abs, (mpfr_ptr)0);
    }
    cr_expect(worst > 1.2 && worst < 3, "%g roundings", worst);
    cr_expect(over < 3.001, "%g roundings", over);
}

/* All ways to the exact element, and to its magnitudes, which condition numbers are of. */
Test(gemm_scaled, references_have_scales)
{
    struct gemm_shape shape;
    static double x[PRODUCT_ROOM], y[PRODUCT_ROOM], of_a[PRODUCT_ROOM], of_b[PRODUCT_ROOM];
    size_t turn = 0, inexact = 0;
    mpfr_t sum, sum_abs, found;
    mpfr_inits2(PRODUCTS_PRECISION, sum, sum_abs, found, (mpfr_ptr)0);
    for (size_t i = 0; product_shape(&shape, i); i++)
        for (size_t s = 0; s < SCALES; s++) {
            struct problem p = {0};
            struct matrices_packed packed;
            turn++;
            shape.scaling = GEMM_SCALED;
            shape.scale[0] = scales[s][0];
            shape.scale[1] = scales[s][1];
            shape.mixed = turn % 3 == 0;
            product_fill(&a_case, &shape, eight[turn % 2], FP32, (enum sample)(turn % SAMPLES),
                         turn);
            struct matrices of = gemm_matrices(&a_case.of);
            cr_assert(matrices_pack(&packed, &of, NULL) == STATUS_OK);
            cr_expect(matrices_check(&packed, "scaled", &p) == STATUS_OK, "%s", p.text);
            for (size_t o = 0; o < a_case.of.bins; o++) {
                struct exact narrow;
                factors(x, y, o);
                exact(sum, sum_abs, x, y, array_get(&a_case.of.c, o));
                matrices_factors(&packed, o, of_a, of_b);
                for (size_t k = 0; k < shape.k; k++) {
                    cr_expect(same_double(of_a[k], x[k] * (double)scales[s][0]) &&
                              same_double(of_b[k], y[k] * (double)scales[s][1]));
                    inexact += fma(of_a[k], of_b[k], -of_a[k] * of_b[k]) != 0;
                }
                if (!mpfr_number_p(sum) || !matrices_sum(&packed, o, &narrow))
                    continue;
                exact_get(found, &narrow);
                cr_expect(mpfr_equal_p(found, sum), "k = %zu, %zu", shape.k, o);
                exact_get_abs(found, &narrow);
                cr_expect(mpfr_equal_p(found, sum_abs), "k = %zu, %zu", shape.k, o);
            }
            matrices_free(&packed);
        }
    mpfr_clears(sum, sum_abs, found, (mpfr_ptr)0);
    cr_expect(inexact > 100, "%zu products need more digits than doubles have", inexact);
}

/* Scales that are not made yet, methods that are not ours, and other formats. */
Test(gemm_scaled, others_are_refused)
{
    char why[OPERANDS_TEXT];
    struct setting s = {.shape = {.m = 1, .n = 1, .k = 4, .scaling = GEMM_SCALED, .scale = {2, 3}}};
    product_fill(&a_case, &s.shape, E4M3, FP32, SAMPLE_NEAR, 1);
    cr_expect(operation_fits(&operation_gemm, &a_case.of, why), "%s", why);
    a_case.of.gemm.scaling = GEMM_SCALED_BY_AMAX;
    cr_expect(!operation_fits(&operation_gemm, &a_case.of, why) && strstr(why, "made"), "%s", why);
    product_fill(&a_case, &s.shape, FP16, FP32, SAMPLE_NEAR, 1);
    cr_expect(!operation_fits(&operation_gemm, &a_case.of, why) && strstr(why, "8 bits"), "%s",
              why);
    struct method foreign = *method_named("gemm/tiled");
    foreign.foreign = true;
    for (enum gemm_scaling how = GEMM_SCALED; how <= GEMM_SCALED_BY_AMAX; how++) {
        s.shape.scaling = how;
        cr_expect(setting_can(method_named("gemm/tiled"), &s, E5M2, FP32));
        cr_expect(!setting_can(method_named("gemm/tiled"), &s, FP16, FP32));
        cr_expect(!setting_can(&foreign, &s, E5M2, FP32));
    }
}

/* Of a GPU alone: a library's takes one scale of each matrix where it says so. */
Test(gemm_scaled, methods_of_libraries)
{
    struct method library = {.name = "a/library", .operation = &operation_gemm};
    for (int whole = 0; whole < 2; whole++) {
        library.whole_scales = whole;
        cr_expect(method_scales(&library, GEMM_UNSCALED, 0));
        cr_expect_eq(method_scales(&library, GEMM_SCALED, 0), whole);
        cr_expect_eq(method_scales(&library, GEMM_SCALED_BY_AMAX, 0), whole);
        cr_expect(!method_scales(&library, GEMM_SCALED_OUTER, 0));
        cr_expect(!method_scales(&library, GEMM_SCALED_BLOCKS, 0));
    }
}

/* And why not. */
Test(gemm_scaled, what_is_expected_instead)
{
    static const struct {
        const char *name;
        size_t promote;
        const char *why; /* NULL: it takes them */
    } cases[] = {{"gemm/serial", 0, "do not change along k"},
                 {"gemm/tiled", 48, NULL},
                 {"gemm/promoted", 0, NULL},
                 {"gemm/promoted", 64, NULL},
                 {"gemm/promoted", 48, "a divisor of 128"}};
    const struct method library = {.name = "a/library", .whole_scales = true};
    struct operands of = {.gemm = {.m = 1, .n = 1, .k = 300, .scaling = GEMM_SCALED_BLOCKS}};
    char why[OPERANDS_TEXT];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        of.promote = cases[i].promote;
        *why = 0;
        cr_expect_eq(method_scales_fit(method_named(cases[i].name), &of, why), !cases[i].why);
        cr_expect(strstr(why, cases[i].why ? cases[i].why : ""), "%s: %s", cases[i].name, why);
    }
    cr_expect(!method_scales_fit(&library, &of, why) && strstr(why, "one scale of each"), "%s",
              why);
}
