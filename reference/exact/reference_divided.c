/* Exact values of elements that are divided by a root, those of RMSNorm and LayerNorm: of n
 * elements with the sums S = sum x, Q = sum x^2 and epsilon e
 *
 *     (x - S/n) / sqrt(Q/n - (S/n)^2 + e) = N / sqrt(W), N = n x - S, W = n Q - S^2 + n^2 e,
 *
 * and x / sqrt(Q/n + e) the same with S = 0. N and W are binary fractions, and W > 0.
 *
 * The first digits of the root need no further test: a number z of k bits has a square of 2k, so
 * z^2
 * <= N^2 / W just where z^2 is no more than that quotient cut to 2k bits. So the root of the
 * quotient, both cut towards 0, is that of N^2 / W itself, cut; and it is exact only where neither
 * lost anything. */
#include <math.h>

#include "reference/exact/alike.h"
#include "reference/exact/divided_rounded.h"
#include "reference/exact/mpfr.h"
#include "reference/exact/reference_parts.h"

/* N^2, and result^2 W, which may lie far below it. */
enum { OVER_PRECISION = 6912, UNDER_PRECISION = REFERENCE_DIGITS + 256 };

/* To no more bits than it has, so that what follows is fast. */
static void shorten(mpfr_t x)
{
    mpfr_prec_t bits = mpfr_regular_p(x) ? mpfr_min_prec(x) : MPFR_PREC_MIN;
    mpfr_prec_round(x, bits < MPFR_PREC_MIN ? MPFR_PREC_MIN : bits, MPFR_RNDN);
}

/* W. */
static bool set_square(mpfr_t to, const struct reference *r)
{
    mpfr_t epsilon;
    mpfr_init2(epsilon, 53 + 128);
    bool exact = mpfr_set_d(epsilon, exact_facts[r->of].epsilon, MPFR_RNDN) == 0;
    exact &= mpfr_mul_ui(epsilon, epsilon, r->n, MPFR_RNDN) == 0;
    exact &= mpfr_mul_ui(epsilon, epsilon, r->n, MPFR_RNDN) == 0;
    exact &= reference_scatter(to, r);
    exact &= mpfr_add(to, to, epsilon, MPFR_RNDN) == 0;
    shorten(to);
    mpfr_clear(epsilon);
    return exact;
}

/* N. */
static bool set_away(mpfr_t to, const struct reference *r)
{
    mpfr_set_prec(to, MOMENT_PRECISION);
    bool exact = mpfr_set_d(to, r->element, MPFR_RNDN) == 0;
    exact &= mpfr_mul_ui(to, to, r->n, MPFR_RNDN) == 0;
    if (exact_facts[r->of].rules->sum)
        exact &= mpfr_sub(to, to, r->moment.sum, MPFR_RNDN) == 0;
    return exact;
}

/* Of a row with NaNs or infinities, and of none. */
static void set_special(struct reference *r)
{
    bool vanishes =
        r->n > 0 && r->nans == 0 && !exact_facts[r->of].rules->sum && isfinite(r->element);
    if (vanishes)
        mpfr_set_zero(r->sum, signbit(r->element) ? -1 : 1);
    else
        mpfr_set_nan(r->sum);
    mpfr_abs(r->sum_abs, r->sum, MPFR_RNDN);
}

/* The value of r->element, from the sums; false if something that has to be exact was rounded. */
static bool divide(struct reference *r, const mpfr_t square)
{
    mpfr_t over, quotient;
    if (r->nans > 0 || r->infs > 0 || r->n == 0) {
        set_special(r);
        return true;
    }
    mpfr_init2(over, MPFR_PREC_MIN);
    mpfr_init2(quotient, 2 * REFERENCE_DIGITS);
    bool exact = set_away(over, r);
    int sign = mpfr_zero_p(over) ? signbit(r->element) && !exact_facts[r->of].rules->sum
                                 : mpfr_sgn(over) < 0;
    exact &= mpfr_sqr(over, over, MPFR_RNDN) == 0;
    shorten(over);
    r->cut = mpfr_div(quotient, over, square, MPFR_RNDZ) != 0;
    mpfr_set_prec(r->sum, REFERENCE_DIGITS);
    r->cut |= mpfr_sqrt(r->sum, quotient, MPFR_RNDZ) != 0;
    reference_finish_cut(r->sum, r->cut);
    mpfr_set_prec(r->sum_abs, mpfr_get_prec(r->sum));
    mpfr_set(r->sum_abs, r->sum, MPFR_RNDN);
    mpfr_setsign(r->sum, r->sum, sign, MPFR_RNDN);
    mpfr_clears(over, quotient, (mpfr_ptr)0);
    return exact;
}

