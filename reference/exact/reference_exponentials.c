/* Exact values that come from exponentials of the elements: the sum of exp(x - max x), its
 * logarithm and each element's share in it, by MPFR, enclosed between numbers rounded down and up.
 *
 * Which of them are binary fractions is known (Lindemann and Weierstrass: exponentials of different
 * rational numbers are linearly independent over the algebraic numbers). The sum is one only where
 * all finite elements are equal: their number. A share likewise: one by their number. m + log of
 * the sum is algebraic only where there is one finite element: that. In all other cases Ziv's test
 * (ziv.h) ends. */
#include <math.h>
#include <stdlib.h>

#include "reference/exact/alike.h"
#include "reference/exact/exponentials_enclosed.h"
#include "reference/exact/mpfr.h"
#include "reference/exact/reference_parts.h"
#include "reference/exact/ziv.h"

struct row {
    const struct array *x;
    double top, low;       /* of the finite elements */
    size_t finite, at_top; /* how many there are, and how many equal the greatest */
    bool nan, infinite;    /* there is a NaN; +inf */
    bool whole;            /* by exp(x) / exp(max x): a way of its own */
    mpfr_t lo, hi;         /* of the sum, computed with so many bits, 0: not yet */
    mpfr_prec_t precision;
    double element; /* whose share is asked for */
};

static void begin(struct row *r, const struct array *x, bool whole)
{
    *r = (struct row){.x = x, .top = -INFINITY, .low = INFINITY, .whole = whole};
    for (size_t i = 0; i < x->n; i++) {
        double e = array_get(x, i);
        r->nan |= isnan(e);
        r->infinite |= e == INFINITY;
        if (!isfinite(e))
            continue;
        r->finite++;
        r->at_top = e > r->top ? 1 : r->at_top + (e == r->top);
        r->top = e > r->top ? e : r->top;
        r->low = e < r->low ? e : r->low;
    }
    mpfr_inits2(MPFR_PREC_MIN, r->lo, r->hi, (mpfr_ptr)0);
}

static void end(struct row *r)
{
    mpfr_clears(r->lo, r->hi, (mpfr_ptr)0);
}

/* lo <= exp(x - from) <= hi, which have a precision. */
static void enclose_exp(mpfr_t lo, mpfr_t hi, double x, double from)
{
    mpfr_t down, up;
    mpfr_init2(down, mpfr_get_prec(lo));
    mpfr_init2(up, mpfr_get_prec(lo));
    mpfr_set_d(down, x, MPFR_RNDN);
    mpfr_set(up, down, MPFR_RNDN);
    bool exact = mpfr_sub_d(down, down, from, MPFR_RNDD) == 0;
    bool one = mpfr_exp(lo, down, MPFR_RNDD) == 0 && exact;
    mpfr_set(hi, lo, MPFR_RNDN);
    if (exact && !one)
        mpfr_nextabove(hi);
    if (!exact) {
        mpfr_sub_d(up, up, from, MPFR_RNDU);
        mpfr_exp(hi, up, MPFR_RNDU);
    }
    mpfr_clears(down, up, (mpfr_ptr)0);
}

/* Sees to it that lo and hi enclose the sum, computed with so many bits. */
static void enclose_sum(struct row *r, mpfr_prec_t precision)
{
    mpfr_t lo, hi;
    double from = r->whole ? 0 : r->top;
    if (r->precision >= precision) /* narrower still */
        return;
    r->precision = precision;
    mpfr_inits2(precision + 32, lo, hi, (mpfr_ptr)0);
    mpfr_set_prec(r->lo, precision + 32);
    mpfr_set_prec(r->hi, precision + 32);
    mpfr_set_zero(r->lo, 1);
    mpfr_set_zero(r->hi, 1);
    double before = NAN; /* whose exponential lo and hi enclose */
    for (size_t i = 0; i < r->x->n; i++) {
        double e = array_get(r->x, i);
        if (!isfinite(e))
            continue;
        bool tiny = !r->whole && e - r->top < -(double)(precision + 64) * 0.7; /* log 2 < 0.7 */
        if (e != before && tiny) {
            mpfr_set_zero(lo, 1);
            mpfr_set_ui_2exp(hi, 1, -(mpfr_exp_t)precision - 64, MPFR_RNDN);
        } else if (e != before) {
            enclose_exp(lo, hi, e, from);
        }
        before = e;
        mpfr_add(r->lo, r->lo, lo, MPFR_RNDD);
        mpfr_add(r->hi, r->hi, hi, MPFR_RNDU);
    }
    if (r->whole) {
        enclose_exp(lo, hi, r->top, 0);
        mpfr_div(r->lo, r->lo, hi, MPFR_RNDD);
        mpfr_div(r->hi, r->hi, lo, MPFR_RNDU);
        /* The greatest elements are 1 each: rounding down would hide a sum just above their number
         * from Ziv's test until there are bits for the smallest exponential. */
        if (mpfr_cmp_ui(r->lo, r->at_top) < 0)
            mpfr_set_ui(r->lo, r->at_top, MPFR_RNDD);
    }
    mpfr_clears(lo, hi, (mpfr_ptr)0);
}

