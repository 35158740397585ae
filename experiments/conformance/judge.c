#include "experiments/conformance/judge.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "reference/format/number.h"
#include "experiments/conformance/due.h"
#include "experiments/conformance/exact.h"
#include "experiments/conformance/product.h"
#include "experiments/conformance/statistic.h"
#include "experiments/operations/operation.h"
#include "reference/measure/scan.h"

static void add_word(char text[POSSIBLE_TEXT], const char *word)
{
    size_t used = strlen(text);
    snprintf(text + used, POSSIBLE_TEXT - used, "%s%s", used ? " or " : "", word);
}

static void add_number(char text[POSSIBLE_TEXT], double x)
{
    char number[NUMBER_TEXT];
    number_hex(number, x);
    add_word(text, number);
}

static void add_interval(char text[POSSIBLE_TEXT], const struct possible *p)
{
    char least[NUMBER_TEXT], most[NUMBER_TEXT], words[2 * NUMBER_TEXT + 16];
    number_hex(least, p->least);
    number_hex(most, p->most);
    snprintf(words, sizeof words, "from %s to %s", least, most);
    add_word(text, words);
}

void special_due_words(char text[POSSIBLE_TEXT], const struct judgement *j)
{
    enum { FEW = 4 };
    const struct possible *p = &j->due;
    *text = 0;
    if (j->open)
        add_word(text, "a number within its bound");
    else if (p->listed && p->count <= FEW)
        for (size_t i = 0; i < p->count; i++)
            add_number(text, p->value[i]);
    else if (p->least < p->most)
        add_interval(text, p);
    else if (p->least == p->most && p->least != 0)
        add_number(text, p->least);
    bool within =
        j->open || (!p->listed && p->least < 0 && p->most > 0); /* it goes without saying */
    if (p->zero[0] && !within)
        add_word(text, "0x0p+0");
    if (p->zero[1])
        add_word(text, "-0x0p+0");
    if (p->inf[0])
        add_word(text, "inf");
    if (p->inf[1])
        add_word(text, "-inf");
    if (p->nan)
        add_word(text, "nan");
}

/* Boyer and Moore's vote: right where more than half are alike. */
uint64_t special_common(const struct array *in, size_t *others)
{
    uint64_t common = array_bits(in, 0);
    size_t ahead = 0;
    for (size_t i = 0; i < in->n; i++) {
        uint64_t bits = array_bits(in, i);
        common = ahead == 0 ? bits : common;
        ahead = bits == common ? ahead + 1 : ahead - 1;
    }
    *others = 0;
    for (size_t i = 0; i < in->n; i++)
        *others += array_bits(in, i) != common;
    return common;
}

static void add_text(char text[INPUT_WORDS], const char *before, const char *what)
{
    size_t used = strlen(text);
    snprintf(text + used, INPUT_WORDS - used, "%s%s", before, what);
}

static void add_array(char text[INPUT_WORDS], const struct array *in)
{
    enum { ALL = 8, SHOWN = 8 };
    size_t others = in->n, shown = 0;
    uint64_t common = 0;
    char number[NUMBER_TEXT], place[32];
    if (in->n > ALL)
        common = special_common(in, &others);
    for (size_t i = 0; i < in->n && shown < SHOWN; i++) {
        if (in->n > ALL && others < in->n / 2 && array_bits(in, i) == common)
            continue;
        number_hex(number, array_get(in, i));
        snprintf(place, sizeof place, "%sx[%zu] = ", shown == 0 ? ": " : ", ", i);
        add_text(text, in->n > ALL ? place : shown == 0 ? ": " : ", ", number);
        shown++;
    }
    if (in->n <= ALL)
        return;
    number_hex(number, format_decode(in->format, common));
    if (others >= in->n / 2 || shown < others)
        add_text(text, ", ", "...");
    if (others < in->n / 2)
        add_text(text, shown == 0 ? ": all " : ", all others ", number);
}

