/* The theorems of variances, with their proofs, and what they have in common.
 *
 * A = sum|x| / n, s^2 is the variance; what carries a ~ is of the elements rounded to the
 * accumulator, each by at most u |x| + eta/2, or by nothing where it holds them. A standard
 * deviation is a seminorm of x / sqrt(n): rounding changes it by at most r = u sqrt(sum x^2 / n) +
 * eta/2, and so s~ <= s + r, |s~^2 - s^2| <= r (2s + r). */
#include "reference/theorem/factors.h"

/* Figures of the rounded elements: magnitudes, rounded up. */
struct population {
    mpfr_t mean, mean_abs, largest, deviation;
    mpfr_t moved; /* |s~^2 - s^2| */
};

static void population_free(struct population *x)
{
    mpfr_clears(x->mean, x->mean_abs, x->largest, x->deviation, x->moved, (mpfr_ptr)0);
}

static void grow(mpfr_t x, enum format storage, enum format accumulator)
{
    mpfr_t change;
    mpfr_init2(change, THEOREM_PRECISION);
    theorem_element(change, x, storage, accumulator);
    mpfr_add(x, x, change, MPFR_RNDU);
    mpfr_clear(change);
}

/* to = x (factor y + x), rounded up; numbers >= 0. */
static void population_cross(mpfr_t to, const mpfr_t x, double factor, const mpfr_t y)
{
    mpfr_t sum;
    mpfr_init2(sum, THEOREM_PRECISION);
    mpfr_mul_d(sum, y, factor, MPFR_RNDU);
    mpfr_add(sum, sum, x, MPFR_RNDU);
    mpfr_mul(to, sum, x, MPFR_RNDU);
    mpfr_clear(sum);
}

/* From r, the reference of a variance, n > 0. Call population_free afterwards. */
static void population_init(struct population *x, const struct reference *r, enum format storage,
                            enum format accumulator)
{
    mpfr_t change;
    mpfr_inits2(THEOREM_PRECISION, x->mean, x->mean_abs, x->largest, x->deviation, x->moved, change,
                (mpfr_ptr)0);
    mpfr_div_ui(x->mean_abs, r->moment.sum_abs, r->n, MPFR_RNDU);
    mpfr_div_ui(x->mean, r->moment.sum, r->n, MPFR_RNDA);
    mpfr_abs(x->mean, x->mean, MPFR_RNDU);
    theorem_element(change, x->mean_abs, storage, accumulator);
    mpfr_add(x->mean, x->mean, change, MPFR_RNDU);
    mpfr_add(x->mean_abs, x->mean_abs, change, MPFR_RNDU);
    mpfr_set_d(x->largest, r->largest, MPFR_RNDU);
    grow(x->largest, storage, accumulator);
    mpfr_sqrt(change, r->sum_abs, MPFR_RNDU);
    theorem_element(change, change, storage, accumulator);
    mpfr_sqrt(x->deviation, r->sum, MPFR_RNDU);
    population_cross(x->moved, change, 2, x->deviation);
    mpfr_add(x->deviation, x->deviation, change, MPFR_RNDU);
    mpfr_clear(change);
}

/* --- Variances from sums ---
 *
 * Textbook. m is the mean, q that of squares, both by THEOREM_MEAN, with errors e and f. m^2 errs
 * by e (2 |mean| + e), its rounding adds to that, and the subtraction rounds s^2 with both errors.
 *
 * Two passes. m errs by e of the mean of x~, as THEOREM_MEAN says; the mean of (x~ - m)^2 is
 * v = s~^2 + (m - mean~)^2 <= s~^2 + e^2. Each distance is rounded, by a factor within 1 +- u (it
 * cannot underflow): their squares' mean is v but for (2u + u^2) v. THEOREM_TREE says what rounding
 * and adding the squares may change. Then the sum is divided and rounded.
 */

bool theorem_mean_error(mpfr_t error, const struct theorem *t, const struct reference *r,
                        const mpfr_t mean, const mpfr_t mean_abs, enum product_kind product,
                        enum format storage, enum format accumulator)
{
    struct reference sums = *r; /* nothing is freed of it */
    struct theorem tree = *t;
    mpfr_t sum, sum_abs;
    mpfr_inits2(THEOREM_PRECISION, sum, sum_abs, (mpfr_ptr)0);
    mpfr_mul_ui(sum, mean, r->n, MPFR_RNDU);
    mpfr_mul_ui(sum_abs, mean_abs, r->n, MPFR_RNDU);
    sums.of = EXACT_DOT;
    sums.sum[0] = sum[0];
    sums.sum_abs[0] = sum_abs[0];
    tree.kind = THEOREM_TREE;
    tree.product = product;
    bool says = theorem_bound(error, &tree, &sums, storage, accumulator);
    if (says) {
        mpfr_div_ui(error, error, r->n, MPFR_RNDU);
        sums.sum[0] = mean[0];
        theorem_last_rounding(error, &sums, accumulator);
    }
    mpfr_clears(sum, sum_abs, (mpfr_ptr)0);
    return says;
}