static int sum(mpfr_t lo, mpfr_t hi, mpfr_prec_t precision, const void *context)
{
    struct row *r = (struct row *)context;
    enclose_sum(r, precision);
    mpfr_set(lo, r->lo, MPFR_RNDD);
    mpfr_set(hi, r->hi, MPFR_RNDU);
    return 1;
}

/* m + log of the sum may have any sign: of an enclosure around 0 its larger end. */
static int logarithm(mpfr_t lo, mpfr_t hi, mpfr_prec_t precision, const void *context)
{
    struct row *r = (struct row *)context;
    enclose_sum(r, precision);
    mpfr_log(lo, r->lo, MPFR_RNDD);
    mpfr_log(hi, r->hi, MPFR_RNDU);
    mpfr_add_d(lo, lo, r->top, MPFR_RNDD);
    mpfr_add_d(hi, hi, r->top, MPFR_RNDU);
    if (mpfr_sgn(lo) >= 0)
        return 1;
    if (mpfr_sgn(hi) <= 0) {
        mpfr_swap(lo, hi);
        mpfr_abs(lo, lo, MPFR_RNDN);
        mpfr_abs(hi, hi, MPFR_RNDN);
        return -1;
    }
    mpfr_set_zero(lo, 1);
    mpfr_set_ui(hi, 1, MPFR_RNDN); /* undecided */
    return 1;
}

static int share(mpfr_t lo, mpfr_t hi, mpfr_prec_t precision, const void *context)
{
    struct row *r = (struct row *)context;
    enclose_sum(r, precision);
    enclose_exp(lo, hi, r->element, r->top);
    mpfr_div(lo, lo, r->hi, MPFR_RNDD);
    mpfr_div(hi, hi, r->lo, MPFR_RNDU);
    return 1;
}

/* --- few bits, for one rounding --- */

enum { FEW_BITS = 96 };

struct enclosed {
    struct row row;
    enum exact_value of;
    mpfr_t lo, hi;
};

struct enclosed *exponentials_enclose(enum exact_value of, const struct array *x)
{
    struct enclosed *e = malloc(sizeof *e);
    if (!e)
        return NULL;
    e->of = of;
    begin(&e->row, x, false);
    mpfr_inits2(FEW_BITS, e->lo, e->hi, (mpfr_ptr)0);
    return e;
}

bool exponentials_decide(struct enclosed *e, size_t i, enum format f, double *y)
{
    const struct exact_facts *facts = &exact_facts[e->of];
    ziv_enclose *enclose = facts->log ? logarithm : facts->each ? share : sum;
    if (e->row.nan || e->row.infinite || e->row.finite == 0)
        return false;
    e->row.element = facts->each ? array_get(e->row.x, i) : 0;
    *y = 0;
    if (e->row.element == -INFINITY)
        return true;
    int sign = enclose(e->lo, e->hi, FEW_BITS, &e->row);
    double low = round_mpfr(e->lo, f), high = round_mpfr(e->hi, f);
    *y = sign < 0 ? -low : low;
    return double_bits(low) == double_bits(high);
}

void exponentials_enclosed_free(struct enclosed *e)
{
    if (!e)
        return;
    mpfr_clears(e->lo, e->hi, (mpfr_ptr)0);
    end(&e->row);
    free(e);
}