/* Few products. */
static void add_products(char text[INPUT_WORDS], const struct special_input *in)
{
    char x[NUMBER_TEXT], y[NUMBER_TEXT], words[2 * NUMBER_TEXT + 4];
    for (size_t i = 0; i < in->x.n; i++) {
        number_hex(x, array_get(&in->x, i));
        number_hex(y, array_get(&in->y, i));
        snprintf(words, sizeof words, "%s * %s", x, y);
        add_text(text, i == 0 ? ": " : ", ", words);
    }
}

void special_input_words(char text[INPUT_WORDS], const struct special_input *in)
{
    enum { FEW = 4 };
    snprintf(text, INPUT_WORDS, "n = %zu", in->x.n);
    if (!in->y.data) {
        add_array(text, &in->x);
    } else if (in->x.n <= FEW) {
        add_products(text, in);
    } else {
        add_array(text, &in->x);
        add_text(text, "; ", "times");
        add_array(text, &in->y);
    }
}

/* Does its theorem say more than what is possible in any order, or than what exact results are? */
static bool has_own_bound(const struct method *m)
{
    return m->bound != THEOREM_ANY_ORDER && m->bound != THEOREM_NONE &&
           m->bound != THEOREM_CORRECTLY_ROUNDED;
}

static bool holds_number(const struct possible *p)
{
    return p->least <= p->most || p->zero[0] || p->zero[1];
}

/* --- reasons --- */

static const char *why_not(const struct due *d, double x)
{
    const struct possible *due = &d->possible;
    const struct any_order *e = due_elements(d);
    bool finite = holds_number(due);
    if (due->nan && !finite && !due->inf[0] && !due->inf[1])
        return "a NaN, or infinities of both signs, are lost";
    if (isnan(x))
        return "NaN, which no order gives";
    if (isinf(x) && !finite)
        return "another infinity than is due";
    if (isinf(x))
        return d->way == ADDS_PLAIN || d->way == ADDS_CARRIED ? "infinite, where no order overflows"
                                                              : "infinite, where the sum is not";
    if (!finite)
        return "an infinity is lost";
    if (x == 0 && signbit(x) && due->zero[0])
        return "-0, where not all elements are -0";
    if (x == 0 && e->count[0] + e->count[1] == 0)
        return "+0, where all elements are -0";
    return d->way == ADDS_EXACT ? "not the exact sum, rounded" : "a number that no order gives";
}

/* Subjects that are not ours may begin at +0, and may have more digits than they say. */
static const char *excuse(const struct due *d, double x)
{
    const struct any_order *e = due_elements(d);
    const struct method *m = d->subject->method;
    if (m->bound == THEOREM_BLOCKS && x == 0 && !signbit(x) && !e->plain)
        return "+0 though all elements are -0, as if the sum began with +0";
    if ((m->cpu && !m->foreign) || d->way != ADDS_PLAIN)
        return NULL;
    if (e->empty)
        return m->foreign && x == 0 ? "-0 of no elements, which changes nothing that is added to it"
                                    : NULL;
    if (x == 0 && !signbit(x) && !e->plain)
        return "+0 though all elements are -0, as if the sum began with +0";
    if (x == d->exact && isfinite(x) && x != 0)
        return "the exact sum rounded once, which no order of these additions gives";
    return NULL;
}

/* What is possible, and yet worth a word. */
static const char *note(const struct due *d, double x)
{
    const struct any_order *e = due_elements(d);
    if (isfinite(x) || e->nan || e->inf[0] || e->inf[1])
        return e->nan || !isnan(x) || (e->inf[0] && e->inf[1])
                   ? NULL
                   : "NaN from an infinity and an overflow to the other";
    if (isnan(x))
        return "NaN from overflows of both signs";
    return isfinite(d->exact) ? "overflow on the way to a sum that is in range" : NULL;
}

/* Judges one output by what is possible. */
static void judge_value(struct judgement *to, struct due *d, size_t output, double x)
{
    due_make(d);
    struct judgement one = {.output = output, .result = x};
    if (possible_holds(&d->possible, x)) {
        one.why = note(d, x);
        one.is = one.why ? JUDGED_NOTED : JUDGED_FINE;
    } else {
        one.why = excuse(d, x);
        one.is = one.why ? JUDGED_NOTED : JUDGED_IMPOSSIBLE;
        one.why = one.why ? one.why : why_not(d, x);
    }
    if (one.is > to->is) {
        *to = one;
        to->due = d->possible;
        to->open = d->open;
    }
}

