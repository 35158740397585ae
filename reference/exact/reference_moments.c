/* Exact values that are no sums but follow from exact sums: norm, mean, variance. */
#include "reference/exact/reference_parts.h"

enum { QUOTIENT_PRECISION = REFERENCE_DIGITS + 256 };

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

bool reference_scatter(mpfr_t to, const struct reference *r)
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

static bool mean_fraction(mpfr_t over, mpfr_t under, const struct reference *r)
{
    mpfr_set_prec(under, 64);
    mpfr_set_prec(over, MOMENT_PRECISION);
    return mpfr_set_ui(under, r->n, MPFR_RNDN) == 0 &&
           mpfr_set(over, r->moment.sum, MPFR_RNDN) == 0;
}

/* scatter / n^2 */
static bool variance_fraction(mpfr_t over, mpfr_t under, const struct reference *r)
{
    mpfr_set_prec(under, 128);
    mpfr_set_ui(under, r->n, MPFR_RNDN);
    mpfr_mul_ui(under, under, r->n, MPFR_RNDN);
    return reference_scatter(over, r);
}

/* The divisor of A is n. */
static bool derive_quotient(struct reference *r)
{
    const struct exact_rules *rules = exact_facts[r->of].rules;
    mpfr_t over, under;
    mpfr_inits2(128, over, under, (mpfr_ptr)0);
    bool exact = rules->fraction(over, under, r);
    r->cut = set_quotient(r->sum, over, under);
    mpfr_set_ui(under, r->n, MPFR_RNDN);
    set_quotient(r->sum_abs, rules->squares ? r->moment.squares : r->moment.sum_abs, under);
    mpfr_clears(over, under, (mpfr_ptr)0);
    return exact;
}

static bool derive_root(struct reference *r)
{
    r->cut = set_root(r->sum, r->moment.squares);
    mpfr_set_prec(r->sum_abs, mpfr_get_prec(r->sum));
    mpfr_set(r->sum_abs, r->sum, MPFR_RNDN);
    return true;
}

bool reference_derive(struct reference *r)
{
    return exact_facts[r->of].rules->derive(r);
}

/* Computes the sum and the sum of squares as far as the value depends on them. */
static enum status compute(struct reference *r, const struct array *a, const struct array *b,
                           enum reference_kind kind, struct problem *p)
{
    const struct exact_rules *rules = exact_facts[r->of].rules;
    enum status status = STATUS_OK;
    (void)b;
    if (rules->sum) {
        status = reference_sums(r, a, NULL, kind, p);
        mpfr_swap(r->moment.sum, r->sum);
        mpfr_swap(r->moment.sum_abs, r->sum_abs);
    }
    if (status == STATUS_OK && rules->squares) {
        status = reference_sums(r, a, a, kind, p);
        mpfr_swap(r->moment.squares, r->sum);
    }
    if (status == STATUS_OK && !reference_derive(r))
        status = problem(p, STATUS_FAILED, "reference: MPFR rounded an exact number");
    return status;
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
    exact_facts[r->of].rules->fraction(over, under, r);
    mpfr_mul_d(share, under, result, MPFR_RNDN);
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
    const struct exact_rules *rules = exact_facts[r->of].rules;
    mpfr_t over, under;
    if (rules->error) {
        rules->error(error, r, result);
        return;
    }
    if (!r->cut) {
        set_exact_error(error, r, result);
        return;
    }
    mpfr_inits2(MOMENT_PRECISION, over, under, (mpfr_ptr)0);
    rules->cut_error(over, under, r, result);
    mpfr_abs(over, over, MPFR_RNDN);
    set_quotient(error, over, under);
    mpfr_clears(over, under, (mpfr_ptr)0);
}

/* A - variance = mean^2 */
static void variance_excess(mpfr_t excess, mpfr_t size, const struct reference *r)
{
    mpfr_sqr(excess, r->moment.sum, MPFR_RNDN);
    reference_scatter(size, r);
}

static void plain_excess(mpfr_t excess, mpfr_t size, const mpfr_t sum, const mpfr_t sum_abs)
{
    mpfr_abs(size, sum, MPFR_RNDN);
    if (mpfr_signbit(sum))
        mpfr_add(excess, sum_abs, sum, MPFR_RNDN);
    else
        mpfr_sub(excess, sum_abs, sum, MPFR_RNDN);
}

static void mean_excess(mpfr_t excess, mpfr_t size, const struct reference *r)
{
    plain_excess(excess, size, r->moment.sum, r->moment.sum_abs);
}

void reference_excess(mpfr_t excess, mpfr_t size, const struct reference *r)
{
    const struct exact_rules *rules = exact_facts[r->of].rules;
    if (rules->excess)
        rules->excess(excess, size, r);
    else
        plain_excess(excess, size, r->sum, r->sum_abs);
}

const struct exact_rules reference_norm = {
    .compute = compute, .squares = true, .derive = derive_root, .cut_error = set_root_error};
const struct exact_rules reference_mean = {.compute = compute,
                                           .sum = true,
                                           .fraction = mean_fraction,
                                           .derive = derive_quotient,
                                           .excess = mean_excess,
                                           .cut_error = set_quotient_error};
const struct exact_rules reference_variance = {.compute = compute,
                                               .sum = true,
                                               .squares = true,
                                               .fraction = variance_fraction,
                                               .derive = derive_quotient,
                                               .excess = variance_excess,
                                               .cut_error = set_quotient_error};
