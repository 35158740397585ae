/* The theorems of variances that grow with each element or part, with their proofs, in the words of
 * theorem/population.h.
 *
 * Welford. M and M' are the exact means of the x~ before and with x_k, m and m' the computed ones,
 * which err by e at most, e = what THEOREM_RUNNING_MEAN says of n elements of magnitude X~.
 * sum (x~ - M)(x~ - M') = n s~^2; (x~ - M')^2 <= (x~ - M)(x~ - M'), and (x~ - M)^2 is no more than
 * twice that for k >= 2. So, by Cauchy and Schwarz, a = x~ - m and b = x~ - m' have
 * |sum a b - n s~^2| <= n (e (1 + sqrt 2) s~ + e^2). m' lies between m and x~: a b >= 0. Rounded
 * thrice, a product is a b but for ((1+u)^3 - 1) a b + eta/2. Adding n of them, none negative, in
 * any order errs by (n-1) u times their sum. Then that is divided and rounded.
 *
 * Chan. A part of k elements has the exact mean and the computed one m, which errs by e at most; of
 * two that are merged, the first is not the smaller: w = k2 / k <= 1/2. As theorem/mean.c has it,
 * each m is within +- X~. With d = m2 - m1, |d| <= 2X~, three roundings lie between d w and q, of
 * d, w and d w: q errs by ((1+u)^3 - 1) |d| w + z, z = (1+u)^2 |d| y + eta/2, where y is eta/2 if w
 * may underflow, n 2^emin > 1, else 0; and the addition errs by u X~ at most. The exact mean is the
 * same combination of the exact ones, so e grows at each level of the tree by no more than g =
 * ((1+u)^3 - 1 + u) X~ + 2 (1+u)^2 X~ y + eta/2: e = h g. n s~^2 is the sum of c D^2, c = k1 k2 /
 * k, D the difference of the exact means, |d - D| <= 2e. Of one level, the c add up to n/2 at most.
 * So by the triangle inequality the root of the mean of c d^2 is s~ but for v = 2e sqrt(h/2). (d q)
 * k1 is c d^2 but for ((1+u)^6 - 1) c d^2 and, in all, for what underflows: k1 ((1+u)^3 |d| z +
 * (1+u) eta/2) + eta/2; the k1 of one level add up to n at most. None is negative; each goes
 * through 2h additions at most. Then the sum is divided and rounded. */
#include "reference/theorem/population.h"

bool theorem_welford(mpfr_t bound, const struct theorem *t, const struct reference *r,
                     enum format storage, enum format accumulator)
{
    (void)t;
    double u = format_facts[accumulator].unit_roundoff;
    struct population x;
    mpfr_t error, off, terms;
    population_init(&x, r, storage, accumulator);
    mpfr_inits2(THEOREM_PRECISION, error, off, terms, (mpfr_ptr)0);
    theorem_running(off, r->n, x.largest, x.largest, accumulator);
    population_cross(error, off, 2.4142135623730954, x.deviation); /* 1 + sqrt 2, up */
    mpfr_sqr(terms, x.deviation, MPFR_RNDU);
    mpfr_add(terms, terms, error, MPFR_RNDU);
    mpfr_set_d(off, u, MPFR_RNDU);
    theorem_growth(off, 3, off);
    mpfr_mul(off, off, terms, MPFR_RNDU);
    mpfr_add(error, error, off, MPFR_RNDU);
    mpfr_add(terms, terms, off, MPFR_RNDU);
    theorem_half_smallest(off, accumulator);
    mpfr_add(error, error, off, MPFR_RNDU);
    mpfr_add(terms, terms, off, MPFR_RNDU);
    mpfr_mul_ui(terms, terms, r->n - 1, MPFR_RNDU);
    mpfr_mul_d(terms, terms, u, MPFR_RNDU);
    mpfr_add(error, error, terms, MPFR_RNDU);
    mpfr_add(error, error, x.moved, MPFR_RNDU);
    theorem_last_rounding(error, r, accumulator);
    mpfr_set(bound, error, MPFR_RNDU);
    mpfr_clears(error, off, terms, (mpfr_ptr)0);
    population_free(&x);
    return true;
}

/* What Chan's proof calls by one letter, for a population. */
struct chan {
    mpfr_t cubed, z, e, v; /* (1+u)^3 - 1 */
    mpfr_t half, unit;     /* eta/2, u */
};

