/* Exact values that are no sums but follow from exact sums: norm, mean, variance. */
#include "reference/exact/reference_parts.h"

/* Squares of sums of doubles, and of doubles, times n^2 < 2^128: from 2^-2148 to 2^2304. */
enum { MOMENT_PRECISION = 4608, QUOTIENT_PRECISION = REFERENCE_DIGITS + 256 };

void reference_finish_cut(mpfr_t x, bool cut)
{
    if (!cut || !mpfr_regular_p(x))
        return;
    mpfr_prec_round(x, REFERENCE_DIGITS + 2, MPFR_RNDZ);
    if (mpfr_signbit(x))
        mpfr_nextbelow(x);
    else
        mpfr_nextabove(x);
}

static bool set_root(mpfr_t to, const mpfr_t square)
{
    mpfr_set_prec(to, REFERENCE_DIGITS);
    bool cut = mpfr_sqrt(to, square, MPFR_RNDZ) != 0;
    reference_finish_cut(to, cut);
    return cut;
}

static bool set_quotient(mpfr_t to, const mpfr_t a, const mpfr_t b)
{
    mpfr_set_prec(to, REFERENCE_DIGITS);
    bool cut = mpfr_div(to, a, b, MPFR_RNDZ) != 0;
    reference_finish_cut(to, cut);
    return cut;
}

/* n^2 variance = n sum x^2 - (sum x)^2; false if it was rounded. */
static bool set_scatter(mpfr_t to, const struct reference *r)
{
    mpfr_t square;
    mpfr_init2(square, MOMENT_PRECISION);
    mpfr_set_prec(to, MOMENT_PRECISION);
    bool rounded = mpfr_sqr(square, r->moment.sum, MPFR_RNDN) != 0;
    rounded |= mpfr_mul_ui(to, r->moment.squares, r->n, MPFR_RNDN) != 0;
    rounded |= mpfr_sub(to, to, square, MPFR_RNDN) != 0;
    mpfr_clear(square);
    return !rounded;
}

/* What the numerator of a value is divided by: n, n^2 of a variance. */
static void set_divisor(mpfr_t to, const struct reference *r)
{
    mpfr_set_prec(to, 128);
    mpfr_set_ui(to, r->n, MPFR_RNDN);
    if (r->of == EXACT_VARIANCE)
        mpfr_mul_ui(to, to, r->n, MPFR_RNDN);
}

static bool derive_variance(struct reference *r)
{
    mpfr_t scatter, divisor;
    mpfr_inits2(128, scatter, divisor, (mpfr_ptr)0);
    bool exact = set_scatter(scatter, r);
    set_divisor(divisor, r);
    r->cut = set_quotient(r->sum, scatter, divisor);
    mpfr_set_ui(divisor, r->n, MPFR_RNDN);
    set_quotient(r->sum_abs, r->moment.squares, divisor);
    mpfr_clears(scatter, divisor, (mpfr_ptr)0);
    return exact;
}

bool reference_derive(struct reference *r)
{
    mpfr_t divisor;
    if (r->of == EXACT_VARIANCE)
        return derive_variance(r);
    if (r->of == EXACT_NORM) {
        r->cut = set_root(r->sum, r->moment.squares);
        mpfr_set_prec(r->sum_abs, mpfr_get_prec(r->sum));
        mpfr_set(r->sum_abs, r->sum, MPFR_RNDN);
        return true;
    }
    mpfr_init2(divisor, 128);
    set_divisor(divisor, r);
    r->cut = set_quotient(r->sum, r->moment.sum, divisor);
    set_quotient(r->sum_abs, r->moment.sum_abs, divisor);
    mpfr_clear(divisor);
    return true;
}

/* |sqrt(S) - result| = |S - result^2| / (sqrt(S) + result), in which nothing is lost to
 * cancellation; with a negative result it is sqrt(S) + |result|, over 1. */
static void set_root_error(mpfr_t over, mpfr_t under, const struct reference *r, double result)
{
    mpfr_set_prec(under, QUOTIENT_PRECISION);
    mpfr_sqrt(under, r->moment.squares, MPFR_RNDN);
    if (result < 0) {
        mpfr_sub_d(over, under, result, MPFR_RNDN);
        mpfr_set_ui(under, 1, MPFR_RNDN);
        return;
    }
    mpfr_add_d(under, under, result, MPFR_RNDN);
    mpfr_set_d(over, result, MPFR_RNDN);
    mpfr_sqr(over, over, MPFR_RNDN);
    mpfr_sub(over, r->moment.squares, over, MPFR_RNDN);
}

/* |N / D - result| = |N - D result| / D. */
static void set_quotient_error(mpfr_t over, mpfr_t under, const struct reference *r, double result)
{
    mpfr_t share;
    mpfr_init2(share, MOMENT_PRECISION);
    set_divisor(under, r);
    mpfr_mul_d(share, under, result, MPFR_RNDN);
    if (r->of == EXACT_VARIANCE)
        set_scatter(over, r);
    else
        mpfr_set(over, r->moment.sum, MPFR_RNDN);
    mpfr_sub(over, over, share, MPFR_RNDN);
    mpfr_clear(share);
}

static void set_exact_error(mpfr_t error, const struct reference *r, double result)
{
    enum { OF_SUMS = 2560 }; /* a sum of products may have more bits */
    mpfr_prec_t enough = mpfr_get_prec(r->sum) + 128;
    mpfr_set_prec(error, enough > OF_SUMS ? enough : OF_SUMS);
    mpfr_sub_d(error, r->sum, result, MPFR_RNDN);
    mpfr_abs(error, error, MPFR_RNDN);
}

void reference_error(mpfr_t error, const struct reference *r, double result)
{
    mpfr_t over, under;
    if (r->of == EXACT_PRODUCT) {
        reference_product_error(error, r, result);
        return;
    }
    if (!r->cut) {
        set_exact_error(error, r, result);
        return;
    }
    mpfr_inits2(MOMENT_PRECISION, over, under, (mpfr_ptr)0);
    if (r->of == EXACT_NORM)
        set_root_error(over, under, r, result);
    else
        set_quotient_error(over, under, r, result);
    mpfr_abs(over, over, MPFR_RNDN);
    set_quotient(error, over, under);
    mpfr_clears(over, under, (mpfr_ptr)0);
}

void reference_excess(mpfr_t excess, mpfr_t size, const struct reference *r)
{
    bool mean = r->of == EXACT_MEAN;
    if (r->of == EXACT_VARIANCE) { /* A - variance = mean^2 */
        mpfr_sqr(excess, r->moment.sum, MPFR_RNDN);
        set_scatter(size, r);
    } else if (r->of >= EXACT_PRODUCT) { /* A is the value's magnitude */
        mpfr_set_zero(excess, 1);
        mpfr_abs(size, r->sum, MPFR_RNDN);
    } else {
        mpfr_abs(size, mean ? r->moment.sum : r->sum, MPFR_RNDN);
        mpfr_sub(excess, mean ? r->moment.sum_abs : r->sum_abs, size, MPFR_RNDN);
    }
}
