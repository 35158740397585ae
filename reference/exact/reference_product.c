/* Exact products, by two kinds that share nothing: integers of GMP, cut from below, and MPFR's
 * numbers, rounded downwards and upwards.
 *
 * A significand is an odd number times a power of two, so a product has as many bits as that of the
 * odd numbers, which never has fewer than one of a part of them: it has more than
 * REFERENCE_PRODUCT_DIGITS as soon as a running product has. Then it is no number of fewer, and is
 * cut. Exponents are kept apart, or are MPFR's, whose range no array exhausts. */
#include <math.h>

#include "reference/exact/reference_parts.h"

/* Sets the product if zeros, infinities or NaNs determine it, and returns whether they do. */
static bool set_special(struct reference *r, bool negative)
{
    bool nan = r->nans > 0 || (r->infs > 0 && r->zeros > 0);
    if (nan)
        mpfr_set_nan(r->sum);
    else if (r->infs > 0)
        mpfr_set_inf(r->sum, negative ? -1 : 1);
    else if (r->zeros > 0)
        mpfr_set_zero(r->sum, negative ? -1 : 1);
    else
        return false;
    mpfr_abs(r->sum_abs, r->sum, MPFR_RNDN);
    return true;
}

static void set_sign(struct reference *r, bool negative)
{
    mpfr_setsign(r->sum, r->sum, negative, MPFR_RNDN);
    mpfr_setsign(r->moment.sum, r->moment.sum, negative, MPFR_RNDN);
    mpfr_set_prec(r->sum_abs, mpfr_get_prec(r->sum));
    mpfr_abs(r->sum_abs, r->sum, MPFR_RNDN);
}

/* ---- integers ---- */

/* The magnitude is integer 2^exponent or, where it was cut, a little more. */
struct running {
    mpz_t integer;
    long exponent;
    size_t cuts;
};

static void multiply(struct running *to, unsigned long odd)
{
    mpz_mul_ui(to->integer, to->integer, odd);
    size_t bits = mpz_sizeinbase(to->integer, 2);
    if (bits <= REFERENCE_PRODUCT_DIGITS)
        return;
    mpz_tdiv_q_2exp(to->integer, to->integer, bits - REFERENCE_PRODUCT_DIGITS);
    to->exponent += (long)bits - REFERENCE_PRODUCT_DIGITS;
    to->cuts++;
}

/* Significands of few bits are multiplied in a word first. */
static void multiply_block(struct running *to, const double *x, size_t count)
{
    unsigned long word = 1;
    for (size_t i = 0; i < count; i++) {
        int exponent;
        double significand = frexp(fabs(x[i]), &exponent);
        if (!isfinite(x[i]) || x[i] == 0)
            continue;
        unsigned long odd = (unsigned long)ldexp(significand, 53);
        int zeros = __builtin_ctzl(odd);
        odd >>= zeros;
        to->exponent += exponent - 53 + zeros;
        if (odd > ~0ul / word) {
            multiply(to, word);
            word = 1;
        }
        word *= odd;
    }
    multiply(to, word);
}

/* Each cut took less than 2^(1-D) of the product, D = REFERENCE_PRODUCT_DIGITS: all of them less
 * than four units for each, and those do not show in the first REFERENCE_DIGITS bits? */
static bool is_sure(const struct running *of)
{
    mpz_t low, high;
    mpz_inits(low, high, NULL);
    mpz_add_ui(high, of->integer, 4 * of->cuts);
    mpz_tdiv_q_2exp(low, of->integer, REFERENCE_PRODUCT_DIGITS - REFERENCE_DIGITS);
    mpz_tdiv_q_2exp(high, high, REFERENCE_PRODUCT_DIGITS - REFERENCE_DIGITS);
    bool sure = mpz_cmp(low, high) == 0;
    mpz_clears(low, high, NULL);
    return sure;
}

static enum status set_product(struct reference *r, const struct running *of, struct problem *p)
{
    r->cut = of->cuts > 0;
    mpfr_set_prec(r->moment.sum, REFERENCE_PRODUCT_DIGITS);
    mpfr_set_z_2exp(r->moment.sum, of->integer, of->exponent, MPFR_RNDZ);
    mpfr_set_prec(r->sum, r->cut ? REFERENCE_DIGITS : REFERENCE_PRODUCT_DIGITS);
    mpfr_set(r->sum, r->moment.sum, MPFR_RNDZ);
    reference_finish_cut(r->sum, r->cut);
    return !r->cut || is_sure(of)
               ? STATUS_OK
               : problem(p, STATUS_FAILED,
                         "reference: %d bits do not tell the first %d of a product",
                         REFERENCE_PRODUCT_DIGITS, REFERENCE_DIGITS);
}

