#include "reference/exact/matrices.h"

#include <math.h>
#include <stdlib.h>

#include "reference/exact/grid.h"
#include "reference/exact/mpfr.h"

enum { BLOCK = 2 * ARRAY_BLOCK };

static void pack(double *to, const struct array *from, size_t lines, size_t line, size_t next,
                 size_t k)
{
    for (size_t i = 0; i < lines; i++)
        for (size_t l = 0; l < k; l++)
            to[i * k + l] = array_get(from, i * line + l * next);
}

const double *matrices_elements(const struct matrices_packed *p, int side, size_t line,
                                size_t begin, size_t count, double *room)
{
    const double *x = (side == 0 ? p->a : p->b) + line * p->k + begin;
    if (!p->scaled)
        return x;
    for (size_t i = 0; i < count; i++) /* exact: 29 digits and 24 */
        room[i] = x[i] * matrices_scale(&p->scale[side], line, begin + i);
    return room;
}

static void line_add(struct matrices_line *to, const double *x, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint64_t significand = double_bits(x[i]) & ((UINT64_C(1) << 52) - 1);
        const int field = (int)(double_bits(x[i]) >> 52 & 0x7ff), exponent = field > 0 ? field : 1;
        const uint64_t whole = significand | (uint64_t)(field > 0) << 52;
        to->negative |= x[i] < 0;
        if (field == 0x7ff)
            to->bits = MATRICES_NO_BITS;
        if (whole == 0 || to->bits == MATRICES_NO_BITS)
            continue;
        const int lowest = exponent - 1075 + __builtin_ctzll(whole);
        const int end = exponent - 1075 + 64 - __builtin_clzll(whole);
        const int first = to->bits > 0 && to->lowest < lowest ? to->lowest : lowest;
        const int last = to->bits > 0 && to->lowest + to->bits > end ? to->lowest + to->bits : end;
        to->lowest = first;
        to->bits = last - first;
    }
}

struct matrices_line matrices_line_of(const double *x, size_t count)
{
    struct matrices_line line = {0, 0, false};
    line_add(&line, x, count);
    return line;
}

static void find_lines(struct matrices_packed *p, int side, size_t lines)
{
    double room[BLOCK];
    for (size_t line = 0; line < lines; line++) {
        struct matrices_line *to = &p->line[side][line];
        *to = (struct matrices_line){0, 0, false};
        for (size_t begin = 0, count; begin < p->k; begin += count) {
            count = p->k - begin < BLOCK ? p->k - begin : BLOCK;
            line_add(to, matrices_elements(p, side, line, begin, count, room), count);
        }
    }
}

enum status matrices_pack(struct matrices_packed *p, const struct matrices *of, struct problem *why)
{
    *p = (struct matrices_packed){.m = of->m,
                                  .n = of->n,
                                  .k = of->k,
                                  .a = calloc(of->m * of->k + 1, sizeof *p->a),
                                  .b = calloc(of->n * of->k + 1, sizeof *p->b),
                                  .c = of->c,
                                  .scaled = of->scale[0].of != NULL,
                                  .scale = {of->scale[0], of->scale[1]},
                                  .line = {malloc((of->m + 1) * sizeof *p->line[0]),
                                           malloc((of->n + 1) * sizeof *p->line[1])}};
    p->wide = p->scaled || of->a.format == FP64 || of->b.format == FP64;
    if (!p->a || !p->b || !p->line[0] || !p->line[1]) {
        matrices_free(p);
        return problem(why, STATUS_MEMORY, "out of memory for matrices of %zu x %zu and %zu x %zu",
                       of->m, of->k, of->k, of->n);
    }
    pack(p->a, &of->a, of->m, of->a_row, of->a_next, of->k);
    pack(p->b, &of->b, of->n, of->b_column, of->b_next, of->k);
    find_lines(p, 0, of->m);
    find_lines(p, 1, of->n);
    return STATUS_OK;
}

void matrices_free(struct matrices_packed *p)
{
    free(p->a);
    free(p->b);
    free(p->line[0]);
    free(p->line[1]);
    *p = (struct matrices_packed){0};
}

/* The terms of an element: k products x y, and c. */
struct terms {
    const double *x, *y;
    double c;
};

static struct terms terms_of(const struct matrices_packed *p, size_t output)
{
    return (struct terms){p->a + output / p->n * p->k, p->b + output % p->n * p->k,
                          array_get(&p->c, output)};
}

void matrices_factors(const struct matrices_packed *p, size_t output, double *x, double *y)
{
    for (size_t i = 0; i < p->k; i++) {
        double of_a, of_b;
        x[i] = *matrices_elements(p, 0, output / p->n, i, 1, &of_a);
        y[i] = *matrices_elements(p, 1, output % p->n, i, 1, &of_b);
    }
}

bool matrices_sum(const struct matrices_packed *p, size_t output, struct exact *sum)
{
    struct terms t = terms_of(p, output);
    double hi[BLOCK], lo[BLOCK], of_a[BLOCK], of_b[BLOCK];
    struct exact s;
    exact_init(&s);
    for (size_t begin = 0, count; begin < p->k; begin += count) {
        count = p->k - begin < BLOCK ? p->k - begin : BLOCK;
        const double *x = matrices_elements(p, 0, output / p->n, begin, count, of_a);
        const double *y = matrices_elements(p, 1, output % p->n, begin, count, of_b);
        if (p->wide && products_fastest()->split(x, y, count, hi, lo) > 0)
            return false;
        for (size_t i = 0; !p->wide && i < count; i++)
            hi[i] = x[i] * y[i]; /* exact: narrower formats have at most 24 digits */
        exact_add_array(&s, &(struct array){FP64, count, hi}, 0, count);
        if (p->wide)
            exact_add_array(&s, &(struct array){FP64, count, lo}, 0, count);
    }
    exact_add(&s, t.c);
    *sum = s;
    return true;
}

