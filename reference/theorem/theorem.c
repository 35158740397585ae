#include "reference/theorem/theorem.h"

#include <math.h>

#include "reference/theorem/factors.h"

static bool theorem_given(mpfr_t bound, const struct theorem *t, const struct reference *r,
                          enum format storage, enum format accumulator)
{
    (void)r, (void)storage, (void)accumulator;
    if (isfinite(t->given))
        mpfr_set_d(bound, t->given, MPFR_RNDU);
    return isfinite(t->given);
}

static const struct {
    const char *words;
    theorem_says *factors;
    bool finds_errors; /* by TwoSum, and may lose them next to the largest number */
    bool widened;      /* says it of additions in the wider format; then the sum is rounded */
    bool exact;        /* says it of elements that are not rounded first; then the sum is rounded */
    bool cut;          /* they are cut to theorem_digits instead */
    theorem_of_value *bound; /* of what is no sum; then nothing of the above holds */
    bool any_order;          /* and holds for every order */
} theorems[THEOREMS] = {
    [THEOREM_ANY_ORDER] =
        {
            .words = "any order: (n-1) u sum|x|",
            .factors = theorem_any_order,
        },
    [THEOREM_TREE] =
        {
            .words = "tree of height h: gamma_h sum|x|",
            .factors = theorem_tree,
        },
    [THEOREM_COMPENSATED] =
        {
            .words = "compensated, height h: u |sum| + (1+u) gamma_2h gamma_h sum|x|",
            .factors = theorem_compensated,
            .finds_errors = true,
        },
    [THEOREM_KAHAN] =
        {
            .words = "Kahan, height h: u |sum| + (2u + O(h^2 u^2)) sum|x|",
            .factors = theorem_kahan,
            .finds_errors = true,
        },
    [THEOREM_K_FOLD] =
        {
            .words = "K-fold, height h: (u + O(u^2)) |sum| + O((h u)^K) sum|x|",
            .factors = theorem_k_fold,
            .finds_errors = true,
        },
    [THEOREM_DOUBLE_WORD] =
        {
            .words = "double-word, height h: u |sum| + (3h u^2 + O(u^3)) sum|x|",
            .factors = theorem_double_word,
            .finds_errors = true,
        },
    [THEOREM_BLOCKED] =
        {
            .words = "blocks of height b, compensated above: u |sum| + (gamma_b + O(u^2)) sum|x|",
            .factors = theorem_blocked,
            .finds_errors = true,
        },
    [THEOREM_WIDENED] =
        {
            .words = "tree of height h in the wider format: u |sum| + (1+u) gamma_h sum|x|, "
                     "gamma_h that format's",
            .factors = theorem_tree,
            .widened = true,
        },
    [THEOREM_CORRECTLY_ROUNDED] =
        {
            .words = "correctly rounded: u |sum|, or half the smallest subnormal; 0 of 0",
            .exact = true,
        },
    [THEOREM_BINNED] =
        {
            .words = "cut to D = K p digits of the largest, the storage's at least: "
                     "u |sum| + (1+u) (n-1) 2^-D max|x|",
            .exact = true,
            .cut = true,
        },
    [THEOREM_NORM] =
        {
            .words =
                "root of a tree of height h of squares: about (gamma_h+1 / 2 + u) |norm|, more "
                "where squares underflow",
            .bound = theorem_norm,
        },
    [THEOREM_SCALED_NORM] =
        {
            .words = "root of a tree of height h of squares, scaled: about (gamma_h+1 / 2 + u) "
                     "|norm|",
            .bound = theorem_scaled_norm,
        },
    [THEOREM_MEAN] =
        {
            .words = "a tree of height h, divided: gamma_h sum|x| / n + u |mean|, nearly",
            .bound = theorem_mean,
        },
    [THEOREM_RUNNING_MEAN] =
        {
            .words = "running mean: ((n+1)/2 u + 4u) max|x|, nearly",
            .bound = theorem_running_mean,
        },
    [THEOREM_TEXTBOOK] =
        {
            .words =
                "mean of squares less square of mean, trees of height h: about (3 gamma_h + 6u) "
                "sum x^2 / n",
            .bound = theorem_textbook,
        },
    [THEOREM_TWO_PASS] =
        {
            .words = "distances from the mean, trees of height h: about (gamma_h + 4u) variance + "
                     "(gamma_h sum|x| / n)^2",
            .bound = theorem_two_pass,
        },
    [THEOREM_WELFORD] =
        {
            .words = "Welford: n u variance + 2.4 e sqrt(variance) + e^2, nearly, e = n/2 u max|x|",
            .bound = theorem_welford,
        },
    [THEOREM_CHAN] =
        {
            .words = "Chan, height h: (2h + 6) u variance + 2 k sqrt(variance) + k^2, nearly, "
                     "k = sqrt(2h) 4h u max|x|",
            .bound = theorem_chan,
        },
    [THEOREM_PRODUCT] =
        {
            .words = "product of n elements in any order: about (n-1) u |product|",
            .bound = theorem_product,
            .any_order = true,
        },
    [THEOREM_EXTREMUM] =
        {
            .words = "none of an element or an index: 0, or one rounding to a narrower accumulator",
            .bound = theorem_extremum,
            .any_order = true,
        },
    [THEOREM_BLOCKS] =
        {
            .words = "fused blocks of K products: ((1 + theta)^blocks - 1) sum|x|, theta about "
                     "(K + 1) 2^-F + u",
            .bound = theorem_given,
            .any_order = true,
        },
    [THEOREM_NONE] =
        {
            .words = "none",
        },
};

