/* The theorems of elements that are divided by a root, with their proof.
 *
 * y = d / sqrt(w), w = T + epsilon. RMSNorm: d = x, T the mean of squares. LayerNorm: d = x - M, M
 * the mean, T the variance. A method computes t for T, |t - T| <= D, and m for M, |m - M| <= e,
 * each as another theorem says; then, each operation rounded,
 *
 *     a = x~ - m (or x~), s = t + epsilon~, r = 1 / sqrt(s), a r.
 *
 * x~ is x but for c, epsilon~ is epsilon but for a known part.
 *
 * - a. x~ - m is d but for c + e, and rounding adds u (|d| + c + e): it cannot underflow. So |a -
 * d|
 *   <= (k - 1) |d| + k (c + e), k = 1 + u; where nothing is taken away, with k = 1 and e = 0.
 * - r. With theta = (D + |epsilon~ - epsilon|) / w < 1, s lies between w (1 -+ theta) (1 -+ u). It
 * is above 0, so that its root is neither too large nor too small for a normal number, and r
 * sqrt(w) lies between B = (1-u) / sqrt((1+theta) (1+u)) and A = (1+u)^2 / sqrt(1-theta), as 1 /
 * sqrt(1-u)
 *   <= 1+u for u <= 1/2. A B = (1+u)^(3/2) (1-u) / sqrt(1 - theta^2) >= 1 for u <= 1/4, so A + B >=
 * 2 and A - 1 >= 1 - B: r is 1 / sqrt(w) but for rho = A - 1, relatively.
 * - a r is y but for |a| |r - 1/sqrt(w)| + |a - d| / sqrt(w), which is at most
 *
 *       |y| (k (1+rho) - 1) + k (1+rho) (c+e) / sqrt(w),
 *
 *   and is rounded.
 *
 * All this holds where nothing overflows; else 1 / sqrt(inf) would be 0, and so the results. Terms
 * of the sums of squares, and Welford's and Chan's, are not negative, and rounding keeps the order,
 * so no sum on the way is above the last; that is n (t + eta/2) / (1-u) at most. s is not above t
 * + 2 epsilon, and eta/2 is less than epsilon. So n (T' + D + 2 epsilon) (1+8u) must not be above
 * the largest number, where T' is T or, of the textbook's, the mean of squares, whose D is not less
 * than that of its sum of squares, nor than that of its mean's square. Distances need 2X + e, X the
 * largest magnitude, and sums of elements n (A + e), A the mean magnitude, each times 1+8u. */
#include "reference/theorem/factors.h"

/* What a method's mean and its mean of squares, or variance, err by. */
struct errors {
    mpfr_t mean, square; /* e, D */
    mpfr_t sums;         /* T' */
    bool taken;          /* is the mean taken away? */
    bool summed;         /* is it a sum of the elements, divided? */
};

static bool fits(const mpfr_t x, double u, enum format f)
{
    mpfr_t most;
    mpfr_init2(most, THEOREM_PRECISION);
    mpfr_mul_d(most, x, 1 + 8 * u, MPFR_RNDU);
    bool fit = mpfr_cmp_d(most, format_facts[f].largest) <= 0;
    mpfr_clear(most);
    return fit;
}

/* Can nothing overflow? */
static bool all_fit(const struct errors *e, const struct reference *row, enum format storage,
                    enum format f, double epsilon)
{
    double u = format_facts[f].unit_roundoff;
    mpfr_t x;
    mpfr_init2(x, THEOREM_PRECISION);
    mpfr_add(x, e->sums, e->square, MPFR_RNDU);
    mpfr_add_d(x, x, 2 * epsilon, MPFR_RNDU);
    mpfr_mul_ui(x, x, row->n, MPFR_RNDU);
    bool fit = fits(x, u, f);
    if (e->taken) {
        mpfr_t largest;
        mpfr_init2(largest, THEOREM_PRECISION);
        mpfr_set_d(largest, row->largest, MPFR_RNDU);
        theorem_element(x, largest, storage, f);
        mpfr_add(x, x, largest, MPFR_RNDU);
        mpfr_mul_2ui(x, x, 1, MPFR_RNDU);
        mpfr_add(x, x, e->mean, MPFR_RNDU);
        fit = fit && fits(x, u, f);
        mpfr_clear(largest);
    }
    if (e->summed) {
        mpfr_mul_ui(x, e->mean, row->n, MPFR_RNDU);
        mpfr_add(x, x, row->moment.sum_abs, MPFR_RNDU);
        fit = fit && fits(x, u, f);
    }
    mpfr_clear(x);
    return fit;
}

