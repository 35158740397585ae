#include "experiments/studies/accuracy_says.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "experiments/studies/accuracy_cells.h"

/* A digit that rounds to none in a table is none. */
static const double no_digit = 0.05, overflows = -1;

/* --- What is shown --- */

struct accuracy_row *accuracy_rows(size_t *count, const struct plan *plan)
{
    struct accuracy_row *row = calloc(plan->sources + 1, sizeof *row);
    size_t pairs = 0;
    for (size_t i = 0; i < plan->sources; i++)
        pairs += !accuracy_seen_before(plan, i);
    bool each = pairs <= ACCURACY_ROWS;
    *count = 0;
    for (size_t i = 0; row && i < plan->sources; i++) {
        const struct source *s = &plan->source[i];
        struct figure cond = plan->cases[s->first].cond_log2;
        size_t at = 0;
        while (at < *count &&
               !(strcmp(row[at].input, s->name) == 0 && (!each || row[at].n == s->array.n)))
            at++;
        if (at == *count)
            row[(*count)++] = (struct accuracy_row){s->name, each ? s->array.n : 0, cond};
        else if (cond.known && !(row[at].cond_log2.known && row[at].cond_log2.value >= cond.value))
            row[at].cond_log2 = cond; /* the largest of lengths, seeds and storage formats */
    }
    return row;
}

void accuracy_shown(struct pairs *shown, const struct plan *plan)
{
    struct pairs all;
    accuracy_pairs(&all, plan);
    *shown = all;
    if (all.count <= ACCURACY_PAIRS)
        return;
    shown->count = 0;
    for (size_t i = 0; i < all.count && shown->count < ACCURACY_PAIRS; i++) {
        struct format_pair p = all.item[i];
        if (p.accumulator == p.storage || p.accumulator == format_wider(p.storage))
            shown->item[shown->count++] = p;
    }
}

/* --- The median of all methods --- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool is_finite(struct figure f)
{
    return !f.known || isfinite(f.value);
}

/* Where the exact sum is 0, the relative error is not known and any error is infinitely many ulp:
 * there the results tell whether they overflow. */
static double digits_of(const struct study_case *t)
{
    const struct summary *s = &t->summary;
    double digits = accuracy_case_digits(t);
    bool finite =
        t->err_rel_max.known ? is_finite(s->err_ulp_max) : is_finite(s->min) && is_finite(s->max);
    return isnan(digits) || !finite ? overflows : digits;
}

/* Of values in ascending order. Between an overflow or an exact sum and a number of digits there is
 * no mean: there the worse of the two. */
static double middle(const double *digits, size_t count)
{
    double low = digits[(count - 1) / 2], high = digits[count / 2];
    return low < 0 || isinf(high) ? low : low + (high - low) / 2;
}

/* Of one length. by_half: half of the methods or more have no more digits. */
static double median(const struct plan *plan, const struct accuracy_view *v, bool by_half)
{
    double *digits = calloc(plan->case_count + 1, sizeof *digits), found = NAN;
    size_t count = 0;
    for (size_t i = 0; digits && i < plan->case_count; i++)
        if (accuracy_sees(v, &plan->cases[i]) && plan->cases[i].summary.err_ulp_max.known)
            digits[count++] = digits_of(&plan->cases[i]);
    if (count > 0) {
        qsort(digits, count, sizeof *digits, by_value);
        found = by_half ? digits[(count - 1) / 2] : middle(digits, count);
    }
    free(digits);
    return found;
}

static double worst_median(const struct plan *plan, struct format_pair pair,
                           const struct accuracy_row *row, bool by_half)
{
    double worst = NAN;
    for (size_t i = 0; i < plan->sources; i++) {
        const struct source *s = &plan->source[i];
        if (accuracy_seen_before(plan, i) || strcmp(s->name, row->input) != 0 ||
            (row->n && s->array.n != row->n))
            continue;
        struct accuracy_view v = {plan, pair, s->name, s->array.n, NULL};
        worst = fmin(worst, median(plan, &v, by_half));
    }
    return worst;
}

double accuracy_typical(const struct plan *plan, struct format_pair pair,
                        const struct accuracy_row *row)
{
    return worst_median(plan, pair, row, false);
}

void accuracy_typical_text(char text[16], double digits)
{
    const char *word = isnan(digits)         ? ""
                       : digits == INFINITY  ? "exact"
                       : digits == overflows ? "overflow"
                                             : NULL;
    if (word)
        snprintf(text, 16, "%s", word);
    else
        snprintf(text, 16, "%.1f", digits);
}

/* --- Conclusions --- */