const char *const product_name[PRODUCTS] = {"", "rounded", "fused", "exact", "unknown"};

const char *theorem_words(enum theorem_kind kind)
{
    return theorems[kind].words;
}

bool theorem_has_height(enum theorem_kind kind)
{
    return kind != THEOREM_ANY_ORDER && kind != THEOREM_NONE && !theorems[kind].exact &&
           !theorems[kind].any_order;
}

/* A bound on the error of rounding a term to the accumulator: `relative` times the term and, if it
 * may underflow, eta/2 more (eta = smallest subnormal). */
struct term_error {
    double relative;
    bool underflows;
};

/* For an element, that of format_conversion. A product has twice the digits, and exponents twice as
 * low. Rounding it, or fusing it into an addition, is one more rounding, of the product or of the
 * sum, which can then underflow; in two words it is exact, unless the lower one underflows. */
static struct term_error term_error(enum product_kind product, enum format storage,
                                    enum format accumulator)
{
    const struct format_facts *s = &format_facts[storage], *a = &format_facts[accumulator];
    double u = a->unit_roundoff;
    bool low = 2 * (s->emin - s->precision + 1) < a->emin - a->precision + 1;
    struct conversion by = format_conversion(accumulator, storage);
    if (product == PRODUCT_NONE)
        return (struct term_error){by.relative, by.absolute > 0};
    if (product == PRODUCT_EXACT)
        return (struct term_error){0, low};
    return (struct term_error){2 * s->precision <= a->precision ? 0 : u, low};
}

struct conversion theorem_conversion(enum product_kind product, enum format storage,
                                     enum format accumulator)
{
    struct term_error error = term_error(product, storage, accumulator);
    double eta = format_facts[accumulator].smallest, half = eta / 2;
    return (struct conversion){error.relative, !error.underflows ? 0 : half > 0 ? half : eta};
}

/* Sets `to` to what rounding each term to the accumulator may change: u A + n eta/2, or less. */
static void conversion(mpfr_t to, const struct theorem *t, const struct reference *r,
                       enum format storage, enum format accumulator)
{
    struct term_error error = term_error(t->product, storage, accumulator);
    mpfr_set_zero(to, 1);
    if (error.relative == 0 && !error.underflows)
        return;
    mpfr_t eta;
    mpfr_init2(eta, 128);
    mpfr_set_d(eta, error.underflows ? format_facts[accumulator].smallest : 0, MPFR_RNDU);
    mpfr_div_2ui(eta, eta, 1, MPFR_RNDU);
    mpfr_mul_ui(eta, eta, r->n, MPFR_RNDU);
    mpfr_mul_d(to, r->sum_abs, error.relative, MPFR_RNDU);
    mpfr_add(to, to, eta, MPFR_RNDU);
    mpfr_clear(eta);
}

/* Sets `to` to what additions that flush may change. */
static void flushing(mpfr_t to, const struct theorem *t, enum format accumulator)
{
    mpfr_set_d(to, 3 * format_facts[accumulator].smallest_normal, MPFR_RNDU);
    mpfr_mul_ui(to, to, t->flushing, MPFR_RNDU);
}

