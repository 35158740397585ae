/* Matrix products on the CPU: every bit against a walk of the order that the method's file states,
 * by MPFR; exact elements; special values; what an element may not depend on. */
#include <criterion/criterion.h>
#include <math.h>

#include "tests/support/oracle.h"
#include "tests/support/products.h"

static const char *const names[] = {"gemm/serial", "gemm/tiled", "gemm/split_k", "gemm/exact",
                                    "gemm/split_k_atomic"};
enum { ORDERED = 3, ALL = sizeof names / sizeof *names };

/* sum + x y rounded once, by MPFR. */
static double fused(enum format f, double sum, double x, double y)
{
    mpfr_t a, b, c;
    mpfr_inits2(53, a, b, (mpfr_ptr)0);
    mpfr_init2(c, PRODUCTS_PRECISION);
    mpfr_set_d(a, x, MPFR_RNDN);
    mpfr_set_d(b, y, MPFR_RNDN);
    mpfr_set_d(c, sum, MPFR_RNDN);
    mpfr_fma(c, a, b, c, MPFR_RNDN);
    double rounded = oracle_round(f, c);
    mpfr_clears(a, b, c, (mpfr_ptr)0);
    return rounded;
}

/* Products begin .. end-1 of an element, one after the other. */
static double chain(enum format f, const double *x, const double *y, size_t begin, size_t end)
{
    double sum = fused(f, -0.0, x[begin], y[begin]);
    for (size_t k = begin + 1; k < end; k++)
        sum = fused(f, sum, x[k], y[k]);
    return sum;
}

/* Chains of `length` products, added one after the other, and C last. */
static double chains(enum format f, const double *x, const double *y, size_t k, double c,
                     size_t length)
{
    double sum = 0;
    for (size_t begin = 0; begin < k; begin += length) {
        double one = chain(f, x, y, begin, begin + length < k ? begin + length : k);
        sum = begin == 0 ? one : oracle_add(f, sum, one);
    }
    return k == 0 ? c : oracle_add(f, sum, c);
}

static double due(const char *name, enum format f, const double *x, const double *y, size_t k,
                  double c, unsigned blocks)
{
    if (strcmp(name, "gemm/tiled") == 0)
        return chains(f, x, y, k, c, 128);
    if (strcmp(name, "gemm/split_k") == 0)
        return chains(f, x, y, k, c, (k + blocks - 1) / blocks);
    for (size_t i = 0; i < k; i++)
        c = fused(f, c, x[i], y[i]);
    return c;
}

/* The terms of an element, told from the shape's own words. */
static double terms(const struct product_case *p, size_t output, double *x, double *y)
{
    const struct gemm_shape *s = &p->of.gemm;
    size_t i = output / s->n, j = output % s->n;
    size_t lda = (s->a_column ? s->m : s->k) + s->pad, ldb = (s->b_column ? s->k : s->n) + s->pad;
    size_t b = s->a_column ? s->k * lda : s->m * lda;
    for (size_t k = 0; k < s->k; k++) {
        x[k] = array_get(&p->of.in, s->a_column ? k * lda + i : i * lda + k);
        y[k] = array_get(&p->of.in, b + (s->b_column ? j * ldb + k : k * ldb + j));
    }
    return array_get(&p->of.c, output);
}

static struct product_case a_case;
static double out[PRODUCT_ROOM], x[PRODUCT_ROOM], y[PRODUCT_ROOM];

/* Every result of a case, with so many threads and blocks. */
static void hold(const char *name, enum format f, enum format output, struct shape shape)
{
    const struct product_case *p = &a_case;
    cr_assert(product_run(method_named(name), p, f, output, shape, out) == STATUS_OK);
    for (size_t i = 0; i < p->of.bins; i++) {
        double c = terms(p, i, x, y), sum;
        c = format_round(f, c);
        sum = format_round(output, due(name, f, x, y, p->of.gemm.k, c, shape.blocks));
        cr_assert(same_double(out[i], sum), "%s, %zu x %zu x %zu, %s in %s to %s: %a, due %a", name,
                  p->of.gemm.m, p->of.gemm.n, p->of.gemm.k, format_facts[p->of.in.format].name,
                  format_facts[f].name, format_facts[output].name, out[i], sum);
    }
}

Test(gemm, bits_are_those_of_the_order)
{
    struct gemm_shape shape;
    size_t turn = 0;
    for (size_t i = 0; product_shape(&shape, i); i++)
        for (enum format s = 0; s < FORMATS; s++)
            for (enum format f = 0; f < ACCUMULATORS; f++) {
                enum sample kind = (enum sample)(turn++ % SAMPLES);
                enum format output = turn % 5 == 0 ? s : f;
                unsigned blocks = 1 + (unsigned)(turn % 7);
                if (shape.k > 200 && turn % 3 > 0)
                    continue;
                product_fill(&a_case, &shape, s, output, kind, turn);
                for (size_t m = 0; m < ORDERED; m++)
                    hold(names[m], f, output, (struct shape){1 + (unsigned)turn % 3, blocks});
            }
}

