/* Exact elements of products, many at a time, against those that are summed one by one; and the
 * pairs of doubles, and the roundings, that are read from them. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "reference/exact/grid.h"
#include "reference/exact/mpfr.h"
#include "tests/support/oracle.h"
#include "tests/support/products.h"

/* Does MPFR find this pair, and whether it is all, in a number? */
static bool reads(const mpfr_t number, double hi, double lo, bool all)
{
    mpfr_t rest;
    mpfr_init2(rest, PRODUCTS_PRECISION);
    mpfr_sub_d(rest, number, hi, MPFR_RNDN);
    bool good = mpfr_get_d(number, MPFR_RNDN) == hi && mpfr_get_d(rest, MPFR_RNDN) == lo &&
                all == (mpfr_cmp_d(rest, lo) == 0);
    mpfr_clear(rest);
    return good;
}

/* Element `output`, with its magnitudes if they were asked for. */
static bool holds(const struct matrices_packed *p, size_t output, const struct grid_sum *sum,
                  bool magnitudes)
{
    struct products due;
    mpfr_t number;
    bool good = true;
    mpfr_init2(number, MPFR_PREC_MIN);
    matrices_products(p, output, &due);
    for (int k = 0; k <= magnitudes; k++) {
        double hi, lo;
        bool all = grid_pair(sum, k, &hi, &lo);
        k == 0 ? products_get(number, &due) : products_get_abs(number, &due);
        good &= reads(number, hi, lo, all);
    }
    for (enum format f = 0; f < FORMATS; f++)
        good &= same_double(grid_round(sum, f), products_round(&due, f));
    mpfr_clear(number);
    return good;
}

/* Elements begin .. begin+count-1, by each variant. Returns how many are known. */
static size_t hold(const struct matrices_packed *p, size_t begin, size_t count, const char *of)
{
    struct grid_sum *sum = malloc(count * sizeof *sum);
    size_t known = 0;
    cr_assert(sum);
    for (size_t v = 0; v < grid_variants; v++)
        for (int magnitudes = 0; magnitudes < 2 && grid_variant[v].available(); magnitudes++) {
            grid_sums_by(&grid_variant[v], p, begin, count, magnitudes, sum);
            known = 0;
            for (size_t i = 0; i < count; i++) {
                known += !sum[i].unknown;
                cr_assert(sum[i].unknown || holds(p, begin + i, &sum[i], magnitudes),
                          "%s by %s, element %zu of %zu x %zu x %zu", of, grid_variant[v].name,
                          begin + i, p->m, p->n, p->k);
            }
        }
    free(sum);
    return known;
}

/* Every sample in every format, of every layout, whole and from any element on. */
Test(exact_grid, samples_of_every_format)
{
    static struct product_case a_case;
    struct gemm_shape shape;
    size_t turn = 0, known = 0, all = 0;
    for (size_t i = 0; product_shape(&shape, i); i++)
        for (enum format s = 0; s < FORMATS; s++)
            for (enum sample kind = 0; kind < SAMPLES; kind++) {
                struct matrices_packed packed;
                if (++turn % 3 && shape.k > 20)
                    continue;
                product_fill(&a_case, &shape, s, turn % 2 ? FP64 : s, kind, turn);
                struct matrices of = gemm_matrices(&a_case.of);
                cr_assert(matrices_pack(&packed, &of, NULL) == STATUS_OK);
                size_t outputs = matrices_outputs(&packed), begin = turn % (outputs + 1);
                if (begin < outputs)
                    known += hold(&packed, begin, outputs - begin, sample_name[kind]);
                all += outputs - begin;
                matrices_free(&packed);
            }
    cr_expect(known > all / 10 && known < all, "%zu of %zu are known", known, all);
}

struct wide_case {
    size_t m, n, k;
    int bits[2]; /* how far apart numbers of A and of B lie */
    bool positive;
    int c; /* the exponent of C; 0: it is 0 */
};