/* Sets `to` to what cutting each element to a multiple of a unit U may change, where U <= 2^(e-D+1)
 * for 2^e <= max|x|: (n-1) 2^-D max|x|. To nearest, it is U/2 at most; and the largest is a
 * multiple of its last digit, 2^(e-p+1), p <= D that of the storage, thus of U, and does not
 * change. */
static void cutting(mpfr_t to, const struct theorem *t, const struct reference *r,
                    enum format storage, enum format accumulator)
{
    mpfr_set_d(to, r->largest, MPFR_RNDU);
    mpfr_mul_ui(to, to, r->n > 0 ? r->n - 1 : 0, MPFR_RNDU);
    mpfr_div_2si(to, to, theorem_digits(storage, accumulator, t->folds), MPFR_RNDU);
}

/* Adds factor (|magnitude| + perturbed) to `bound`. */
static void add_share(mpfr_t bound, const mpfr_t factor, const mpfr_t magnitude,
                      const mpfr_t perturbed)
{
    mpfr_t share;
    mpfr_init2(share, THEOREM_PRECISION);
    mpfr_abs(share, magnitude, MPFR_RNDU);
    mpfr_add(share, share, perturbed, MPFR_RNDU);
    mpfr_mul(share, share, factor, MPFR_RNDU);
    mpfr_add(bound, bound, share, MPFR_RNDU);
    mpfr_clear(share);
}

void theorem_last_rounding(mpfr_t error, const struct reference *r, enum format accumulator)
{
    const struct format_facts *facts = &format_facts[accumulator];
    mpfr_t change;
    mpfr_init2(change, THEOREM_PRECISION);
    mpfr_abs(change, r->sum, MPFR_RNDU);
    mpfr_add(change, change, error, MPFR_RNDU);
    if (!mpfr_zero_p(change) && mpfr_cmp_d(change, facts->smallest_normal) < 0)
        mpfr_set_d(change, facts->smallest_normal, MPFR_RNDU); /* u times it is eta/2 */
    mpfr_mul_d(change, change, facts->unit_roundoff, MPFR_RNDU);
    mpfr_add(error, error, change, MPFR_RNDU);
    mpfr_clear(change);
}

/* Rounded inputs and flushed operands are perturbed inputs: they enter the bound themselves and
 * enlarge the magnitudes that the additions round. */
bool theorem_bound(mpfr_t bound, const struct theorem *t, const struct reference *r,
                   enum format storage, enum format accumulator)
{
    if (t->kind == THEOREM_NONE || !mpfr_number_p(r->sum_abs))
        return false;
    if (theorems[t->kind].bound)
        return theorems[t->kind].bound(bound, t, r, storage, accumulator);
    bool widened = theorems[t->kind].widened, exact = theorems[t->kind].exact, says = true;
    enum format f = widened ? format_wider(accumulator) : accumulator;
    mpfr_t perturbed, error;
    struct theorem_factors by;
    mpfr_inits2(THEOREM_PRECISION, perturbed, error, by.of_sum, by.of_abs, by.constant,
                (mpfr_ptr)0);
    mpfr_set_zero(perturbed, 1);
    if (!exact)
        conversion(perturbed, t, r, storage, f);
    flushing(error, t, f);
    mpfr_add(perturbed, perturbed, error, MPFR_RNDU);

    mpfr_set_zero(by.of_sum, 1);
    mpfr_set_zero(by.of_abs, 1);
    mpfr_set_zero(by.constant, 1);
    if (!exact)
        says = theorems[t->kind].factors(&by, t, r, f);
    if (theorems[t->kind].finds_errors)
        theorem_lost_errors(&by, t, r, perturbed, f);
    if (theorems[t->kind].cut)
        cutting(by.constant, t, r, storage, accumulator);
    mpfr_add(error, perturbed, by.constant, MPFR_RNDU);
    add_share(error, by.of_sum, r->sum, perturbed);
    add_share(error, by.of_abs, r->sum_abs, perturbed);
    if (widened || exact)
        theorem_last_rounding(error, r, accumulator);
    says = says && mpfr_number_p(error);
    if (says)
        mpfr_set(bound, error, MPFR_RNDU);
    mpfr_clears(perturbed, error, by.of_sum, by.of_abs, by.constant, (mpfr_ptr)0);
    return says;
}