bool theorem_textbook(mpfr_t bound, const struct theorem *t, const struct reference *r,
                      enum format storage, enum format accumulator)
{
    struct population x;
    mpfr_t of_mean, of_squares, square;
    population_init(&x, r, storage, storage); /* as they are stored */
    mpfr_inits2(THEOREM_PRECISION, of_mean, of_squares, square, (mpfr_ptr)0);
    bool says =
        theorem_mean_error(of_mean, t, r, x.mean, x.mean_abs, PRODUCT_NONE, storage, accumulator) &&
        theorem_mean_error(of_squares, t, r, r->sum_abs, r->sum_abs, PRODUCT_ROUNDED, storage,
                           accumulator);
    if (says) {
        struct reference squared = *r;
        population_cross(of_mean, of_mean, 2, x.mean);
        mpfr_sqr(square, x.mean, MPFR_RNDU);
        squared.sum[0] = square[0];
        theorem_last_rounding(of_mean, &squared, accumulator);
        mpfr_add(of_mean, of_mean, of_squares, MPFR_RNDU);
        theorem_last_rounding(of_mean, r, accumulator);
        mpfr_set(bound, of_mean, MPFR_RNDU);
    }
    mpfr_clears(of_mean, of_squares, square, (mpfr_ptr)0);
    population_free(&x);
    return says;
}

bool theorem_two_pass(mpfr_t bound, const struct theorem *t, const struct reference *r,
                      enum format storage, enum format accumulator)
{
    struct population x;
    mpfr_t error, scatter, squares;
    population_init(&x, r, storage, accumulator);
    mpfr_inits2(THEOREM_PRECISION, error, scatter, squares, (mpfr_ptr)0);
    bool says =
        theorem_mean_error(error, t, r, x.mean, x.mean_abs, PRODUCT_NONE, accumulator, accumulator);
    mpfr_sqr(error, error, MPFR_RNDU);
    mpfr_sqr(scatter, x.deviation, MPFR_RNDU);
    mpfr_add(scatter, scatter, error, MPFR_RNDU); /* v */
    mpfr_add(error, error, x.moved, MPFR_RNDU);
    mpfr_set_d(squares, format_facts[accumulator].unit_roundoff, MPFR_RNDU);
    theorem_growth(squares, 2, squares); /* 2u + u^2, which is no double where u is fp64's */
    mpfr_mul(squares, squares, scatter, MPFR_RNDU);
    mpfr_add(error, error, squares, MPFR_RNDU);
    mpfr_add(squares, squares, scatter, MPFR_RNDU);
    says = says && theorem_mean_error(scatter, t, r, squares, squares, PRODUCT_ROUNDED, accumulator,
                                      accumulator);
    if (says) {
        mpfr_add(error, error, scatter, MPFR_RNDU); /* the last rounding's too */
        mpfr_set(bound, error, MPFR_RNDU);
    }
    mpfr_clears(error, scatter, squares, (mpfr_ptr)0);
    population_free(&x);
    return says;
}

/* The theorems of variances that grow with each element or part, with their proofs.
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

/* The quantities to which Chan's proof gives letters, for a population. */
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

/* A bound on the underflow errors in the products of all merges, over n: h ((1+u)^3 |d| z + (1+u)
 * eta/2) + eta/2.
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

void theorem_chan_mean(mpfr_t to, const struct theorem *t, const struct reference *r,
                       enum format storage, enum format accumulator)
{
    struct population x;
    struct chan c;
    population_init(&x, r, storage, accumulator);
    chan_init(&c, &x, t->height, r->n, accumulator);
    mpfr_div_ui(x.mean_abs, r->moment.sum_abs, r->n, MPFR_RNDU);
    theorem_element(to, x.mean_abs, storage, accumulator);
    mpfr_add(to, to, c.e, MPFR_RNDU);
    chan_free(&c);
    population_free(&x);
}
