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

static const struct theorem_facts {
    const char *words;
    enum additions adds;
    bool has_height;
    theorem_says *factors;
    theorem_of_value *bound, *reach;
} theorems[THEOREMS] = {
#define THEOREM(kind, ...) [THEOREM_##kind] = {__VA_ARGS__},
#include "reference/theorem/theorems.def"
};

const char *const product_name[PRODUCTS] = {"", "rounded", "fused", "exact", "unknown"};

const char *theorem_words(enum theorem_kind kind)
{
    return theorems[kind].words;
}

bool theorem_has_height(enum theorem_kind kind)
{
    return theorems[kind].has_height;
}

enum additions theorem_additions(enum theorem_kind kind)
{
    return theorems[kind].adds;
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
    enum additions adds = theorems[t->kind].adds;
    bool widened = adds == ADDS_WIDENED, says = true;
    bool exact = adds == ADDS_EXACT || adds == ADDS_BINNED;
    enum format f = widened ? format_wider(accumulator) : accumulator;
    mpfr_t perturbed, error;
    struct theorem_factors by = {.storage = storage};
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
    if (adds == ADDS_CARRIED)
        theorem_lost_errors(&by, t, r, perturbed, f);
    if (adds == ADDS_BINNED)
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

bool theorem_in_range(const struct theorem *t, const struct reference *r, enum format storage,
                      enum format accumulator, double most)
{
    const struct theorem_facts *facts = &theorems[t->kind];
    theorem_of_value *reach = facts->factors ? theorem_reach_sum : facts->reach;
    if (!reach || r->infs > 0 || r->nans > 0 || !mpfr_number_p(r->sum))
        return false;
    if (t->kind == THEOREM_SPLIT &&
        most > format_facts[storage].largest) /* sums are stored in it */
        most = format_facts[storage].largest;
    mpfr_t largest;
    mpfr_init2(largest, THEOREM_PRECISION);
    bool in_range = reach(largest, t, r, storage, accumulator) && mpfr_number_p(largest) &&
                    mpfr_cmp_d(largest, most) <= 0;
    mpfr_clear(largest);
    return in_range;
}
