#include "experiments/conformance/statistic.h"

#include <math.h>
#include <stdlib.h>

#include "experiments/conformance/due.h"
#include "experiments/conformance/exact.h"
#include "reference/exact/alike.h"
#include "reference/exact/mpfr.h"
#include "reference/measure/measure.h"

bool special_is_statistic(const struct method *m)
{
    switch (exact_facts[m->operation->of].form) {
    case FORM_QUOTIENT:
    case FORM_MOMENTS:
    case FORM_ROW:
        return true;
    case FORM_SUM:
    case FORM_ROOT:
    case FORM_PRODUCT:
    case FORM_ELEMENT:
    case FORM_INDEX:
        break;
    }
    return false;
}

bool special_numbers_unbounded(const struct method *m)
{
    if (m->bound != THEOREM_NONE)
        return false;
    switch (exact_facts[m->operation->of].form) {
    case FORM_QUOTIENT:
    case FORM_MOMENTS:
    case FORM_ROW:
    case FORM_ROOT:
    case FORM_PRODUCT:
        return true;
    case FORM_SUM:
    case FORM_ELEMENT:
    case FORM_INDEX:
        break;
    }
    return false;
}

struct row {
    const struct conformance_subject *subject;
    const struct array *in;
    struct theorem theorem;
    bool divided; /* by a root */
    bool moments; /* of sums of elements, or of their squares */
    bool beyond;  /* something on the way may be beyond the range */
};

/* Four times as much as the exact sums, which is more than any rounding, or distances from a mean,
 * can make of them. */
static bool may_overflow(const struct row *row)
{
    enum format f = row->subject->accumulator;
    enum exact_form form = exact_facts[row->subject->method->operation->of].form;
    double sum = 0, squares = 0;
    bool beyond = false;
    for (size_t i = 0; i < row->in->n; i++) {
        double x = array_get(row->in, i);
        if (!isfinite(x))
            continue;
        beyond |= isinf(format_round(f, x));
        sum += fabs(x);
        squares += x * x;
    }
    if (row->moments)
        beyond |= isinf(format_round(f, 4 * sum));
    if (row->moments && form != FORM_QUOTIENT)
        beyond |= isinf(format_round(f, 4 * squares));
    return beyond;
}

static void begin(struct row *row, const struct conformance_subject *s, const struct array *in)
{
    const struct exact_facts *facts = &exact_facts[s->method->operation->of];
    *row = (struct row){.subject = s, .in = in, .theorem = special_theorem(s, in->n)};
    row->divided = facts->epsilon > 0;
    row->moments = row->divided || facts->form != FORM_ROW;
    row->beyond = row->theorem.kind != THEOREM_CORRECTLY_ROUNDED && may_overflow(row);
}

static bool is_same(double a, double b)
{
    return isnan(a) ? isnan(b) : double_bits(a) == double_bits(b);
}

static void note(struct judgement *j, double x, const char *why)
{
    j->is = JUDGED_NOTED;
    j->result = x;
    j->why = why;
}

static const char *const on_the_way = "overflow on the way to a value that is in range";

/* What is no number, or one zero. */
static void judge_one(struct judgement *j, const struct row *row, double due, double x)
{
    bool vanished = !isfinite(x) || (row->divided && x == 0);
    possible_just(&j->due, due);
    if (is_same(x, due))
        return;
    if (row->beyond && vanished)
        note(j, x, on_the_way);
    else if (isinf(due) && isnan(x) && row->theorem.kind == THEOREM_RUNNING_MEAN)
        note(j, x, "NaN of an infinity, which a running mean corrects by inf - inf");
    else if (isnan(due))
        special_impossible(j, x, "a NaN is lost");
    else if (isnan(x))
        special_impossible(j, x, "NaN, which is not due");
    else if (isinf(due))
        special_impossible(j, x, "an infinity is lost");
    else if (isinf(x))
        special_impossible(j, x, "infinite, where the exact value is not");
    else
        special_impossible(j, x, x == 0 ? "a zero of the other sign" : "another value than 0");
}

/* Is it exactly 0, whatever is rounded? Of no elements nothing is rounded. */
static bool is_zero(const struct row *row, double element)
{
    const struct exact_facts *facts = &exact_facts[row->subject->method->operation->of];
    if (!facts->each)
        return facts->form == FORM_ROW && row->in->n == 0;
    return row->moments ? element == 0 && !facts->centred : isinf(element);
}

/* The ends of what the theorem allows, where they lie beyond the range; false where it says
 * nothing. */
static bool set_ends(struct possible *due, const struct row *row, const struct reference *r)
{
    const struct conformance_subject *s = row->subject;
    mpfr_t bound, end;
    mpfr_inits2(128, bound, end, (mpfr_ptr)0);
    bool says = theorem_bound(bound, &row->theorem, r, s->storage, s->accumulator);
    if (says) {
        mpfr_add(end, r->sum, bound, MPFR_RNDU);
        due->inf[0] = round_mpfr(end, s->accumulator) == INFINITY;
        mpfr_sub(end, r->sum, bound, MPFR_RNDD);
        due->inf[1] = round_mpfr(end, s->accumulator) == -INFINITY;
    }
    mpfr_clears(bound, end, (mpfr_ptr)0);
    return says;
}

/* Of a variance as the mean of squares less the mean's square: may it be so wrong that its root is
 * none? Nobody says how a subject that is not ours takes it. */