static void chan_free(struct chan *c)
{
    mpfr_clears(c->cubed, c->z, c->e, c->v, c->half, c->unit, (mpfr_ptr)0);
}

/* c->z is for the largest |d|, 2X~. */
static void chan_init(struct chan *c, const struct population *x, size_t height, size_t n,
                      enum format f)
{
    bool low = (double)n * format_facts[f].smallest_normal > 1;
    mpfr_t part;
    mpfr_inits2(THEOREM_PRECISION, c->cubed, c->z, c->e, c->v, c->half, c->unit, part, (mpfr_ptr)0);
    mpfr_set_d(c->unit, format_facts[f].unit_roundoff, MPFR_RNDU);
    theorem_half_smallest(c->half, f);
    theorem_growth(c->cubed, 3, c->unit);
    theorem_growth(c->z, 2, c->unit);
    mpfr_add_ui(c->z, c->z, 1, MPFR_RNDU);
    mpfr_mul(c->z, c->z, c->half, MPFR_RNDU);
    mpfr_mul_ui(c->z, c->z, low ? 2 : 0, MPFR_RNDU);
    mpfr_mul(c->z, c->z, x->largest, MPFR_RNDU);
    mpfr_add(c->z, c->z, c->half, MPFR_RNDU);

    mpfr_add(part, c->cubed, c->unit, MPFR_RNDU);
    mpfr_mul(part, part, x->largest, MPFR_RNDU);
    mpfr_add(part, part, c->z, MPFR_RNDU);
    mpfr_mul_ui(c->e, part, height, MPFR_RNDU);
    mpfr_set_ui(c->v, 2 * height, MPFR_RNDU);
    mpfr_sqrt(c->v, c->v, MPFR_RNDU); /* 2 sqrt(h/2) */
    mpfr_mul(c->v, c->v, c->e, MPFR_RNDU);
    mpfr_clear(part);
}

/* What underflows in the products of all merges, over n: h ((1+u)^3 |d| z + (1+u) eta/2) + eta/2.
 */
static void set_lost(mpfr_t to, const struct chan *c, const struct population *x, size_t height)
{
    mpfr_t part;
    mpfr_init2(part, THEOREM_PRECISION);
    mpfr_add_ui(to, c->cubed, 1, MPFR_RNDU);
    mpfr_mul(to, to, c->z, MPFR_RNDU);
    mpfr_mul(to, to, x->largest, MPFR_RNDU);
    mpfr_mul_2ui(to, to, 1, MPFR_RNDU);
    mpfr_fma(part, c->unit, c->half, c->half, MPFR_RNDU);
    mpfr_add(to, to, part, MPFR_RNDU);
    mpfr_mul_ui(to, to, height, MPFR_RNDU);
    mpfr_add(to, to, c->half, MPFR_RNDU);
    mpfr_clear(part);
}

bool theorem_chan(mpfr_t bound, const struct theorem *t, const struct reference *r,
                  enum format storage, enum format accumulator)
{
    struct population x;
    struct chan c;
    mpfr_t error, terms, part;
    population_init(&x, r, storage, accumulator);
    chan_init(&c, &x, t->height, r->n, accumulator);
    mpfr_inits2(THEOREM_PRECISION, error, terms, part, (mpfr_ptr)0);
    population_cross(error, c.v, 2, x.deviation);
    mpfr_sqr(terms, x.deviation, MPFR_RNDU);
    mpfr_add(terms, terms, error, MPFR_RNDU);
    theorem_growth(part, 6, c.unit);
    mpfr_mul(part, part, terms, MPFR_RNDU);
    mpfr_add(error, error, part, MPFR_RNDU);
    mpfr_add(terms, terms, part, MPFR_RNDU);
    set_lost(part, &c, &x, t->height);
    mpfr_add(error, error, part, MPFR_RNDU);
    mpfr_add(terms, terms, part, MPFR_RNDU);
    theorem_growth(part, 2 * t->height, c.unit);
    mpfr_fma(error, part, terms, error, MPFR_RNDU);
    mpfr_add(error, error, x.moved, MPFR_RNDU);
    theorem_last_rounding(error, r, accumulator);
    mpfr_set(bound, error, MPFR_RNDU);
    mpfr_clears(error, terms, part, (mpfr_ptr)0);
    chan_free(&c);
    population_free(&x);
    return true;
}
