#include "reference/measure/measure.h"

#include <math.h>

#include "reference/exact/mpfr.h"

const char *const outcome_name[OUTCOMES] = {"ok", "overflow", "nan", "unsupported", "error"};

/* Errors and bounds of sums are exact in it, but for the division in gamma_h, which rounds up. */
enum { EXACT_PRECISION = 2560, QUOTIENT_PRECISION = 128 };

static struct figure known(double value)
{
    return (struct figure){true, value};
}

/* |a / b| rounded once to double. The quotient is cut to 128 bits and, where something was cut off,
 * moved a little up: no double and no midpoint of doubles lies between it and the true one, also
 * where the double is subnormal. */
static double quotient(const mpfr_t a, const mpfr_t b)
{
    mpfr_t q;
    mpfr_init2(q, QUOTIENT_PRECISION + 2); /* room for the last rounding, too */
    mpfr_set_prec(q, QUOTIENT_PRECISION);
    bool cut = mpfr_div(q, a, b, MPFR_RNDZ) != 0;
    mpfr_abs(q, q, MPFR_RNDN);
    mpfr_prec_round(q, QUOTIENT_PRECISION + 2, MPFR_RNDZ);
    if (cut)
        mpfr_nextabove(q);
    double rounded = mpfr_get_d(q, MPFR_RNDN);
    mpfr_clear(q);
    return rounded;
}

/* Does sum round to a number of f? It does below half an ulp beyond the largest one, and half-way
 * where that one is even. */
static bool within_range(const mpfr_t sum, enum format f)
{
    const struct format_facts *facts = &format_facts[f];
    mpfr_t threshold;
    mpfr_init2(threshold, 64);
    mpfr_set_d(threshold, format_ulp(f, facts->largest) / 2, MPFR_RNDN);
    mpfr_add_d(threshold, threshold, facts->largest, MPFR_RNDN);
    bool even = format_encode(f, facts->largest) % 2 == 0;
    bool within = mpfr_number_p(sum) && mpfr_cmpabs(sum, threshold) < even;
    mpfr_clear(threshold);
    return within;
}

/* Dividing by the root of a sum that overflowed gives 0: finite, but wrong. */
static bool vanished(const struct reference *r, enum format accumulator, enum format f,
                     double result, const struct theorem *t)
{
    return result == 0 &&
           reference_squares_overflow(r, accumulator, t->kind == THEOREM_LAYERNORM_TEXTBOOK) &&
           mpfr_number_p(r->sum) && round_mpfr(r->sum, f) != 0;
}

static enum outcome outcome(const struct reference *r, enum format f, double result)
{
    if (!isfinite(result) && within_range(r->sum, f))
        return OUTCOME_OVERFLOW;
    if (isinf(result) && !mpfr_nan_p(r->sum) && (mpfr_sgn(r->sum) < 0) != (result < 0))
        return OUTCOME_OVERFLOW;
    return isnan(result) ? OUTCOME_NAN : OUTCOME_OK;
}

static void measure_special(struct measure *m, const struct reference *r, double result)
{
    bool same = mpfr_nan_p(r->sum) ? isnan(result) : mpfr_cmp_d(r->sum, result) == 0;
    if (mpfr_inf_p(r->sum) && isnan(result))
        m->err_abs = known(NAN);
    else if (!same)
        m->err_abs = known(INFINITY);
}

double measure_output_exact(enum format output, enum format accumulator)
{
    int digits = format_facts[accumulator].precision;
    return digits > format_facts[output].precision
               ? INFINITY
               : ldexp(format_facts[output].smallest, digits - 1);
}