/* Sets rho to (1+u)^2 / sqrt(1 - theta) - 1; false where theta >= 1. lowest: w, rounded down. */
static bool set_root_error(mpfr_t rho, const struct errors *e, const mpfr_t lowest, double epsilon,
                           enum format f)
{
    mpfr_t theta, u;
    mpfr_inits2(THEOREM_PRECISION, theta, u, (mpfr_ptr)0);
    mpfr_set_d(theta, epsilon, MPFR_RNDN);
    mpfr_sub_d(theta, theta, format_round(f, epsilon), MPFR_RNDN); /* exact */
    mpfr_abs(theta, theta, MPFR_RNDN);
    mpfr_add(theta, theta, e->square, MPFR_RNDU);
    mpfr_div(theta, theta, lowest, MPFR_RNDU);
    bool says = mpfr_cmp_ui(theta, 1) < 0;
    mpfr_ui_sub(theta, 1, theta, MPFR_RNDD);
    if (says) {
        mpfr_sqrt(theta, theta, MPFR_RNDD);
        mpfr_set_d(u, format_facts[f].unit_roundoff, MPFR_RNDN);
        theorem_growth(rho, 2, u);
        mpfr_add_ui(rho, rho, 1, MPFR_RNDU);
        mpfr_div(rho, rho, theta, MPFR_RNDU);
        mpfr_sub_ui(rho, rho, 1, MPFR_RNDU);
    }
    mpfr_clears(theta, u, (mpfr_ptr)0);
    return says;
}

/* The bound from e and D. row: the reference of the mean of squares or of the variance, T. */
static bool divided(mpfr_t bound, const struct errors *e, const struct reference *r,
                    const struct reference *row, enum format storage, enum format f)
{
    double epsilon = exact_facts[r->of].epsilon, u = e->taken ? format_facts[f].unit_roundoff : 0;
    mpfr_t lowest, grown, apart, error;
    mpfr_inits2(THEOREM_PRECISION, lowest, grown, apart, error, (mpfr_ptr)0);
    mpfr_add_d(lowest, row->sum, epsilon, MPFR_RNDD);
    bool says =
        all_fit(e, row, storage, f, epsilon) && set_root_error(grown, e, lowest, epsilon, f);
    if (says) {
        mpfr_add_ui(grown, grown, 1, MPFR_RNDU);
        mpfr_mul_d(error, grown, u, MPFR_RNDU);
        mpfr_add(grown, grown, error, MPFR_RNDU); /* k (1+rho) */
        mpfr_set_d(apart, r->element, MPFR_RNDN);
        mpfr_abs(apart, apart, MPFR_RNDN);
        theorem_element(apart, apart, storage, f);
        mpfr_add(apart, apart, e->mean, MPFR_RNDU);
        mpfr_sqrt(lowest, lowest, MPFR_RNDD);
        mpfr_div(apart, apart, lowest, MPFR_RNDU);
        mpfr_mul(apart, apart, grown, MPFR_RNDU);
        mpfr_sub_ui(grown, grown, 1, MPFR_RNDU);
        mpfr_fma(error, grown, r->sum_abs, apart, MPFR_RNDU);
        theorem_last_rounding(error, r, f);
        mpfr_set(bound, error, MPFR_RNDU);
    }
    mpfr_clears(lowest, grown, apart, error, (mpfr_ptr)0);
    return says;
}

static void errors_init(struct errors *e)
{
    mpfr_inits2(THEOREM_PRECISION, e->mean, e->square, e->sums, (mpfr_ptr)0);
    mpfr_set_zero(e->mean, 1);
}

static void errors_free(struct errors *e)
{
    mpfr_clears(e->mean, e->square, e->sums, (mpfr_ptr)0);
}