size_t accuracy_seeds(const struct plan *plan)
{
    size_t most = 0;
    for (size_t i = 0; i < plan->sources; i++) {
        const struct source *s = &plan->source[i];
        size_t seeds = 0;
        for (size_t k = 0; k < plan->sources; k++)
            seeds += plan->source[k].array.n == s->array.n &&
                     plan->source[k].array.format == s->array.format &&
                     strcmp(plan->source[k].name, s->name) == 0;
        most = seeds > most ? seeds : most;
    }
    return most;
}

/* What a median is half of. */
static const char *halved(const struct plan *plan)
{
    return accuracy_seeds(plan) > 1 ? "results" : "methods";
}

/* What the median method makes of each input in an accumulator: the worst of the pairs shown. */
struct kept {
    size_t inputs, lost; /* lost: half of the methods or more have no correct digit */
    double *digits;      /* of each row; NaN: not added in it */
};

static struct kept kept_in(const struct plan *plan, const struct accuracy_row *row, size_t rows,
                           enum format accumulator)
{
    struct pairs shown;
    struct kept k = {.digits = calloc(rows + 1, sizeof *k.digits)};
    accuracy_shown(&shown, plan);
    for (size_t i = 0; k.digits && i < rows; i++) {
        double by_half = k.digits[i] = NAN;
        for (size_t j = 0; j < shown.count; j++) {
            if (shown.item[j].accumulator != accumulator)
                continue;
            k.digits[i] = fmin(k.digits[i], accuracy_typical(plan, shown.item[j], &row[i]));
            by_half = fmin(by_half, worst_median(plan, shown.item[j], &row[i], true));
        }
        k.inputs += !isnan(k.digits[i]);
        k.lost += by_half < no_digit;
    }
    return k;
}

/* Has it another length beside this? */
static bool has_lengths(const struct accuracy_row *row, size_t rows, size_t at)
{
    for (size_t i = 0; i < rows; i++)
        if (i != at && strcmp(row[i].input, row[at].input) == 0)
            return true;
    return false;
}

/* Methods that ran in an accumulator, in the pairs shown: how many, the first, and the case that
 * keeps least. */
struct ran {
    size_t methods;
    const struct method *first;
    const struct study_case *worst;
};

static bool is_shown(const struct pairs *shown, const struct plan *plan, const struct study_case *t)
{
    for (size_t i = 0; i < shown->count; i++)
        if (accuracy_sees(&(struct accuracy_view){plan, shown->item[i], NULL, 0, NULL}, t))
            return true;
    return false;
}

static struct ran ran_in(const struct plan *plan, enum format accumulator)
{
    struct pairs shown;
    struct ran r = {0};
    accuracy_shown(&shown, plan);
    for (size_t m = 0; m < plan->axes->methods; m++) {
        const struct method *method = plan->axes->method[m];
        bool seen = false;
        for (size_t i = 0; i < plan->case_count; i++) {
            const struct study_case *t = &plan->cases[i];
            if (t->method != method || t->accumulator != accumulator ||
                !t->summary.err_ulp_max.known || !is_shown(&shown, plan, t))
                continue;
            seen = true;
            if (!r.worst || digits_of(t) < digits_of(r.worst))
                r.worst = t;
        }
        r.first = seen && !r.methods ? method : r.first;
        r.methods += seen;
    }
    return r;
}

static bool has_other_lengths(const struct plan *plan, const struct source *of)
{
    for (size_t i = 0; i < plan->sources; i++)
        if (strcmp(plan->source[i].name, of->name) == 0 && plan->source[i].array.n != of->array.n)
            return true;
    return false;
}

/* "; sum/serial keeps least, 1.7 on cond": of what the median does not show. */
static void add_worst(struct text *line, const struct plan *plan, const struct study_case *worst)
{
    const struct source *s = &plan->source[worst->source];
    char digits[16];
    accuracy_typical_text(digits, digits_of(worst));
    text_add(line, "; ");
    text_visible(line, worst->method->name);
    if (digits_of(worst) == overflows)
        text_add(line, " overflows on ");
    else
        text_format(line, " keeps least, %s on ", digits);
    text_visible(line, s->name);
    if (has_other_lengths(plan, s))
        text_format(line, " n = %zu", s->array.n);
}

/* "in fp32 half of the methods keep 4.7 of its 7.2 digits except on sine (0.0)":
 * exceptions are the inputs on which less than half of the digits are left. The worst method is
 * named where the median loses no input. One method with one seed is named alone; with several,
 * half of the results keep so much. */