/* Fractions alone: MPFR sums the whole products, and rounds once. */
Test(gemm, exact_is_rounded_once)
{
    struct gemm_shape shape;
    size_t turn = 0;
    mpfr_t sum, term, factor;
    mpfr_inits2(PRODUCTS_PRECISION, sum, term, factor, (mpfr_ptr)0);
    for (size_t i = 0; product_shape(&shape, i); i++)
        for (enum format s = 0; s < FORMATS; s++)
            for (enum format f = 0; f < ACCUMULATORS; f++) {
                enum format output = turn % 5 == 0 ? s : f;
                product_fill(&a_case, &shape, s, output, (enum sample)(turn % SAMPLES), turn);
                turn++;
                cr_assert(product_run(method_named("gemm/exact"), &a_case, f, output,
                                      (struct shape){2, 0}, out) == STATUS_OK);
                for (size_t o = 0; o < a_case.of.bins; o++) {
                    mpfr_set_d(sum, terms(&a_case, o, x, y), MPFR_RNDN);
                    for (size_t k = 0; k < shape.k; k++) {
                        mpfr_set_d(term, x[k], MPFR_RNDN);
                        mpfr_set_d(factor, y[k], MPFR_RNDN);
                        mpfr_mul(term, term, factor, MPFR_RNDN);
                        mpfr_add(sum, sum, term, MPFR_RNDN);
                    }
                    double want = oracle_round(output, sum);
                    cr_assert(same_double(out[o], want), "%s to %s, k = %zu: %a, due %a",
                              format_facts[s].name, format_facts[output].name, shape.k, out[o],
                              want);
                }
            }
    mpfr_clears(sum, term, factor, (mpfr_ptr)0);
}

/* Two products and C. What all methods give, and what those give that round on the way. */
Test(gemm, special_values)
{
    static const struct {
        const char *of;
        double x[2], y[2], c, due, exact;
    } cases[] = {
        {"-0 alone", {-0.0, 0.0}, {1, -1}, -0.0, -0.0, -0.0},
        {"a +0 among -0", {-0.0, 0.0}, {1, -1}, 0.0, 0.0, 0.0},
        {"C takes all", {1, 2}, {1, 1}, -3, 0.0, 0.0},
        {"inf times zero", {INFINITY, 1}, {0, 1}, 1, NAN, NAN},
        {"inf", {INFINITY, 1}, {1, 1}, -1, INFINITY, INFINITY},
        {"inf less inf", {INFINITY, -INFINITY}, {1, 1}, 0, NAN, NAN},
        {"inf in C", {1, 1}, {1, 1}, -INFINITY, -INFINITY, -INFINITY},
        {"inf in C against inf", {INFINITY, 1}, {1, 1}, -INFINITY, NAN, NAN},
        {"NaN in A", {NAN, 1}, {0, 1}, 1, NAN, NAN},
        {"NaN in B", {1, 1}, {1, NAN}, 1, NAN, NAN},
        {"NaN in C", {1, 1}, {1, 1}, NAN, NAN, NAN},
        {"subnormal", {0x1p-100, 0}, {0x1p-49, 1}, 0, 0x1p-149, 0x1p-149},
        {"half of one", {0x1p-100, 0}, {0x1p-50, 1}, 0, 0, 0},
        {"two halves", {0x1p-100, 0x1p-100}, {0x1p-50, 0x1p-50}, 0, 0, 0x1p-149},
        {"overflow", {0x1p100, 1}, {0x1p28, 1}, 0, INFINITY, INFINITY},
        {"overflow, and back", {0x1p100, -0x1p100}, {0x1p28, 0x1p28}, 1, INFINITY, 1},
    };
    struct gemm_shape shape = {.m = 1, .n = 1, .k = 2};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        product_fill(&a_case, &shape, FP32, FP32, SAMPLE_ZERO, 1);
        array_encode(&a_case.of.in, 0, 2, cases[i].x);
        array_encode(&a_case.of.in, 2, 2, cases[i].y);
        array_encode(&a_case.of.c, 0, 1, &cases[i].c);
        for (size_t m = 0; m < ALL; m++) {
            bool exact = method_named(names[m])->addition == ADDITION_EXACT;
            double want = exact ? cases[i].exact : cases[i].due;
            cr_assert(product_run(method_named(names[m]), &a_case, FP32, FP32, (struct shape){1, 1},
                                  out) == STATUS_OK);
            cr_expect(same_double(*out, want), "%s, %s: %a, due %a", names[m], cases[i].of, *out,
                      want);
        }
    }
}