/* Adds what rounding a number of the accumulator to `result` may change. */
static void add_output_rounding(mpfr_t bound, enum format accumulator, enum format output,
                                double result)
{
    const struct format_facts *facts = &format_facts[output];
    if (format_holds(output, accumulator) ||
        fabs(result) > measure_output_exact(output, accumulator))
        return;
    bool normal = fabs(result) >= facts->smallest_normal; /* then u |result| >= eta/2 */
    mpfr_t half;
    mpfr_init2(half, 53);
    mpfr_set_d(half, normal ? fabs(result) : facts->smallest, MPFR_RNDN);
    mpfr_mul_d(half, half, normal ? facts->unit_roundoff : 0.5, MPFR_RNDN); /* exact */
    mpfr_add(bound, bound, half, MPFR_RNDU);
    mpfr_clear(half);
}

static void measure_bound(struct measure *m, const mpfr_t error, const struct reference *r,
                          enum format storage, enum format accumulator, enum format output,
                          double result, const struct theorem *t)
{
    mpfr_t bound;
    mpfr_init2(bound, EXACT_PRECISION);
    if (theorem_bound(bound, t, r, storage, accumulator)) {
        add_output_rounding(bound, accumulator, output, result);
        m->bound = known(mpfr_get_d(bound, MPFR_RNDU)); /* up: rounded down it bounds nothing */
        m->broken = mpfr_greater_p(error, bound);
        if (!mpfr_zero_p(error) || !mpfr_zero_p(bound))
            m->err_over_bound = known(quotient(error, bound));
    }
    mpfr_clear(bound);
}

/* A result that is not finite is off by more than any bound, where nothing could overflow. */
static void measure_not_finite(struct measure *m, const struct reference *r, enum format storage,
                               enum format accumulator, enum format output, double result,
                               const struct theorem *t)
{
    struct figure error = known(isnan(result) ? NAN : INFINITY);
    double most = fmin(format_facts[accumulator].largest, format_facts[output].largest);
    m->err_abs = m->err_ulp = error;
    if (!mpfr_zero_p(r->sum))
        m->err_rel = error;
    if (!mpfr_zero_p(r->sum_abs))
        m->err_backward = error;
    if (!theorem_in_range(t, r, storage, accumulator, most))
        return;
    mpfr_t infinite;
    mpfr_init2(infinite, MPFR_PREC_MIN);
    mpfr_set_inf(infinite, 1);
    measure_bound(m, infinite, r, storage, accumulator, output, round_mpfr(r->sum, output), t);
    mpfr_clear(infinite);
}

static void measure_finite(struct measure *m, const struct reference *r, enum format storage,
                           enum format accumulator, enum format output, double result,
                           const struct theorem *t)
{
    /* Towards zero, so that the sum stays in its binade. */
    double ulp = format_ulp(output, mpfr_get_d(r->sum, MPFR_RNDZ));
    mpfr_t error, unit;
    mpfr_inits2(53, error, unit, (mpfr_ptr)0);
    reference_error(error, r, result);
    mpfr_set_d(unit, ulp, MPFR_RNDN);
    m->err_abs = known(mpfr_get_d(error, MPFR_RNDN));
    m->err_ulp = known(quotient(error, unit));
    if (!mpfr_zero_p(r->sum))
        m->err_rel = known(quotient(error, r->sum));
    if (!mpfr_zero_p(r->sum_abs))
        m->err_backward = known(quotient(error, r->sum_abs));
    measure_bound(m, error, r, storage, accumulator, output, result, t);
    mpfr_clears(error, unit, (mpfr_ptr)0);
}

void measure_output(struct measure *m, const struct reference *r, enum format storage,
                    enum format accumulator, enum format output, double result,
                    const struct theorem *t)
{
    *m = (struct measure){.outcome = outcome(r, output, result)};
    if (vanished(r, accumulator, output, result, t))
        m->outcome = OUTCOME_OVERFLOW;
    if (!mpfr_number_p(r->sum))
        measure_special(m, r, result);
    else if (!isfinite(result))
        measure_not_finite(m, r, storage, accumulator, output, result, t);
    else
        measure_finite(m, r, storage, accumulator, output, result, t);
}

void measure(struct measure *m, const struct reference *r, enum format storage,
             enum format accumulator, double result, const struct theorem *t)
{
    measure_output(m, r, storage, accumulator, accumulator, result, t);
}