bool theorem_rmsnorm(mpfr_t bound, const struct theorem *t, const struct reference *r,
                     enum format storage, enum format f)
{
    struct errors e = {.taken = false};
    struct reference row = *r; /* nothing is freed of it */
    errors_init(&e);
    mpfr_div_ui(e.sums, r->moment.squares, r->n, MPFR_RNDU);
    bool says = theorem_mean_error(e.square, t, r, e.sums, e.sums, PRODUCT_ROUNDED, storage, f);
    mpfr_t low;
    mpfr_init2(low, THEOREM_PRECISION);
    mpfr_div_ui(low, r->moment.squares, r->n, MPFR_RNDD);
    row.sum[0] = low[0];
    says = says && divided(bound, &e, r, &row, storage, f);
    mpfr_clear(low);
    errors_free(&e);
    return says;
}

/* Sets e->mean from the reference of the variance, where the mean is a sum divided by n. */
static bool of_sum(struct errors *e, const struct theorem *t, const struct reference *row,
                   enum format storage, enum format f)
{
    mpfr_t mean, mean_abs;
    mpfr_inits2(THEOREM_PRECISION, mean, mean_abs, (mpfr_ptr)0);
    mpfr_div_ui(mean, row->moment.sum, row->n, MPFR_RNDA);
    mpfr_abs(mean, mean, MPFR_RNDN);
    mpfr_div_ui(mean_abs, row->moment.sum_abs, row->n, MPFR_RNDU);
    e->summed = true;
    bool says = theorem_mean_error(e->mean, t, row, mean, mean_abs, PRODUCT_NONE, storage, f);
    mpfr_clears(mean, mean_abs, (mpfr_ptr)0);
    return says;
}

/* As it runs. */
static bool of_running(struct errors *e, const struct theorem *t, const struct reference *row,
                       enum format storage, enum format f)
{
    struct reference mean;
    reference_of_row(&mean, EXACT_MEAN, row);
    bool says = theorem_running_mean(e->mean, t, &mean, storage, f);
    reference_free(&mean);
    return says;
}

static bool of_parts(struct errors *e, const struct theorem *t, const struct reference *row,
                     enum format storage, enum format f)
{
    theorem_chan_mean(e->mean, t, row, storage, f);
    return true;
}

typedef bool set_mean(struct errors *e, const struct theorem *t, const struct reference *row,
                      enum format storage, enum format f);

static bool layernorm(mpfr_t bound, const struct theorem *t, const struct reference *r,
                      enum format storage, enum format f, theorem_of_value *variance,
                      set_mean *mean, bool squares)
{
    struct errors e = {.taken = true};
    struct reference row;
    errors_init(&e);
    reference_of_row(&row, EXACT_VARIANCE, r);
    mpfr_set(e.sums, squares ? row.sum_abs : row.sum, MPFR_RNDU);
    bool says = variance(e.square, t, &row, storage, f) && mean(&e, t, &row, storage, f) &&
                divided(bound, &e, r, &row, storage, f);
    reference_free(&row);
    errors_free(&e);
    return says;
}

bool theorem_layernorm_textbook(mpfr_t bound, const struct theorem *t, const struct reference *r,
                                enum format storage, enum format accumulator)
{
    return layernorm(bound, t, r, storage, accumulator, theorem_textbook, of_sum, true);
}

bool theorem_layernorm_two_pass(mpfr_t bound, const struct theorem *t, const struct reference *r,
                                enum format storage, enum format accumulator)
{
    return layernorm(bound, t, r, storage, accumulator, theorem_two_pass, of_sum, false);
}

bool theorem_layernorm_welford(mpfr_t bound, const struct theorem *t, const struct reference *r,
                               enum format storage, enum format accumulator)
{
    return layernorm(bound, t, r, storage, accumulator, theorem_welford, of_running, false);
}

bool theorem_layernorm_chan(mpfr_t bound, const struct theorem *t, const struct reference *r,
                            enum format storage, enum format accumulator)
{
    return layernorm(bound, t, r, storage, accumulator, theorem_chan, of_parts, false);
}
