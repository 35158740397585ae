/* The theorems of sums of exponentials, their logarithms and the shares in them, with their proofs.
 *
 * m = max x, d = m - x >= 0, S = sum exp(-d). A method rounds each element to the accumulator, by
 * at most c, takes m from it, rounds, and takes the exponential, correctly rounded. Rounding keeps
 * the order, so its m is m, rounded: the argument it takes errs by at most u (d + 2c) + 2c = u d +
 * k, with k = 2c (1+u), which is a factor of at most exp(u d + k).
 *
 * The sum. The exponential is rounded, by u, and on its way to the sum of all there are h roundings
 * more, by u each: G = (1+u)^(h+1). An exponential so small that it is subnormal errs by eta/2
 * more. As exp(u d) - 1 <= u d exp(u d) and u <= 2^-8, with T = sum d exp(-d (1 - 2^-8))
 *
 *     E = sum exp(-d) (G exp(u d + k) - 1) + G n eta/2 <= S (G e^k - 1) + G e^k u T + G n eta/2.
 *
 * Rescaled. Where a larger element comes, or where parts are put together, a sum is multiplied by
 * exp(m - m'), rounded. The arguments' errors on an element's way are at most u times differences
 * that add up to d again, so exp(u d + k) stands; the exponential and the product are two of the h
 * roundings. A sum s is of at most n exponentials, none above 1: s <= n G; it has the exponential
 * of its own largest element: s >= 1. So only where exp(m - m') is subnormal can either underflow,
 * and that costs (s + 1) eta/2. Differences m' - m add up to at most the range R of the elements,
 * as the accumulator has them; a subnormal exponential takes one of at least L = |log(smallest
 * normal)|; so they are at most R / L, and at most 8 more where 8 parts are put together: min(h, R
 * / L + 8) (n G + 1) G eta/2 more.
 *
 * Either way S is between 1 and n, the computed sum between 1 and n G, so E is at most n G - 1.
 *
 * The logarithm. The computed sum is at least 1, as exp(0) is in it. With e = E / S its logarithm
 * errs by at most e / (1 - e) where e < 1, and always by at most max(log S, e), and is rounded by u
 * log; m errs by c, and the last addition is rounded.
 *
 * A share. exp(-d) errs by (1+u) exp(u d + k) and eta/2; the sum is at least max(1, S - E) and at
 * most S + E; the quotient is rounded, by u or eta/2. So v errs by at most v ((1+u)^2 exp(u d + k)
 * q - 1) + (1+u) eta/2 + eta/2, q the larger of S / max(1, S - E) and (S + E) / S. No exponential
 * is above 1 and no sum below it, as rounding keeps the order: v and its result lie between 0 and
 * 1, so the error is at most max(v, 1 - v).
 *
 * Nothing may overflow: where an element is beyond the accumulator there is no bound. */
#include <math.h>
#include <stdlib.h>

#include "reference/theorem/factors.h"

enum { DIGITS = 64 }; /* every step is rounded up */

struct errors {
    mpfr_t k, grown, sum, error, half; /* grown: G - 1; error: E; half: eta/2 */
};

static void set_k(struct errors *e, const struct reference *r, enum format storage, enum format f)
{
    mpfr_set_d(e->k, r->largest, MPFR_RNDU);
    theorem_element(e->k, e->k, storage, f);
    mpfr_mul_d(e->k, e->k, 2, MPFR_RNDU);
    mpfr_mul_d(e->k, e->k, 1 + format_facts[f].unit_roundoff, MPFR_RNDU);
}

/* What rescaling may lose to underflow. */
static void add_rescaling(struct errors *e, const struct theorem *t, const struct reference *r,
                          enum format f)
{
    mpfr_t times, part;
    mpfr_inits2(DIGITS, times, part, (mpfr_ptr)0);
    mpfr_add_d(times, e->k, r->exponentials.range, MPFR_RNDU);
    mpfr_mul_d(times, times, 1 + 0x1p-6, MPFR_RNDU); /* the differences are rounded */
    mpfr_div_d(times, times, -log(format_facts[f].smallest_normal) * (1 - 0x1p-20), MPFR_RNDU);
    mpfr_add_ui(times, times, 8, MPFR_RNDU);
    mpfr_set_ui(part, t->height, MPFR_RNDU);
    mpfr_min(times, times, part, MPFR_RNDU);
    mpfr_add_ui(part, e->grown, 1, MPFR_RNDU);
    mpfr_mul_ui(part, part, r->n, MPFR_RNDU);
    mpfr_add_ui(part, part, 1, MPFR_RNDU);
    mpfr_mul(part, part, times, MPFR_RNDU);
    mpfr_mul(part, part, e->half, MPFR_RNDU);
    mpfr_fma(e->error, part, e->grown, e->error, MPFR_RNDU);
    mpfr_add(e->error, e->error, part, MPFR_RNDU);
    mpfr_clears(times, part, (mpfr_ptr)0);
}

