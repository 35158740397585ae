/* Smallest and largest elements and their indices, by two kinds that share nothing: encodings of
 * doubles, in the order of whole numbers, and comparisons of MPFR. */
#include <math.h>

#include "reference/exact/reference_parts.h"

/* best: that of the element, at index `at`; not read where there is none. */
static void set_value(struct reference *r, double best, size_t at)
{
    if (r->n == 0)
        best = exact_facts[r->of].largest ? -INFINITY : INFINITY;
    mpfr_set_prec(r->sum, 64);
    mpfr_set_prec(r->sum_abs, 64);
    if (exact_facts[r->of].form != FORM_INDEX)
        mpfr_set_d(r->sum, best, MPFR_RNDN);
    else if (r->n == 0)
        mpfr_set_si(r->sum, -1, MPFR_RNDN);
    else
        mpfr_set_ui(r->sum, at, MPFR_RNDN);
    mpfr_abs(r->sum_abs, r->sum, MPFR_RNDN);
}

/* ---- encodings ---- */

/* Grows with the value, -0 below +0; NaNs are below or above all others. */
static int64_t rank(enum exact_value of, double x)
{
    int64_t bits = (int64_t)double_bits(x);
    bits ^= bits < 0 ? INT64_MAX : 0;
    if (isnan(x))
        return exact_facts[of].nan_loses ? INT64_MAX : INT64_MIN;
    return exact_facts[of].largest ? ~bits : bits;
}

static void compute_fast(struct reference *r, const struct array *a)
{
    struct census c = {0};
    double block[ARRAY_BLOCK], best = 0;
    int64_t least = INT64_MAX;
    size_t at = 0;
    for (size_t begin = 0; begin < a->n; begin += ARRAY_BLOCK) {
        size_t count = a->n - begin < ARRAY_BLOCK ? a->n - begin : ARRAY_BLOCK;
        array_decode(a, begin, count, block);
        census_add(&c, a, begin, count);
        for (size_t i = 0; i < count; i++) {
            int64_t own = rank(r->of, block[i]);
            if (own < least || begin + i == 0) {
                least = own;
                best = block[i];
                at = begin + i;
            }
        }
    }
    reference_take_census(r, &c);
    set_value(r, best, at);
}

/* ---- MPFR ---- */

/* Is x to be taken instead of y, which stands before it? */
static bool is_better(enum exact_value of, const mpfr_t x, const mpfr_t y)
{
    if (mpfr_nan_p(x) || mpfr_nan_p(y))
        return exact_facts[of].nan_loses ? !mpfr_nan_p(x) : !mpfr_nan_p(y);
    bool down = exact_facts[of].largest;
    if (mpfr_zero_p(x) && mpfr_zero_p(y))
        return down ? mpfr_signbit(y) && !mpfr_signbit(x) : mpfr_signbit(x) && !mpfr_signbit(y);
    return down ? mpfr_greater_p(x, y) : mpfr_less_p(x, y);
}

static void compute_mpfr(struct reference *r, const struct array *a)
{
    struct census c = {0};
    size_t at = 0;
    mpfr_t x, best;
    mpfr_inits2(53, x, best, (mpfr_ptr)0);
    for (size_t i = 0; i < a->n; i++) {
        double element = array_get(a, i);
        reference_count_one(&c, element, a->format);
        mpfr_set_d(x, element, MPFR_RNDN);
        if (i == 0 || is_better(r->of, x, best)) {
            mpfr_swap(best, x);
            at = i;
        }
    }
    reference_take_census(r, &c);
    set_value(r, a->n ? mpfr_get_d(best, MPFR_RNDN) : 0, at);
    mpfr_clears(x, best, (mpfr_ptr)0);
}

static enum status compute(struct reference *r, const struct array *a, const struct array *b,
                           enum reference_kind kind, struct problem *p)
{
    (void)b, (void)p;
    kind == REFERENCE_FAST ? compute_fast(r, a) : compute_mpfr(r, a);
    return STATUS_OK;
}

const struct exact_rules reference_extremum = {.compute = compute};