/* 1 / count, cut as ziv_settle cuts. */
static bool set_part(mpfr_t to, size_t count)
{
    mpfr_set_prec(to, ZIV_DIGITS);
    mpfr_set_ui(to, 1, MPFR_RNDN);
    bool is_cut = mpfr_div_ui(to, to, count, MPFR_RNDZ) != 0;
    if (is_cut) {
        mpfr_prec_round(to, ZIV_DIGITS + 2, MPFR_RNDZ);
        mpfr_nextabove(to);
    }
    return is_cut;
}

/* What is no number, or no number of a row without finite elements. */
static bool set_special(struct reference *to, const struct row *r)
{
    const struct exact_facts *facts = &exact_facts[to->of];
    if (!r->nan && !r->infinite && r->finite > 0)
        return false;
    if (r->nan || (!facts->log && (r->infinite || r->x->n > 0)))
        mpfr_set_nan(to->sum);
    else if (facts->log)
        mpfr_set_inf(to->sum, r->infinite ? 1 : -1);
    else
        mpfr_set_zero(to->sum, 1);
    mpfr_abs(to->sum_abs, to->sum, MPFR_RNDN);
    return true;
}

static void set_whole(mpfr_t to, size_t count)
{
    mpfr_set_prec(to, 64);
    mpfr_set_ui(to, count, MPFR_RNDN);
}

static void set_logarithm(struct reference *to, struct row *r)
{
    mpfr_t of_sum;
    if (r->finite == 1) {
        mpfr_set_prec(to->sum, 53);
        mpfr_set_d(to->sum, r->top == 0 ? 0 : r->top, MPFR_RNDN);
    } else {
        ziv_settle(to->sum, logarithm, r);
        to->cut = true;
    }
    mpfr_init2(of_sum, ZIV_DIGITS);
    mpfr_sub_d(of_sum, to->sum, r->top, MPFR_RNDU);
    mpfr_set_prec(to->sum_abs, ZIV_DIGITS);
    mpfr_set_d(to->sum_abs, fabs(r->top), MPFR_RNDN);
    mpfr_add(to->sum_abs, to->sum_abs, of_sum, MPFR_RNDU);
    mpfr_clear(of_sum);
}

static void set_share(struct reference *to, struct row *r, double element)
{
    r->element = element;
    if (element == -INFINITY)
        set_whole(to->sum, 0);
    else if (r->at_top == r->finite)
        to->cut = set_part(to->sum, r->finite);
    else {
        ziv_settle(to->sum, share, r);
        to->cut = true;
    }
}

static double up(const mpfr_t x)
{
    return mpfr_get_d(x, MPFR_RNDU);
}

/* What theorems ask of the row. */
static void set_facts(struct reference *to, const struct row *r)
{
    mpfr_t d, part, slower, sum_up, weighted;
    mpfr_inits2(128, d, part, slower, sum_up, weighted, (mpfr_ptr)0);
    mpfr_set_zero(sum_up, 1);
    mpfr_set_zero(weighted, 1);
    double before = NAN; /* whose distance and exponentials d, part and slower are */
    for (size_t i = 0; i < r->x->n; i++) {
        double e = array_get(r->x, i);
        if (!isfinite(e))
            continue;
        if (e != before) {
            mpfr_set_d(d, r->top, MPFR_RNDN);
            mpfr_sub_d(d, d, e, MPFR_RNDD);
            mpfr_neg(part, d, MPFR_RNDN);
            mpfr_exp(part, part, MPFR_RNDU);
            mpfr_mul_d(slower, d, -(1 - 0x1p-8), MPFR_RNDU);
            mpfr_exp(slower, slower, MPFR_RNDU);
            mpfr_nextabove(d);
            before = e;
        }
        mpfr_add(sum_up, sum_up, part, MPFR_RNDU);
        mpfr_fma(weighted, d, slower, weighted, MPFR_RNDU);
    }
    mpfr_set_d(d, r->top, MPFR_RNDN);
    mpfr_sub_d(d, d, r->low, MPFR_RNDU);
    to->exponentials.range = up(d);
    to->exponentials.sum = up(sum_up);
    to->exponentials.weighted = up(weighted);
    mpfr_clears(d, part, slower, sum_up, weighted, (mpfr_ptr)0);
}

static void set_census(struct reference *to, const struct array *a)
{
    struct census c = {0};
    for (size_t i = 0; i < a->n; i++)
        reference_count_one(&c, array_get(a, i), a->format);
    reference_take_census(to, &c);
}