/* E and what it is made of. */
static void set_errors(struct errors *e, const struct theorem *t, const struct reference *r,
                       enum format storage, enum format f, bool rescaled)
{
    double u = format_facts[f].unit_roundoff;
    mpfr_t part;
    mpfr_inits2(DIGITS, part, e->k, e->grown, e->sum, e->error, e->half, (mpfr_ptr)0);
    mpfr_set_d(e->sum, r->exponentials.sum, MPFR_RNDU);
    set_k(e, r, storage, f);
    theorem_half_smallest(e->half, f);
    mpfr_set_d(part, u, MPFR_RNDU);
    mpfr_t growth;
    mpfr_init2(growth, THEOREM_PRECISION); /* so that (1+u)^h - 1 keeps its digits */
    theorem_growth(growth, t->height + 1, part);
    mpfr_set(e->grown, growth, MPFR_RNDU);
    mpfr_clear(growth);
    /* G e^k - 1 = (e^k - 1) + (G - 1) e^k */
    mpfr_exp(part, e->k, MPFR_RNDU);
    mpfr_mul(e->error, part, e->grown, MPFR_RNDU);
    mpfr_expm1(part, e->k, MPFR_RNDU);
    mpfr_add(e->error, e->error, part, MPFR_RNDU);
    mpfr_add_ui(part, e->error, 1, MPFR_RNDU); /* G e^k */
    mpfr_mul(e->error, e->error, e->sum, MPFR_RNDU);
    mpfr_mul_d(part, part, u, MPFR_RNDU);
    mpfr_mul_d(part, part, r->exponentials.weighted, MPFR_RNDU);
    mpfr_add(e->error, e->error, part, MPFR_RNDU);
    mpfr_mul_ui(part, e->half, r->n, MPFR_RNDU);
    mpfr_add(e->error, e->error, part, MPFR_RNDU);
    mpfr_fma(e->error, part, e->grown, e->error, MPFR_RNDU);
    if (rescaled)
        add_rescaling(e, t, r, f);
    mpfr_add_ui(part, e->grown, 1, MPFR_RNDU);
    mpfr_mul_ui(part, part, r->n, MPFR_RNDU);
    mpfr_sub_ui(part, part, 1, MPFR_RNDU);
    mpfr_min(e->error, e->error, part, MPFR_RNDU);
    mpfr_clear(part);
}

static void free_errors(struct errors *e)
{
    mpfr_clears(e->k, e->grown, e->sum, e->error, e->half, (mpfr_ptr)0);
}

/* The errors of one row, with all that they were set from. */
struct row {
    struct errors errors;
    size_t height, n;
    double largest, sum, weighted, range;
    enum format storage, accumulator;
    bool rescaled, set;
};

/* As theorem_memo's. */
struct exponentials_memo {
    struct row row[THEOREM_MEMO_ROWS];
    size_t oldest;
};

struct exponentials_memo *exponentials_memo_new(void)
{
    return calloc(1, sizeof(struct exponentials_memo));
}

void exponentials_memo_free(struct exponentials_memo *m)
{
    for (size_t i = 0; m && i < THEOREM_MEMO_ROWS && m->row[i].set; i++)
        free_errors(&m->row[i].errors);
    free(m);
}

static bool same(const struct row *a, const struct row *b)
{
    return a->height == b->height && a->n == b->n && a->largest == b->largest && a->sum == b->sum &&
           a->weighted == b->weighted && a->range == b->range && a->storage == b->storage &&
           a->accumulator == b->accumulator && a->rescaled == b->rescaled;
}

/* Of the memo, or of `own` where there is none, which is to be freed then. */
static const struct errors *errors_of(struct errors *own, const struct theorem *t,
                                      const struct reference *r, enum format storage, enum format f,
                                      bool rescaled)
{
    struct exponentials_memo **kept = t->memo ? theorem_memo_exponentials(t->memo) : NULL;
    struct row row = {.height = t->height,
                      .n = r->n,
                      .largest = r->largest,
                      .sum = r->exponentials.sum,
                      .weighted = r->exponentials.weighted,
                      .range = r->exponentials.range,
                      .storage = storage,
                      .accumulator = f,
                      .rescaled = rescaled,
                      .set = true};
    if (kept && !*kept)
        *kept = exponentials_memo_new();
    if (!kept || !*kept) {
        set_errors(own, t, r, storage, f, rescaled);
        return own;
    }
    struct exponentials_memo *m = *kept;
    for (size_t i = 0; i < THEOREM_MEMO_ROWS && m->row[i].set; i++)
        if (same(&m->row[i], &row))
            return &m->row[i].errors;
    struct row *to = &m->row[m->oldest];
    m->oldest = (m->oldest + 1) % THEOREM_MEMO_ROWS;
    if (to->set)
        free_errors(&to->errors);
    *to = row;
    set_errors(&to->errors, t, r, storage, f, rescaled);
    return &to->errors;
}