/* Whole numbers of 11 bits times powers of two; one line in 16 has zeros only. */
static void fill(double *x, size_t lines, size_t k, int bits, bool positive, uint64_t *seed)
{
    for (size_t i = 0; i < lines; i++)
        for (size_t l = 0; l < k; l++) {
            double whole = (double)(sample_next(seed) % 2048);
            double sign = positive || sample_next(seed) % 2 ? 1 : -1;
            int power = (int)(sample_next(seed) % (uint64_t)(bits - 10)) - bits / 2;
            x[i * k + l] = i % 16 == 9 ? 0 : ldexp(sign * whole, power);
        }
}

/* Of more rows, columns and products than are taken at once, of one to three slices and more. */
Test(exact_grid, many_rows_columns_and_products)
{
    static const struct wide_case cases[] = {
        {100, 19, 1300, {20, 22}, false, 1}, {49, 40, 513, {22, 44}, false, -60},
        {7, 9, 512, {44, 23}, true, 40},     {48, 8, 1025, {66, 45}, false, -3},
        {13, 300, 600, {40, 40}, false, 0},  {1, 1000, 40, {40, 40}, false, -70},
        {300, 1, 700, {40, 40}, true, -70},  {20, 30, 1500, {66, 66}, false, 0},
        {20, 10, 600, {67, 20}, false, 1},   {60, 11, 512, {44, 66}, true, -100},
    };
    uint64_t seed = 7;
    size_t known = 0, all = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct wide_case *w = &cases[i];
        struct matrices_packed packed;
        struct array a = {FP64, w->m * w->k, malloc(w->m * w->k * sizeof(double))};
        struct array b = {FP64, w->n * w->k, malloc(w->n * w->k * sizeof(double))};
        struct array c = {FP64, w->m * w->n, malloc(w->m * w->n * sizeof(double))};
        cr_assert(a.data && b.data && c.data);
        fill(a.data, w->m, w->k, w->bits[0], w->positive, &seed);
        fill(b.data, w->n, w->k, w->bits[1], w->positive, &seed);
        for (size_t j = 0; j < c.n; j++)
            ((double *)c.data)[j] =
                w->c == 0 ? 0 : ldexp((double)(sample_next(&seed) % 100) - 50, w->c);
        struct matrices of = {.a = a, .b = b, .c = c, .m = w->m, .n = w->n, .k = w->k};
        of.a_row = of.b_column = w->k;
        of.a_next = of.b_next = 1;
        cr_assert(matrices_pack(&packed, &of, NULL) == STATUS_OK);
        size_t begin = i % 3 == 0 ? 0 : sample_next(&seed) % (c.n / 2 + 1), count = c.n - begin;
        known += hold(&packed, begin, count, "whole numbers");
        all += count;
        matrices_free(&packed);
        free(a.data);
        free(b.data);
        free(c.data);
    }
    cr_expect(known > all / 2 && known < all, "%zu of %zu are known", known, all);
}

/* Sums just below, and beyond, what 127 bits hold: all numbers of a line but one, which is 1, are
 * nearly 2^bits. */
Test(exact_grid, sums_that_have_no_room)
{
    enum { M = 7, N = 9, K = 513 };
    static double x[M * K], y[N * K], c[M * N];
    size_t known = 0;
    for (int bits = 52; bits <= 66; bits++) {
        struct matrices of = {.a = {FP64, M * K, x}, .b = {FP64, N * K, y}, .c = {FP64, M * N, c}};
        struct matrices_packed packed;
        for (size_t i = 0; i < M * K; i++)
            x[i] = i % K == 77 ? 1 : ldexp(4095, bits - 12);
        for (size_t i = 0; i < N * K; i++)
            y[i] = i % K == 300 ? -1 : ldexp(-4095, bits - 12);
        for (size_t i = 0; i < M * N; i++)
            c[i] = i % 3 == 1 ? 0 : ldexp(1, i % 2 ? 20 : -1);
        of.m = M;
        of.n = N;
        of.k = of.a_row = of.b_column = K;
        of.a_next = of.b_next = 1;
        cr_assert(matrices_pack(&packed, &of, NULL) == STATUS_OK);
        known += hold(&packed, 0, M * N, "wide sums");
        matrices_free(&packed);
    }
    cr_expect(known > M * N && known < 15 * M * N, "%zu are known", known);
}