static void add_kept(struct text *to, const struct plan *plan, const struct accuracy_row *row,
                     size_t rows, enum format accumulator, const struct kept *k)
{
    struct text line = {0}, except = {0};
    char digits[16], most[16];
    double all = format_facts[accumulator].precision * log10(2), least = INFINITY, last = INFINITY;
    size_t exceptions = 0;
    const struct ran ran = ran_in(plan, accumulator);
    const bool several = ran.methods > 1 || accuracy_seeds(plan) > 1;
    for (size_t i = 0; i < rows; i++) {
        if (isnan(k->digits[i]))
            continue;
        last = fmin(last, k->digits[i]);
        if (!(k->digits[i] < all / 2)) {
            least = fmin(least, k->digits[i]);
            continue;
        }
        accuracy_typical_text(digits, k->digits[i]);
        text_add(&except, exceptions++ ? ", " : " except on ");
        text_visible(&except, row[i].input);
        if (has_lengths(row, rows, i))
            text_format(&except, " n = %zu", row[i].n);
        text_format(&except, " (%s)", digits);
    }
    accuracy_typical_text(digits, least);
    snprintf(most, sizeof most, "%.1f", all);
    if (several)
        text_format(&line, "in %s half of the %s ", format_facts[accumulator].name, halved(plan));
    else {
        text_visible(&line, ran.first ? ran.first->name : "no method");
        text_format(&line, " in %s ", format_facts[accumulator].name);
    }
    const char *keep = several ? "keep" : "keeps";
    if (exceptions == k->inputs)
        text_format(&line, "%s less than half of its %s digits", keep, most);
    else if (isinf(least))
        text_add(&line, several ? "are exact" : "is exact");
    else if (least >= all || strcmp(digits, most) == 0)
        text_format(&line, "%s all of its %s digits", keep, most);
    else
        text_format(&line, "%s %s of its %s digits or more", keep, digits, most);
    if (exceptions == 0 || exceptions == k->inputs)
        text_add(&line, " on every input");
    else
        text_join(&line, &except);
    if (several && !(last < no_digit) && digits_of(ran.worst) < last)
        add_worst(&line, plan, ran.worst);
    text_wrapped(to, &line, TABLE_COLUMNS, 2);
    text_free(&except);
}

/* All of a study, by accumulator; freed by free_said. */
struct said {
    struct accuracy_row *row;
    size_t rows, accumulators, lost; /* of all accumulators together */
    enum format last;                /* that ran: where one did, that */
    struct kept kept[ACCUMULATORS];
    bool at_once; /* one accumulator ran and no digit is lost: the conclusion is the answer */
    bool failed;
};

static struct said said_of(const struct plan *plan)
{
    struct said s = {0};
    s.row = accuracy_rows(&s.rows, plan);
    s.failed = !s.row;
    for (enum format f = 0; s.row && f < ACCUMULATORS; f++) {
        s.kept[f] = kept_in(plan, s.row, s.rows, f);
        s.failed |= !s.kept[f].digits;
        s.lost += s.kept[f].lost;
        s.accumulators += s.kept[f].inputs > 0;
        s.last = s.kept[f].inputs > 0 ? f : s.last;
    }
    s.at_once = s.accumulators == 1 && s.lost == 0;
    return s;
}

static void free_said(struct said *s)
{
    for (enum format f = 0; f < ACCUMULATORS; f++)
        free(s->kept[f].digits);
    free(s->row);
}

/* "fp16 on 3 of 9 inputs, fp32 on 0" */
static void add_lost(struct text *to, const struct said *s)
{
    size_t inputs = 0;
    for (enum format f = 0; f < ACCUMULATORS; f++) {
        const struct kept *k = &s->kept[f];
        if (k->inputs == 0)
            continue;
        text_format(to, "%s%s on %zu", inputs ? ", " : "", format_facts[f].name, k->lost);
        if (k->inputs != inputs)
            text_format(to, " of %zu input%s", k->inputs, text_s(k->inputs));
        inputs = k->inputs;
    }
}

/* "fp16 1.2 digits, fp32 4.7" */
static void add_least(struct text *to, const struct said *s)
{
    const char *before = "", *unit = " digits";
    for (enum format f = 0; f < ACCUMULATORS; f++) {
        double least = INFINITY;
        char digits[16];
        if (s->kept[f].inputs == 0)
            continue;
        for (size_t i = 0; i < s->rows; i++)
            least = fmin(least, s->kept[f].digits[i]); /* which leaves NaN aside */
        accuracy_typical_text(digits, least);
        text_format(to, "%s%s %s%s", before, format_facts[f].name, digits,
                    isinf(least) ? "" : unit);
        before = ", ";
        unit = isinf(least) ? unit : "";
    }
}

