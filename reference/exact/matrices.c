#include "reference/exact/matrices.h"

#include <math.h>
#include <stdlib.h>

#include "reference/exact/mpfr.h"

enum { BLOCK = 2 * ARRAY_BLOCK };

static void pack(double *to, const struct array *from, size_t lines, size_t line, size_t next,
                 size_t k)
{
    for (size_t i = 0; i < lines; i++)
        for (size_t l = 0; l < k; l++)
            to[i * k + l] = array_get(from, i * line + l * next);
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
                                  .scale = {of->scale[0], of->scale[1]}};
    p->wide = p->scaled || of->a.format == FP64 || of->b.format == FP64;
    if (!p->a || !p->b) {
        matrices_free(p);
        return problem(why, STATUS_MEMORY, "out of memory for matrices of %zu x %zu and %zu x %zu",
                       of->m, of->k, of->k, of->n);
    }
    pack(p->a, &of->a, of->m, of->a_row, of->a_next, of->k);
    pack(p->b, &of->b, of->n, of->b_column, of->b_next, of->k);
    return STATUS_OK;
}

void matrices_free(struct matrices_packed *p)
{
    free(p->a);
    free(p->b);
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

/* Elements begin .. begin+count-1 of the row of A (0), or the column of B (1), that an element of D
 * is made of, scaled; those that are, in `room`. */
static const double *scaled(const struct matrices_packed *p, int which, size_t output,
                            const double *from, size_t begin, size_t count, double *room)
{
    const size_t line = which == 0 ? output / p->n : output % p->n;
    if (!p->scaled)
        return from + begin;
    for (size_t i = 0; i < count; i++) /* exact: 29 digits and 24 */
        room[i] = from[begin + i] * matrices_scale(&p->scale[which], line, begin + i);
    return room;
}

void matrices_factors(const struct matrices_packed *p, size_t output, double *x, double *y)
{
    struct terms t = terms_of(p, output);
    for (size_t i = 0; i < p->k; i++) {
        double of_a, of_b;
        x[i] = *scaled(p, 0, output, t.x, i, 1, &of_a);
        y[i] = *scaled(p, 1, output, t.y, i, 1, &of_b);
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
        const double *x = scaled(p, 0, output, t.x, begin, count, of_a);
        const double *y = scaled(p, 1, output, t.y, begin, count, of_b);
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
        products_add_one(sum, *scaled(p, 0, output, t.x, i, 1, &x),
                         *scaled(p, 1, output, t.y, i, 1, &y));
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

static bool agree(const struct matrices_packed *p, size_t output, mpfr_t number[4])
{
    struct exact narrow;
    struct products wide;
    matrices_mpfr(p, output, number[0], number[1]);
    matrices_products(p, output, &wide);
    products_get(number[2], &wide);
    products_get_abs(number[3], &wide);
    bool good = same(number[0], number[2]) && same(number[1], number[3]);
    if (!matrices_sum(p, output, &narrow))
        return good;
    exact_get(number[2], &narrow);
    exact_get_abs(number[3], &narrow);
    return good && same(number[0], number[2]) && same(number[1], number[3]);
}

enum status matrices_check(const struct matrices_packed *p, const char *name, struct problem *why)
{
    mpfr_t number[4];
    enum status status = STATUS_OK;
    for (int i = 0; i < 4; i++)
        mpfr_init2(number[i], MPFR_PREC_MIN);
    for (size_t i = 0; i < matrices_outputs(p) && status == STATUS_OK; i++)
        if (!agree(p, i, number))
            status = problem(why, STATUS_FAILED,
                             "%s: the superaccumulator and MPFR disagree on the exact element of "
                             "row %zu, column %zu: trust no figure of this build",
                             name, i / p->n, i % p->n);
    for (int i = 0; i < 4; i++)
        mpfr_clear(number[i]);
    return status;
}
