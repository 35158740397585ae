#include <math.h>

#include "experiments/conformance/due.h"
#include "experiments/conformance/exact.h"
#include "reference/measure/measure.h"

/* Of squares as they are: may rounding bring their sum, at most twice the exact one, beyond the
 * range? */
static bool squares_overflow(const struct reference *r, const struct theorem *t, enum format f)
{
    return t->kind == THEOREM_NORM &&
           isinf(format_round(f, 2 * mpfr_get_d(r->moment.squares, MPFR_RNDU)));
}

static void judge_one(struct judgement *j, const struct conformance_subject *s,
                      const struct reference *r, double x)
{
    double due = mpfr_get_d(r->sum, MPFR_RNDN);
    const struct method *m = s->method;
    bool ours = m->cpu && !m->foreign;
    possible_just(&j->due, due);
    if (isnan(due) && isnan(x))
        return;
    if (isnan(due) && r->infs > 0 && x == INFINITY && !ours) {
        j->is = JUDGED_NOTED;
        j->why = "+inf of a NaN and an infinity, as hypot gives";
    } else if (isnan(due))
        special_impossible(j, x, "a NaN is lost");
    else if (isnan(x))
        special_impossible(j, x, "NaN, which is not due");
    else if (isinf(due) && x != due)
        special_impossible(j, x, "an infinity is lost");
    else if (due == 0 && x == 0 && signbit(x))
        special_impossible(j, x, "a zero of the other sign");
    else if (x != due)
        special_impossible(j, x, "another norm than 0");
}

static void judge_bound(struct judgement *j, const struct conformance_subject *s,
                        const struct reference *r, double x)
{
    struct measure m;
    struct theorem theorem = special_theorem(s, r->n);
    bool exact = theorem.kind == THEOREM_CORRECTLY_ROUNDED;
    const struct format_facts *f = &format_facts[s->accumulator];
    j->open = true;
    j->due = (struct possible){.least = 0, .most = f->largest, .grid = f->smallest};
    special_ends(&j->due, r, &theorem, s);
    j->due.inf[0] |= squares_overflow(r, &theorem, s->accumulator);
    measure(&m, r, s->storage, s->accumulator, x, &theorem);
    if (isnan(x))
        special_impossible(j, x, "NaN of numbers");
    else if (signbit(x))
        special_impossible(j, x, "a norm below 0");
    else if (m.outcome == OUTCOME_OVERFLOW && (exact || !j->due.inf[0]))
        special_impossible(j, x, "infinite, where the norm is not");
    else if (isfinite(x) && m.broken)
        special_impossible(j, x, "beyond the bound of its theorem");
    else if (m.outcome == OUTCOME_OVERFLOW) {
        j->is = JUDGED_NOTED;
        j->why = "overflow on the way to a norm that is in range";
    }
}

void conformance_judge_norm(struct judgement *j, const struct conformance_subject *s,
                            const struct reference *r, double x)
{
    if (mpfr_regular_p(r->sum))
        judge_bound(j, s, r, x);
    else
        judge_one(j, s, r, x);
}