/* Of several accumulators, or of one that loses all: the worst of each. */
static void add_worst_of_each(struct text *to, const struct plan *plan, const struct said *s)
{
    bool several = plan->axes->methods > 1 || accuracy_seeds(plan) > 1;
    if (s->lost > 0 && several)
        text_format(to, "half of the %s or more lose every digit: ", halved(plan));
    else if (s->lost > 0)
        text_add(to, "every digit is lost: ");
    else if (several)
        text_format(to, "half of the %s keep on the worst input: ", halved(plan));
    else {
        text_visible(to, plan->axes->method[0]->name);
        text_add(to, " keeps on the worst input: ");
    }
    if (s->lost > 0)
        add_lost(to, s);
    else
        add_least(to, s);
    text_add(to, "\n");
}

static void add_nothing(struct text *to, const struct plan *plan)
{
    size_t failed = 0;
    for (size_t i = 0; i < plan->case_count; i++)
        failed += plan->cases[i].failed;
    if (failed > 0)
        text_format(to, "nothing was added: %zu of %zu case%s failed (status `error`)\n", failed,
                    plan->case_count, plan->case_count == 1 ? "" : "s");
    else
        text_add(to, "nothing was added: no method takes these formats, or no exact result is a "
                     "finite number\n");
}

/* Are all results without a digit beyond their bound? The line above says so. */
static bool lost_beyond_bound(const struct plan *plan)
{
    for (size_t i = 0; i < plan->case_count; i++) {
        const struct study_case *t = &plan->cases[i];
        bool lost = t->summary.err_ulp_max.known && digits_of(t) < no_digit;
        if (lost && !(t->summary.err_over_bound_max.value > 1))
            return false;
    }
    return true;
}

void accuracy_headline(struct text *to, const struct plan *plan)
{
    struct said s = said_of(plan);
    to->failed |= s.failed;
    if (!s.failed && s.accumulators == 0)
        add_nothing(to, plan);
    else if (!s.failed && s.at_once)
        add_kept(to, plan, s.row, s.rows, s.last, &s.kept[s.last]);
    else if (!s.failed && !(s.lost > 0 && lost_beyond_bound(plan)))
        add_worst_of_each(to, plan, &s);
    free_said(&s);
}

/* Of a method that promises correct rounding. */
static void add_exact(struct text *to, const struct plan *plan, const struct method *m)
{
    size_t cases = 0, broken = 0;
    for (size_t i = 0; i < plan->case_count; i++) {
        const struct study_case *t = &plan->cases[i];
        bool seen = t->method == m && t->finished && t->supported;
        cases += seen;
        broken += seen && t->broken != PROMISE_NONE;
    }
    if (cases > 0 && broken > 0)
        text_format(to, "%s is misrounded in %zu of %zu cases\n", m->name, broken, cases);
    else if (cases > 0)
        text_format(to, "%s is correctly rounded in all %zu cases\n", m->name, cases);
}

/* Of those that promise nothing of their bits: did they give the same again? */
static void add_repeats(struct text *to, const struct plan *plan)
{
    struct text names = {0};
    size_t cases = 0, other = 0;
    uint64_t runs = 0;
    const struct method *last = NULL;
    for (size_t k = 0; k < plan->axes->methods; k++)
        for (size_t i = 0; i < plan->case_count; i++) {
            const struct study_case *t = &plan->cases[i];
            if (t->method != plan->axes->method[k] || t->method->promise != PROMISE_NONE ||
                !t->finished || !t->supported || t->summary.runs < 2)
                continue;
            if (t->method != last) {
                text_add(&names, last ? ", " : "");
                text_visible(&names, t->method->name);
            }
            last = t->method;
            cases++;
            other += t->summary.distinct > 1;
            runs = runs > t->summary.runs ? runs : t->summary.runs;
        }
    struct text line = {0};
    text_format(&line, "%zu of %zu cases gave other bits when run %llu times: ", other, cases,
                (unsigned long long)runs);
    text_join(&line, &names);
    text_add(&line, ", whose order of additions is not fixed");
    if (cases > 0)
        text_wrapped(to, &line, TABLE_COLUMNS, 2);
    text_free(&line);
    text_free(&names);
}

void accuracy_conclusion(struct text *to, const struct plan *plan)
{
    struct said s = said_of(plan);
    to->failed |= s.failed;
    for (enum format f = 0; !s.failed && !s.at_once && f < ACCUMULATORS; f++)
        if (s.kept[f].inputs > 0)
            add_kept(to, plan, s.row, s.rows, f, &s.kept[f]);
    for (size_t i = 0; i < plan->axes->methods; i++)
        if (plan->axes->method[i]->promise == PROMISE_CORRECTLY_ROUNDED)
            add_exact(to, plan, plan->axes->method[i]);
    add_repeats(to, plan);
    free_said(&s);
}