static const char *const beyond_bound = "beyond the bound of its theorem";

/* --- sums --- */

/* Holds a finite result to the method's bound. Where its additions may flush, the bound says so,
 * and excuses what no order gives. */
static void judge_bound(struct judgement *to, struct due *d, const struct reference *r,
                        const struct theorem *theorem, double x)
{
    const struct conformance_subject *s = d->subject;
    bool loose = d->way == ADDS_CARRIED && theorem->kind != THEOREM_NONE &&
                 theorem->kind != THEOREM_SPLIT && theorem->kind != THEOREM_BLOCKS &&
                 due_near_overflow(d);
    struct theorem any = {.kind = THEOREM_ANY_ORDER, .product = s->product};
    struct measure m;
    measure(&m, r, s->storage, s->accumulator, x, loose ? &any : theorem);
    bool broken = loose ? m.err_over_bound.known && !(m.err_over_bound.value <= 3) : m.broken;
    if (to->is != JUDGED_IMPOSSIBLE && broken) {
        *to = (struct judgement){JUDGED_IMPOSSIBLE, beyond_bound, 0, x, d->possible, d->open};
    } else if (to->is == JUDGED_IMPOSSIBLE && m.bound.known && !broken && theorem->flushing > 0) {
        to->is = JUDGED_NOTED;
        to->why = "subnormals are flushed, as its bound says";
    }
}

static enum status judge_sum(struct judgement *to, struct due *d, const struct special_input *in,
                             double x, struct problem *p)
{
    struct reference r;
    const struct method *m = d->subject->method;
    const bool two = special_reads_two(m);
    const enum exact_value of = special_multiplies(m) ? EXACT_DOT : m->operation->of;
    for (size_t i = 0; i < in->x.n; i++)
        if (two)
            due_add_product(d, array_get(&in->x, i), array_get(&in->y, i));
        else
            due_add(d, exact_term(m->operation->of, array_get(&in->x, i)));
    judge_value(to, d, 0, x);

    struct theorem theorem = special_theorem(d->subject, in->x.n);
    bool decided = to->is == JUDGED_IMPOSSIBLE
                       ? theorem.flushing == 0
                       : x == d->exact || d->way == ADDS_EXACT || theorem.kind == THEOREM_ANY_ORDER;
    if (!isfinite(x) || decided)
        return STATUS_OK;
    enum status status =
        reference_compute_of(&r, of, &in->x, two ? &in->y : NULL, REFERENCE_FAST, p);
    if (status == STATUS_OK && theorem.kind == THEOREM_BLOCKS)
        status = special_product_bound(&theorem.given, d->subject, in, p);
    if (status != STATUS_OK)
        return status;
    judge_bound(to, d, &r, &theorem, x);
    reference_free(&r);
    return STATUS_OK;
}

/* --- scans --- */

struct heights {
    const struct task *task;
    uint16_t *segment; /* of trees that heads cut, or NULL */
};

static size_t height_of_prefix(const void *context, size_t i)
{
    const struct heights *h = context;
    const struct task *t = h->task;
    return h->segment ? h->segment[i]
                      : t->method->prefix_height(i, t->of->in.n, t->shape, t->of->exclusive);
}

/* What is possible at an output of a scan. */
static void due_at(struct due *d, const struct array *in, const uint8_t *heads, size_t output)
{
    due_begin(d, d->subject);
    for (size_t i = 0; i <= output; i++) {
        if (heads && heads[i])
            due_begin(d, d->subject);
        if (i < output || !d->subject->exclusive)
            due_add(d, array_get(in, i));
    }
    due_make(d);
}