/* bound = what log S and m err by, and their addition. */
static void of_logarithm(mpfr_t bound, const struct errors *e, const struct reference *r,
                         enum format f)
{
    double u = format_facts[f].unit_roundoff;
    mpfr_t log, part, lesser;
    mpfr_inits2(DIGITS, log, part, lesser, (mpfr_ptr)0);
    /* The sum is rounded up, with 128 bits and then to a double: S is at least this. */
    mpfr_set_d(lesser, r->exponentials.sum * (1 - 0x1p-51), MPFR_RNDD);
    mpfr_log(log, e->sum, MPFR_RNDU);
    mpfr_div(part, e->error, lesser, MPFR_RNDU); /* e */
    mpfr_max(bound, log, part, MPFR_RNDU);
    if (mpfr_cmp_d(part, 0.5) < 0) {
        mpfr_ui_sub(lesser, 1, part, MPFR_RNDD);
        mpfr_div(part, part, lesser, MPFR_RNDU);
        mpfr_min(bound, bound, part, MPFR_RNDU);
    }
    mpfr_add(log, log, bound, MPFR_RNDU);
    mpfr_mul_d(log, log, u, MPFR_RNDU);
    mpfr_add(bound, bound, log, MPFR_RNDU);
    mpfr_add(bound, bound, e->k, MPFR_RNDU); /* c is less than k */
    theorem_last_rounding(bound, r, f);
    mpfr_clears(log, part, lesser, (mpfr_ptr)0);
}

static void of_share(mpfr_t bound, const struct errors *e, const struct reference *r, enum format f)
{
    double u = format_facts[f].unit_roundoff;
    mpfr_t factor, part, least;
    mpfr_inits2(DIGITS, factor, part, least, (mpfr_ptr)0);
    mpfr_sub(least, e->sum, e->error, MPFR_RNDD);
    mpfr_sub_d(least, least, r->exponentials.sum * 0x1p-51, MPFR_RNDD);
    if (mpfr_cmp_ui(least, 1) < 0)
        mpfr_set_ui(least, 1, MPFR_RNDN);
    mpfr_div(factor, e->sum, least, MPFR_RNDU);
    mpfr_set_d(least, r->exponentials.sum * (1 - 0x1p-51), MPFR_RNDD);
    mpfr_add(part, e->sum, e->error, MPFR_RNDU);
    mpfr_div(part, part, least, MPFR_RNDU);
    mpfr_max(factor, factor, part, MPFR_RNDU); /* q */
    mpfr_set_d(part, r->exponentials.at, MPFR_RNDU);
    mpfr_mul_d(part, part, u, MPFR_RNDU);
    mpfr_add(part, part, e->k, MPFR_RNDU);
    mpfr_exp(part, part, MPFR_RNDU);
    mpfr_mul(factor, factor, part, MPFR_RNDU);
    mpfr_mul_d(factor, factor, 1 + u, MPFR_RNDU);
    mpfr_mul_d(factor, factor, 1 + u, MPFR_RNDU);
    mpfr_sub_ui(factor, factor, 1, MPFR_RNDU);
    mpfr_mul(factor, factor, r->sum, MPFR_RNDU);
    mpfr_mul_d(part, e->half, 2 + u, MPFR_RNDU);
    mpfr_add(bound, factor, part, MPFR_RNDU);
    mpfr_ui_sub(part, 1, r->sum, MPFR_RNDU);
    mpfr_max(part, part, r->sum, MPFR_RNDU);
    mpfr_min(bound, bound, part, MPFR_RNDU);
    mpfr_clears(factor, part, least, (mpfr_ptr)0);
}

static bool of_exponentials(mpfr_t bound, const struct theorem *t, const struct reference *r,
                            enum format storage, enum format f, bool rescaled)
{
    const struct exact_facts *facts = &exact_facts[r->of];
    struct errors own;
    mpfr_t error;
    if (!mpfr_number_p(r->sum) || !isfinite(format_round(f, r->largest)))
        return false;
    if (mpfr_zero_p(r->sum_abs)) { /* of nothing, or of a masked element */
        mpfr_set_zero(bound, 1);
        return true;
    }
    const struct errors *e = errors_of(&own, t, r, storage, f, rescaled);
    mpfr_init2(error, THEOREM_PRECISION);
    if (facts->log)
        of_logarithm(error, e, r, f);
    else if (facts->each)
        of_share(error, e, r, f);
    else
        mpfr_set(error, e->error, MPFR_RNDU);
    bool says = mpfr_number_p(error);
    if (says)
        mpfr_set(bound, error, MPFR_RNDU);
    mpfr_clear(error);
    if (e == &own)
        free_errors(&own);
    return says;
}

bool theorem_exponentials(mpfr_t bound, const struct theorem *t, const struct reference *r,
                          enum format storage, enum format accumulator)
{
    return of_exponentials(bound, t, r, storage, accumulator, false);
}

bool theorem_rescaled(mpfr_t bound, const struct theorem *t, const struct reference *r,
                      enum format storage, enum format accumulator)
{
    return of_exponentials(bound, t, r, storage, accumulator, true);
}