/* Sets the census and `moment`. */
static enum status sums(struct reference *r, const struct array *a, enum reference_kind kind,
                        struct problem *p)
{
    enum status status = STATUS_OK;
    if (exact_facts[r->of].rules->sum) {
        status = reference_sums(r, a, NULL, kind, p);
        mpfr_swap(r->moment.sum, r->sum);
        mpfr_swap(r->moment.sum_abs, r->sum_abs);
    } else {
        mpfr_set_zero(r->moment.sum, 1);
        mpfr_set_zero(r->moment.sum_abs, 1);
    }
    if (status == STATUS_OK)
        status = reference_sums(r, a, a, kind, p);
    mpfr_swap(r->moment.squares, r->sum);
    return status;
}

static enum status rounded(struct problem *p)
{
    return problem(p, STATUS_FAILED, "reference: MPFR rounded an exact number");
}

static enum status compute(struct reference *r, const struct array *a, const struct array *b,
                           enum reference_kind kind, struct problem *p)
{
    mpfr_t square;
    (void)b;
    enum status status = sums(r, a, kind, p);
    if (status != STATUS_OK)
        return status;
    mpfr_init2(square, MPFR_PREC_MIN);
    r->element = r->index < a->n ? array_get(a, r->index) : 0;
    bool finite = r->nans == 0 && r->infs == 0, exact = !finite || set_square(square, r);
    exact = exact && divide(r, square);
    mpfr_clear(square);
    return exact ? STATUS_OK : rounded(p);
}

static void set_all(mpfr_t to, const mpfr_t from)
{
    mpfr_set_prec(to, mpfr_get_prec(from));
    mpfr_set(to, from, MPFR_RNDN);
}

static void copy_value(struct reference *to, const struct reference *from)
{
    set_all(to->sum, from->sum);
    set_all(to->sum_abs, from->sum_abs);
    to->cut = from->cut;
}

static enum status each(struct reference *to, const struct array *a, struct problem *p)
{
    struct reference row;
    struct alike known;
    enum status status;
    bool exact = true;
    mpfr_t square;
    if (a->n == 0)
        return STATUS_OK;
    status = sums(&to[0], a, REFERENCE_FAST, p);
    if (status != STATUS_OK)
        return status;
    if (!alike_begin(&known, a))
        return problem(p, STATUS_MEMORY, "out of memory for the values of %zu elements", a->n);
    row = to[0];
    mpfr_init2(square, MPFR_PREC_MIN);
    if (row.nans == 0 && row.infs == 0)
        exact = set_square(square, &row);
    for (size_t i = 0; i < a->n && exact; i++) {
        if (i > 0) {
            set_all(to[i].moment.sum, row.moment.sum);
            set_all(to[i].moment.sum_abs, row.moment.sum_abs);
            set_all(to[i].moment.squares, row.moment.squares);
            reference_take_census(&to[i], &(struct census){.nans = row.nans,
                                                           .infs = row.infs,
                                                           .zeros = row.zeros,
                                                           .subnormals = row.subnormals,
                                                           .smallest = row.smallest,
                                                           .largest = row.largest});
        }
        to[i].element = array_get(a, i);
        size_t first = alike_first(&known, i);
        if (first < i)
            copy_value(&to[i], &to[first]);
        else
            exact = divide(&to[i], square);
    }
    mpfr_clear(square);
    alike_end(&known);
    return exact ? STATUS_OK : rounded(p);
}

/* --- rounded once --- */

enum { FEW_BITS = 128, FEW_ERROR = -120 };

struct few {
    mpfr_t root, near, apart, end; /* root: sqrt(W) */
};

/* N / sqrt(W): its three operations err by less than 2^FEW_ERROR of it, and so do the ends' own.
 * False where these do not round alike, and where N is 0, whose sign is told otherwise. */
static bool decide(struct few *w, const struct reference *r, enum format f, double *y)
{
    mpfr_set_d(w->near, r->element, MPFR_RNDN);
    mpfr_mul_ui(w->near, w->near, r->n, MPFR_RNDN); /* exact: 53 bits and 64 */
    if (exact_facts[r->of].rules->sum)
        mpfr_sub(w->near, w->near, r->moment.sum, MPFR_RNDN);
    if (mpfr_zero_p(w->near))
        return false;
    mpfr_div(w->near, w->near, w->root, MPFR_RNDN);
    mpfr_mul_2si(w->apart, w->near, FEW_ERROR, MPFR_RNDN);
    mpfr_sub(w->end, w->near, w->apart, MPFR_RNDN);
    *y = round_mpfr(w->end, f);
    mpfr_add(w->end, w->near, w->apart, MPFR_RNDN);
    return double_bits(*y) == double_bits(round_mpfr(w->end, f));
}