/* Holds the first `count` outputs to the method's bound. */
static enum status judge_bounds(struct judgement *to, struct due *d, const struct array *in,
                                const uint8_t *heads, const struct array *out, size_t count,
                                struct problem *p)
{
    const struct conformance_subject *s = d->subject;
    struct task task = {.method = s->method,
                        .of = &(struct operands){.in = *in, .exclusive = s->exclusive},
                        .shape = method_shape(s->method, s->device.kind, in->n, s->shape)};
    struct heights h = {&task, NULL};
    struct scan scan = {
        .in = {in->format, count, in->data}, .exclusive = s->exclusive, .heads = heads};
    struct scan_output output = {.out = {out->format, count, out->data},
                                 .accumulator = s->accumulator,
                                 .bound = s->method->bound,
                                 .folds = s->method->folds,
                                 .height = height_of_prefix,
                                 .context = &h};
    struct scan_measure m;
    enum status status = STATUS_OK;
    if (heads && s->method->segment_heights) {
        h.segment = malloc(in->n * sizeof *h.segment);
        status = h.segment ? s->method->segment_heights(h.segment, in->n, s->exclusive, heads, p)
                           : problem(p, STATUS_MEMORY, "special: out of memory for heights");
    }
    if (status == STATUS_OK)
        status = measure_scan(&m, &output, 1, &scan, 1, p);
    free(h.segment);
    if (status != STATUS_OK || m.broken == 0)
        return status;
    due_at(d, in, heads, m.first_broken);
    *to = (struct judgement){JUDGED_IMPOSSIBLE, beyond_bound,
                             m.first_broken,    array_get(out, m.first_broken),
                             d->possible,       d->open};
    return STATUS_OK;
}

static enum status judge_scan(struct judgement *to, struct due *d, const struct array *in,
                              const uint8_t *heads, const struct array *out, struct problem *p)
{
    bool exclusive = d->subject->exclusive, rounded = true;
    size_t tame = 0; /* outputs before the first that comes near overflow */
    for (size_t i = 0; i < in->n; i++) {
        double x = array_get(out, i);
        if (heads && heads[i])
            due_begin(d, d->subject);
        if (!exclusive)
            due_add(d, array_get(in, i));
        judge_value(to, d, i, x);
        rounded &= x == d->exact;
        tame += tame == i && !due_near_overflow(d);
        if (exclusive)
            due_add(d, array_get(in, i));
    }
    if (rounded || tame == 0 || to->is == JUDGED_IMPOSSIBLE || !has_own_bound(d->subject->method))
        return STATUS_OK;
    return judge_bounds(to, d, in, heads, out, tame, p);
}

/* --- matrix products --- */

/* Of elements of D, which are made of the same numbers, each that is another one. */
static enum status judge_elements(struct judgement *to, struct due *d,
                                  const struct conformance_subject *s,
                                  const struct special_input *in, const struct array *out,
                                  struct problem *p)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < out->n && status == STATUS_OK && to->is != JUDGED_IMPOSSIBLE; i++) {
        if (i > 0 && array_bits(out, i) == array_bits(out, 0))
            continue;
        due_begin(d, s);
        struct judgement one = {.is = JUDGED_FINE};
        status = judge_sum(&one, d, in, array_get(out, i), p);
        if (one.is > to->is || i == 0) {
            *to = one;
            to->output = i;
        }
    }
    return status;
}

enum status conformance_judge(struct judgement *to, const struct conformance_subject *s,
                              const struct special_input *in, const uint8_t *heads,
                              const struct array *out, struct problem *p)
{
    struct due due;
    if (special_is_exact(s->method))
        return conformance_judge_exact(to, s, &in->x, array_get(out, 0), p);
    if (special_is_statistic(s->method))
        return conformance_judge_statistic(to, s, &in->x, out, p);
    *to = (struct judgement){.is = JUDGED_FINE};
    if (special_multiplies(s->method))
        return judge_elements(to, &due, s, in, out, p);
    due_begin(&due, s);
    return special_is_scan(s->method) ? judge_scan(to, &due, &in->x, heads, out, p)
                                      : judge_sum(to, &due, in, array_get(out, 0), p);
}