static enum status compute_fast(struct reference *r, const struct array *a, struct problem *p)
{
    struct running product = {.exponent = 0};
    struct census c = {0};
    double block[ARRAY_BLOCK];
    bool negative = false;
    mpz_init_set_ui(product.integer, 1);
    for (size_t begin = 0; begin < a->n; begin += ARRAY_BLOCK) {
        size_t count = a->n - begin < ARRAY_BLOCK ? a->n - begin : ARRAY_BLOCK;
        array_decode(a, begin, count, block);
        for (size_t i = 0; i < count; i++)
            negative ^= signbit(block[i]) != 0;
        census_add(&c, a, begin, count);
        if (c.zeros + c.infs + c.nans == 0)
            multiply_block(&product, block, count);
    }
    reference_take_census(r, &c);
    enum status status = STATUS_OK;
    if (!set_special(r, negative)) {
        status = set_product(r, &product, p);
        set_sign(r, negative);
    }
    mpz_clear(product.integer);
    return status;
}

/* ---- MPFR ---- */

/* Multiplies the magnitude of x to both. Returns whether it was exact. */
static bool multiply_bounds(mpfr_t low, mpfr_t high, double x)
{
    bool rounded = mpfr_mul_d(low, low, fabs(x), MPFR_RNDD) != 0;
    rounded |= mpfr_mul_d(high, high, fabs(x), MPFR_RNDU) != 0;
    return !rounded;
}

/* The bits on which both bounds agree, if they are not the product itself. */
static enum status set_bounded(struct reference *r, const mpfr_t low, const mpfr_t high,
                               struct problem *p)
{
    mpfr_t other;
    mpfr_init2(other, REFERENCE_DIGITS);
    mpfr_set_prec(r->sum, r->cut ? REFERENCE_DIGITS : REFERENCE_PRODUCT_DIGITS);
    mpfr_set(r->sum, low, MPFR_RNDD);
    mpfr_set(other, high, MPFR_RNDD);
    bool sure = !r->cut || mpfr_equal_p(r->sum, other);
    mpfr_clear(other);
    reference_finish_cut(r->sum, r->cut);
    mpfr_set_prec(r->moment.sum, REFERENCE_PRODUCT_DIGITS);
    mpfr_set(r->moment.sum, low, MPFR_RNDN);
    return sure ? STATUS_OK
                : problem(p, STATUS_FAILED, "reference: bounds of a product differ in %d bits",
                          REFERENCE_DIGITS);
}

static enum status compute_mpfr(struct reference *r, const struct array *a, struct problem *p)
{
    struct census c = {0};
    bool negative = false;
    mpfr_t low, high;
    mpfr_inits2(REFERENCE_PRODUCT_DIGITS, low, high, (mpfr_ptr)0);
    mpfr_set_ui(low, 1, MPFR_RNDN);
    mpfr_set_ui(high, 1, MPFR_RNDN);
    for (size_t i = 0; i < a->n; i++) {
        double x = array_get(a, i);
        negative = negative != (signbit(x) != 0);
        reference_count_one(&c, x, a->format);
        if (isfinite(x) && x != 0)
            r->cut |= !multiply_bounds(low, high, x);
    }
    reference_take_census(r, &c);
    enum status status = STATUS_OK;
    if (set_special(r, negative)) {
        r->cut = false;
    } else {
        status = set_bounded(r, low, high, p);
        set_sign(r, negative);
    }
    mpfr_clears(low, high, (mpfr_ptr)0);
    return status;
}

/* ---- errors ---- */

/* Exact where the product is whole and nearly a double: their digits are at most so far apart. A
 * product that is cut has so many bits that its distance to a double is not lost in those that
 * were cut off. */
static void product_error(mpfr_t error, const struct reference *r, double result)
{
    enum { APART = REFERENCE_PRODUCT_DIGITS + 4096 };
    mpfr_set_prec(error, APART);
    bool rounded = mpfr_sub_d(error, r->cut ? r->moment.sum : r->sum, result, MPFR_RNDZ) != 0;
    mpfr_abs(error, error, MPFR_RNDN);
    if (!rounded && !r->cut)
        return;
    mpfr_prec_round(error, REFERENCE_DIGITS, MPFR_RNDZ);
    reference_finish_cut(error, true);
}

static enum status compute(struct reference *r, const struct array *a, const struct array *b,
                           enum reference_kind kind, struct problem *p)
{
    (void)b;
    return kind == REFERENCE_FAST ? compute_fast(r, a, p) : compute_mpfr(r, a, p);
}

const struct exact_rules reference_product = {.compute = compute, .error = product_error};