void matrices_products(const struct matrices_packed *p, size_t output, struct products *sum)
{
    struct terms t = terms_of(p, output);
    products_init(sum);
    for (size_t i = 0; i < p->k; i++) {
        double x, y;
        products_add_one(sum, *matrices_elements(p, 0, output / p->n, i, 1, &x),
                         *matrices_elements(p, 1, output % p->n, i, 1, &y));
    }
    products_add_one(sum, t.c, 1);
}

double matrices_round(const struct matrices_packed *p, size_t output, enum format f)
{
    struct exact narrow;
    struct products wide;
    if (matrices_sum(p, output, &narrow))
        return exact_round(&narrow, f);
    matrices_products(p, output, &wide);
    return products_round(&wide, f);
}

/* --- by MPFR --- */

void matrices_mpfr(const struct matrices_packed *p, size_t output, mpfr_t sum, mpfr_t sum_abs)
{
    struct terms t = terms_of(p, output);
    mpfr_t x, y, product;
    mpfr_init2(product, 106);
    mpfr_inits2(53, x, y, (mpfr_ptr)0);
    mpfr_set_prec(sum, PRODUCTS_PRECISION);
    mpfr_set_prec(sum_abs, PRODUCTS_PRECISION);
    mpfr_set_d(sum, t.c, MPFR_RNDN); /* the first term: 0 + -0 would not be -0 */
    mpfr_abs(sum_abs, sum, MPFR_RNDN);
    for (size_t i = 0; i < p->k; i++) {
        mpfr_set_d(x, t.x[i], MPFR_RNDN);
        mpfr_set_d(y, t.y[i], MPFR_RNDN);
        if (p->scaled) { /* exact in 53 digits */
            mpfr_mul_d(x, x, matrices_scale(&p->scale[0], output / p->n, i), MPFR_RNDN);
            mpfr_mul_d(y, y, matrices_scale(&p->scale[1], output % p->n, i), MPFR_RNDN);
        }
        mpfr_mul(product, x, y, MPFR_RNDN);
        mpfr_add(sum, sum, product, MPFR_RNDN);
        mpfr_abs(product, product, MPFR_RNDN);
        mpfr_add(sum_abs, sum_abs, product, MPFR_RNDN);
    }
    mpfr_clears(x, y, product, (mpfr_ptr)0);
}

static bool same(const mpfr_t a, const mpfr_t b)
{
    if (mpfr_nan_p(a) || mpfr_nan_p(b))
        return mpfr_nan_p(a) && mpfr_nan_p(b);
    return mpfr_equal_p(a, b) && (!mpfr_zero_p(a) || mpfr_signbit(a) == mpfr_signbit(b));
}

/* number[2] is written over. */
static bool agree_on_grid(const struct grid_sum *sum, mpfr_t number[4])
{
    for (int k = 0; k < 2 && !sum->unknown; k++) {
        double hi, lo;
        bool all = grid_pair(sum, k == 1, &hi, &lo);
        mpfr_sub_d(number[2], number[k], hi, MPFR_RNDN);
        if (mpfr_get_d(number[k], MPFR_RNDN) != hi || mpfr_get_d(number[2], MPFR_RNDN) != lo ||
            all != (mpfr_cmp_d(number[2], lo) == 0))
            return false;
    }
    return true;
}

static bool agree(const struct matrices_packed *p, size_t output, const struct grid_sum *sum,
                  mpfr_t number[4])
{
    struct exact narrow;
    struct products wide;
    matrices_mpfr(p, output, number[0], number[1]);
    matrices_products(p, output, &wide);
    products_get(number[2], &wide);
    products_get_abs(number[3], &wide);
    bool good = same(number[0], number[2]) && same(number[1], number[3]);
    good = good && agree_on_grid(sum, number);
    if (!matrices_sum(p, output, &narrow))
        return good;
    exact_get(number[2], &narrow);
    exact_get_abs(number[3], &narrow);
    return good && same(number[0], number[2]) && same(number[1], number[3]);
}

enum status matrices_check(const struct matrices_packed *p, const char *name, struct problem *why)
{
    const size_t most = grid_window(p);
    struct grid_sum *sum = malloc(most * sizeof *sum);
    mpfr_t number[4];
    enum status status =
        sum ? STATUS_OK : problem(why, STATUS_MEMORY, "%s: out of memory for its sums", name);
    for (int i = 0; i < 4; i++)
        mpfr_init2(number[i], MPFR_PREC_MIN);
    for (size_t i = 0; i < matrices_outputs(p) && status == STATUS_OK; i++) {
        size_t left = matrices_outputs(p) - i;
        if (i % most == 0)
            grid_sums(p, i, left < most ? left : most, true, sum);
        if (!agree(p, i, &sum[i % most], number))
            status = problem(why, STATUS_FAILED,
                             "%s: the superaccumulator and MPFR disagree on the exact element of "
                             "row %zu, column %zu: trust no figure of this build",
                             name, i / p->n, i % p->n);
    }
    for (int i = 0; i < 4; i++)
        mpfr_clear(number[i]);
    free(sum);
    return status;
}
