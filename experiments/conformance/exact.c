#include "experiments/conformance/exact.h"

#include <math.h>

#include "experiments/conformance/due.h"
#include "reference/measure/measure.h"

static bool is_same(double a, double b)
{
    return isnan(a) ? isnan(b) : double_bits(a) == double_bits(b);
}

void special_impossible(struct judgement *j, double x, const char *why)
{
    j->is = JUDGED_IMPOSSIBLE;
    j->result = x;
    j->why = why;
}

/* --- where one value is due --- */

static const char *why_not_index(const struct array *in, double x, double due)
{
    if (!(x >= 0 && x < (double)in->n && x == floor(x)))
        return "not the index of an element";
    return is_same(array_get(in, (size_t)x), array_get(in, (size_t)due))
               ? "not the first of equal elements"
               : "the index of another element";
}

static const char *why_not_value(double x, double due)
{
    if (isnan(due))
        return "a NaN is lost";
    if (isnan(x))
        return "NaN, which is not due";
    if (x == 0 && due == 0)
        return "a zero of the other sign";
    if (isinf(due))
        return "an infinity is lost";
    return isinf(x) ? "infinite, where the exact value is not" : "another value than the exact one";
}

typedef void judge_form(struct judgement *j, const struct conformance_subject *s,
                        const struct reference *r, const struct array *in, double x);

static void judge_one(struct judgement *j, const struct conformance_subject *s,
                      const struct reference *r, const struct array *in, double x)
{
    double due = format_round(s->accumulator, mpfr_get_d(r->sum, MPFR_RNDN));
    bool index = exact_facts[r->of].form == FORM_INDEX;
    possible_just(&j->due, due);
    if (!is_same(x, due))
        special_impossible(j, x, index ? why_not_index(in, x, due) : why_not_value(x, due));
}

/* --- products of finite numbers but 0 --- */

void special_ends(struct possible *due, const struct reference *r, const struct theorem *t,
                  const struct conformance_subject *s)
{
    mpfr_t bound, end;
    bool negative = mpfr_signbit(r->sum);
    mpfr_inits2(128, bound, end, (mpfr_ptr)0);
    if (theorem_bound(bound, t, r, s->storage, s->accumulator)) {
        mpfr_add(end, r->sum_abs, bound, MPFR_RNDU);
        due->inf[negative] = isinf(format_round(s->accumulator, mpfr_get_d(end, MPFR_RNDU)));
        mpfr_sub(end, r->sum_abs, bound, MPFR_RNDD);
        due->zero[negative] = !(format_round(s->accumulator, mpfr_get_d(end, MPFR_RNDD)) > 0);
    }
    mpfr_clears(bound, end, (mpfr_ptr)0);
}

static void judge_numbers(struct judgement *j, const struct conformance_subject *s,
                          const struct reference *r, double x)
{
    struct measure m;
    struct theorem theorem = special_theorem(s, r->n);
    bool negative = mpfr_signbit(r->sum), exact = theorem.kind == THEOREM_CORRECTLY_ROUNDED;
    double largest = format_facts[s->accumulator].largest;
    j->open = true;
    j->due = (struct possible){.least = negative ? -largest : 0,
                               .most = negative ? 0 : largest,
                               .grid = format_facts[s->accumulator].smallest};
    special_ends(&j->due, r, &theorem, s);
    measure(&m, r, s->storage, s->accumulator, x, &theorem);
    if (isnan(x))
        special_impossible(j, x, "NaN of numbers");
    else if ((signbit(x) != 0) != negative)
        special_impossible(j, x, "a product of the other sign");
    else if (m.outcome == OUTCOME_OVERFLOW && (exact || !j->due.inf[negative]))
        special_impossible(j, x, "infinite, where the product is not");
    else if (isfinite(x) && m.broken)
        special_impossible(j, x, "beyond the bound of its theorem");
}

static void judge_product(struct judgement *j, const struct conformance_subject *s,
                          const struct reference *r, const struct array *in, double x)
{
    if (mpfr_regular_p(r->sum) && in->n > 0)
        judge_numbers(j, s, r, x);
    else
        judge_one(j, s, r, in, x);
}

static void judge_norm(struct judgement *j, const struct conformance_subject *s,
                       const struct reference *r, const struct array *in, double x)
{
    (void)in;
    conformance_judge_norm(j, s, r, x);
}

/* NULL: sums, which other rules hold of, and what no rules are known of. */
static judge_form *judge_of(const struct method *m)
{
    switch (exact_facts[m->operation->of].form) {
    case FORM_ROOT:
        return judge_norm;
    case FORM_PRODUCT:
        return judge_product;
    case FORM_ELEMENT:
    case FORM_INDEX:
        return judge_one;
    case FORM_SUM:
    case FORM_QUOTIENT:
    case FORM_MOMENTS:
    case FORM_ROW:
        break;
    }
    return NULL;
}

bool special_is_exact(const struct method *m)
{
    return judge_of(m) != NULL;
}

enum status conformance_judge_exact(struct judgement *j, const struct conformance_subject *s,
                                    const struct array *in, double x, struct problem *p)
{
    struct reference r;
    enum status status =
        reference_compute_of(&r, s->method->operation->of, in, NULL, REFERENCE_FAST, p);
    *j = (struct judgement){.is = JUDGED_FINE, .result = x};
    if (status != STATUS_OK)
        return status;
    judge_of(s->method)(j, s, &r, in, x);
    reference_free(&r);
    return STATUS_OK;
}