static bool may_cancel(const struct row *row, const struct reference *r, bool says)
{
    if (!row->divided || !exact_facts[r->of].centred)
        return false;
    if (!row->subject->method->foreign)
        return !says;
    struct row textbook = *row;
    struct possible due = {0};
    textbook.theorem = (struct theorem){.kind = THEOREM_LAYERNORM_TEXTBOOK, .height = row->in->n};
    return !set_ends(&due, &textbook, r);
}

static void judge_not_finite(struct judgement *j, const struct row *row, const struct reference *r,
                             bool says, double x)
{
    if (isinf(x) && j->due.inf[x < 0])
        return;
    if (row->beyond)
        note(j, x, on_the_way);
    else if (may_cancel(row, r, says))
        note(j, x, "not finite, as of a textbook variance that cancels");
    else
        special_impossible(j, x,
                           isnan(x) ? "NaN of numbers" : "infinite, where the exact value is not");
}

/* Of a number its sign, and what no rounding can make of it. */
static const char *why_not(const struct row *row, double x)
{
    const struct exact_facts *facts = &exact_facts[row->subject->method->operation->of];
    bool ours = !row->subject->method->foreign;
    if (facts->form != FORM_ROW || row->divided || facts->log)
        return facts->form == FORM_MOMENTS && x < 0 && ours && row->theorem.kind != THEOREM_TEXTBOOK
                   ? "a variance below 0"
                   : NULL;
    if (signbit(x))
        return "a share below 0, or a sum of exponentials";
    return !facts->each && x < 1 ? "less than the exponential of the greatest, which is 1" : NULL;
}

static void judge_finite(struct judgement *j, const struct row *row, const struct reference *r,
                         double x)
{
    const struct conformance_subject *s = row->subject;
    struct measure m;
    const char *why = why_not(row, x);
    measure(&m, r, s->storage, s->accumulator, x, &row->theorem);
    if (why)
        special_impossible(j, x, why);
    else if (m.broken && row->divided && row->beyond && x == 0)
        note(j, x, on_the_way);
    else if (m.broken)
        special_impossible(j, x, "beyond the bound of its theorem");
    else if (exact_facts[r->of].form == FORM_MOMENTS && x < 0)
        note(j, x, "a variance below 0, as the textbook's");
    else if (m.outcome == OUTCOME_OVERFLOW)
        note(j, x, on_the_way);
}

static void judge_number(struct judgement *j, const struct row *row, const struct reference *r,
                         double x)
{
    double most = format_facts[row->subject->accumulator].largest;
    j->open = true;
    j->due = (struct possible){
        .least = -most, .most = most, .grid = format_facts[row->subject->accumulator].smallest};
    bool says = set_ends(&j->due, row, r);
    if (isfinite(x))
        judge_finite(j, row, r, x);
    else
        judge_not_finite(j, row, r, says, x);
}

static void judge_output(struct judgement *j, const struct row *row, const struct reference *r,
                         size_t output, double x)
{
    enum format f = row->subject->accumulator;
    struct judgement one = {.is = JUDGED_FINE, .output = output, .result = x};
    bool each = exact_facts[r->of].each;
    double element = each ? array_get(row->in, output) : 0;
    bool exact = row->theorem.kind == THEOREM_CORRECTLY_ROUNDED;
    if (exact || !mpfr_number_p(r->sum) || is_zero(row, element))
        judge_one(&one, row, round_mpfr(r->sum, f), x);
    else
        judge_number(&one, row, r, x);
    if (one.is == JUDGED_IMPOSSIBLE && exact && isfinite(x) && mpfr_regular_p(r->sum))
        one.why = "not the exact value, rounded";
    if (one.is > j->is)
        *j = one;
}

/* Of elements with the same bits that give the same bits the first is judged for all. */
static enum status judge_each(struct judgement *j, const struct row *row, const struct array *out,
                              struct problem *p)
{
    struct alike known = {0};
    struct reference *r = calloc(out->n + 1, sizeof *r);
    if (!r || !alike_begin(&known, row->in)) {
        free(r);
        return problem(p, STATUS_MEMORY, "special: out of memory for %zu exact values", out->n);
    }
    enum status status = reference_compute_each(r, row->subject->method->operation->of, row->in, p);
    for (size_t i = 0; status == STATUS_OK && i < out->n; i++) {
        size_t first = alike_first(&known, i);
        if (first == i || array_bits(out, i) != array_bits(out, first))
            judge_output(j, row, &r[i], i, array_get(out, i));
    }
    for (size_t i = 0; status == STATUS_OK && i < out->n; i++)
        reference_free(&r[i]);
    alike_end(&known);
    free(r);
    return status;
}

enum status conformance_judge_statistic(struct judgement *j, const struct conformance_subject *s,
                                        const struct array *in, const struct array *out,
                                        struct problem *p)
{
    struct row row;
    struct reference r;
    enum exact_value of = s->method->operation->of;
    *j = (struct judgement){.is = JUDGED_FINE};
    begin(&row, s, in);
    if (exact_facts[of].each)
        return judge_each(j, &row, out, p);
    enum status status = reference_compute_of(&r, of, in, NULL, REFERENCE_FAST, p);
    if (status != STATUS_OK)
        return status;
    judge_output(j, &row, &r, 0, array_get(out, 0));
    reference_free(&r);
    return STATUS_OK;
}