/* Its own row and column, alone, in any layout, and with any number of threads. */
Test(gemm, elements_do_not_see_each_other)
{
    static struct product_case alone;
    static double all[PRODUCT_ROOM];
    struct gemm_shape many = {.m = 5, .n = 4, .k = 150, .a_column = true, .pad = 3},
                      one = {.m = 1, .n = 1, .k = 150};
    product_fill(&a_case, &many, FP32, FP32, SAMPLE_NEAR, 7);
    for (size_t m = 0; m < ALL - 1; m++) {
        cr_assert(product_run(method_named(names[m]), &a_case, FP32, FP32, (struct shape){3, 4},
                              all) == STATUS_OK);
        for (size_t i = 0; i < 20; i++) {
            product_fill(&alone, &one, FP32, FP32, SAMPLE_ZERO, 1);
            double c = terms(&a_case, i, x, y);
            array_encode(&alone.of.in, 0, 150, x);
            array_encode(&alone.of.in, 150, 150, y);
            array_encode(&alone.of.c, 0, 1, &c);
            cr_assert(product_run(method_named(names[m]), &alone, FP32, FP32, (struct shape){1, 4},
                                  out) == STATUS_OK);
            cr_expect(same_double(*out, all[i]), "%s, element %zu", names[m], i);
        }
    }
}

/* More columns than are computed at a time. */
Test(gemm, many_columns)
{
    const struct gemm_shape shape = {.m = 3, .n = 40, .k = 20};
    for (unsigned threads = 1; threads < 6; threads++) {
        product_fill(&a_case, &shape, FP32, FP32, SAMPLE_NEAR, threads);
        for (size_t m = 0; m < ORDERED; m++)
            hold(names[m], FP32, FP32, (struct shape){threads, 2});
    }
}

/* Where no addition rounds, any order gives the same. */
Test(gemm, atomic_loses_nothing)
{
    struct gemm_shape shape = {.m = 3, .n = 4, .k = 100};
    product_fill(&a_case, &shape, FP32, FP32, SAMPLE_ZERO, 1);
    for (size_t i = 0; i < a_case.of.in.n; i++)
        array_encode(&a_case.of.in, i, 1, &(double){(double)(i % 13) - 6});
    for (size_t i = 0; i < a_case.of.c.n; i++)
        array_encode(&a_case.of.c, i, 1, &(double){(double)i});
    for (unsigned threads = 1; threads < 6; threads++) {
        cr_assert(product_run(method_named("gemm/split_k_atomic"), &a_case, FP32, FP32,
                              (struct shape){threads, 7}, out) == STATUS_OK);
        for (size_t i = 0; i < a_case.of.bins; i++) {
            double sum = terms(&a_case, i, x, y);
            for (size_t k = 0; k < 100; k++)
                sum += x[k] * y[k];
            cr_expect(out[i] == sum, "%u threads, element %zu: %g, due %g", threads, i, out[i],
                      sum);
        }
    }
}

Test(gemm, heights_are_those_of_the_orders)
{
    for (size_t k = 1; k < 600; k++) {
        size_t tiles = (k + 127) / 128, first = k < 128 ? k : 128;
        cr_expect_eq(method_named("gemm/serial")->height(k + 1, (struct shape){0, 0}), k);
        cr_expect_eq(method_named("gemm/tiled")->height(k + 1, (struct shape){0, 0}),
                     first - 1 + tiles - 1 + 1);
    }
    cr_expect_eq(method_named("gemm/tiled")->height(1, (struct shape){0, 0}), 0);
}

/* Operands that do not fit are told from those that do. */
Test(gemm, what_does_not_fit_is_refused)
{
    struct gemm_shape shape = {.m = 2, .n = 3, .k = 5};
    char why[OPERANDS_TEXT] = "";
    product_fill(&a_case, &shape, FP32, FP32, SAMPLE_NEAR, 1);
    cr_expect(operation_fits(&operation_gemm, &a_case.of, why), "%s", why);
    struct operands few = a_case.of, no_c = a_case.of, others = a_case.of, mixed = a_case.of;
    few.in.n--;
    no_c.c.data = NULL;
    others.bins = 5;
    mixed.gemm.mixed = true;
    cr_expect(!operation_fits(&operation_gemm, &few, why) && *why);
    cr_expect(!operation_fits(&operation_gemm, &no_c, why));
    cr_expect(!operation_fits(&operation_gemm, &others, why));
    cr_expect(!operation_fits(&operation_gemm, &mixed, why) && strstr(why, "two formats"));
}