static bool round_each(struct reference *r, const struct array *in, struct alike *known,
                       enum format f, double *y)
{
    struct few few;
    mpfr_t square;
    bool finite = r->nans == 0 && r->infs == 0, exact = true;
    mpfr_init2(square, MPFR_PREC_MIN);
    mpfr_inits2(FEW_BITS, few.root, few.near, few.apart, few.end, (mpfr_ptr)0);
    if (finite) {
        exact = set_square(square, r);
        mpfr_sqrt(few.root, square, MPFR_RNDN);
    }
    for (size_t i = 0; i < in->n && exact; i++) {
        size_t first = alike_first(known, i);
        r->element = array_get(in, i);
        if (first < i) {
            y[i] = y[first];
        } else if (!finite || !decide(&few, r, f, &y[i])) {
            exact = divide(r, square);
            y[i] = round_mpfr(r->sum, f);
        }
    }
    mpfr_clears(square, few.root, few.near, few.apart, few.end, (mpfr_ptr)0);
    return exact;
}

enum status divided_rounded(enum exact_value of, const double *x, size_t n, enum format f,
                            double *y, struct problem *p)
{
    const struct array in = {FP64, n, (void *)x};
    struct reference r = {.of = of, .n = n};
    struct alike known;
    if (n == 0)
        return STATUS_OK;
    if (!alike_begin(&known, &in))
        return problem(p, STATUS_MEMORY, "out of memory for the values of %zu elements", n);
    mpfr_inits2(MPFR_PREC_MIN, r.sum, r.sum_abs, r.moment.sum, r.moment.sum_abs, r.moment.squares,
                (mpfr_ptr)0);
    enum status status = sums(&r, &in, REFERENCE_FAST, p);
    if (status == STATUS_OK && !round_each(&r, &in, &known, f, y))
        status = rounded(p);
    reference_free(&r);
    alike_end(&known);
    return status;
}

/* --- errors --- */

/* |N / sqrt(W) - y| = |N^2 - y^2 W| / (sqrt(W) |N| + |y| W), in which nothing is lost to
 * cancellation; of another sign (|N| + |y| sqrt(W)) / sqrt(W). */
static void set_error(mpfr_t over, mpfr_t under, const struct reference *r, double result)
{
    bool other = (mpfr_sgn(r->sum) < 0) != (result < 0) && result != 0;
    mpfr_t away, square, root, share;
    mpfr_inits2(MPFR_PREC_MIN, away, square, (mpfr_ptr)0);
    mpfr_inits2(UNDER_PRECISION, root, share, (mpfr_ptr)0);
    set_away(away, r);
    set_square(square, r);
    mpfr_abs(away, away, MPFR_RNDN);
    mpfr_sqrt(root, square, MPFR_RNDN);
    mpfr_set_prec(over, OVER_PRECISION);
    mpfr_set_prec(under, UNDER_PRECISION);
    if (other) {
        mpfr_mul_d(share, root, fabs(result), MPFR_RNDN);
        mpfr_add(over, away, share, MPFR_RNDN);
        mpfr_set(under, root, MPFR_RNDN);
    } else {
        mpfr_mul_d(share, square, fabs(result), MPFR_RNDN);
        mpfr_fma(under, root, away, share, MPFR_RNDN);
        mpfr_set_d(over, result, MPFR_RNDN);
        mpfr_sqr(over, over, MPFR_RNDN);
        mpfr_mul(over, over, square, MPFR_RNDN);
        mpfr_sqr(away, away, MPFR_RNDN);
        mpfr_sub(over, away, over, MPFR_RNDN);
    }
    mpfr_clears(away, square, root, share, (mpfr_ptr)0);
}

void reference_of_row(struct reference *to, enum exact_value of, const struct reference *r)
{
    *to = (struct reference){.of = of, .n = r->n, .largest = r->largest, .smallest = r->smallest};
    mpfr_inits2(MPFR_PREC_MIN, to->sum, to->sum_abs, to->moment.sum, to->moment.sum_abs,
                to->moment.squares, (mpfr_ptr)0);
    set_all(to->moment.sum, r->moment.sum);
    set_all(to->moment.sum_abs, r->moment.sum_abs);
    set_all(to->moment.squares, r->moment.squares);
    reference_derive(to);
}

bool reference_squares_overflow(const struct reference *r, enum format f, bool whole)
{
    mpfr_t squares;
    if (exact_facts[r->of].epsilon == 0 || !mpfr_number_p(r->moment.squares) || r->n == 0)
        return false;
    mpfr_init2(squares, MPFR_PREC_MIN);
    reference_scatter(squares, r); /* n times the sum */
    mpfr_div_ui(squares, whole ? r->moment.squares : squares, whole ? 1 : r->n, MPFR_RNDZ);
    bool beyond = mpfr_cmp_d(squares, format_facts[f].largest) > 0;
    mpfr_clear(squares);
    return beyond;
}

const struct exact_rules reference_rmsnorm = {
    .compute = compute, .each = each, .squares = true, .cut_error = set_error};
const struct exact_rules reference_layernorm = {
    .compute = compute, .each = each, .sum = true, .squares = true, .cut_error = set_error};