/* to: of the row or, where each element has a value, of `element`. */
static void set(struct reference *to, struct row *r, double element)
{
    const struct exact_facts *facts = &exact_facts[to->of];
    mpfr_t d;
    if (set_special(to, r))
        return;
    if (facts->log) {
        set_logarithm(to, r);
        return;
    }
    if (facts->each)
        set_share(to, r, element);
    else if (r->at_top == r->finite)
        set_whole(to->sum, r->finite);
    else {
        ziv_settle(to->sum, sum, r);
        to->cut = true;
    }
    mpfr_set_prec(to->sum_abs, mpfr_get_prec(to->sum));
    mpfr_set(to->sum_abs, to->sum, MPFR_RNDN);
    mpfr_init2(d, 64);
    mpfr_set_d(d, r->top, MPFR_RNDN);
    mpfr_sub_d(d, d, element, MPFR_RNDU);
    to->exponentials.at = facts->each ? up(d) : 0;
    mpfr_clear(d);
}

double exponentials_settle(struct enclosed *e, size_t i, enum format f)
{
    const struct array *x = e->row.x;
    struct reference r = {.of = e->of, .n = x->n};
    mpfr_inits2(MPFR_PREC_MIN, r.sum, r.sum_abs, (mpfr_ptr)0);
    set(&r, &e->row, exact_facts[e->of].each && i < x->n ? array_get(x, i) : 0);
    double y = round_mpfr(r.sum, f);
    mpfr_clears(r.sum, r.sum_abs, (mpfr_ptr)0);
    return y;
}

static enum status compute(struct reference *to, const struct array *a, const struct array *b,
                           enum reference_kind kind, struct problem *p)
{
    struct row r;
    (void)b, (void)p;
    begin(&r, a, false);
    /* exp(x) itself has a range beyond that of MPFR's numbers, whose exponents go up to 2^30
     * unless a program asks for more. */
    r.whole = kind == REFERENCE_MPFR && fabs(r.top) < 0x1p29 && fabs(r.low) < 0x1p29;
    set_census(to, a);
    if (r.finite > 0)
        set_facts(to, &r);
    set(to, &r, to->index < a->n ? array_get(a, to->index) : 0);
    end(&r);
    return STATUS_OK;
}

static void copy_value(struct reference *to, const struct reference *from)
{
    mpfr_set_prec(to->sum, mpfr_get_prec(from->sum));
    mpfr_set(to->sum, from->sum, MPFR_RNDN);
    mpfr_set_prec(to->sum_abs, mpfr_get_prec(from->sum_abs));
    mpfr_set(to->sum_abs, from->sum_abs, MPFR_RNDN);
    to->cut = from->cut;
    to->exponentials.at = from->exponentials.at;
}

static enum status each(struct reference *to, const struct array *a, struct problem *p)
{
    struct alike known;
    if (!alike_begin(&known, a))
        return problem(p, STATUS_MEMORY, "out of memory for the values of %zu elements", a->n);
    struct row r;
    struct reference facts = {0};
    begin(&r, a, false);
    set_census(&facts, a);
    if (r.finite > 0)
        set_facts(&facts, &r);
    for (size_t i = 0; i < a->n; i++) {
        to[i].exponentials = facts.exponentials;
        to[i].zeros = facts.zeros;
        to[i].subnormals = facts.subnormals;
        to[i].infs = facts.infs;
        to[i].nans = facts.nans;
        to[i].smallest = facts.smallest;
        to[i].largest = facts.largest;
        size_t first = alike_first(&known, i);
        if (first < i)
            copy_value(&to[i], &to[first]);
        else
            set(&to[i], &r, array_get(a, i));
    }
    end(&r);
    alike_end(&known);
    return STATUS_OK;
}

/* |value - result|, to as many bits as `sum` says of it. */
static void error(mpfr_t to, const struct reference *r, double result)
{
    enum { AT_LEAST = 2560 };
    mpfr_prec_t enough = mpfr_get_prec(r->sum) + 128;
    mpfr_set_prec(to, enough > AT_LEAST ? enough : AT_LEAST);
    mpfr_sub_d(to, r->sum, result, MPFR_RNDN);
    mpfr_abs(to, to, MPFR_RNDN);
}

const struct exact_rules reference_exponentials = {
    .compute = compute, .each = each, .error = error};
