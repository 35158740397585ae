/* Sums that claim not to depend on the order of their elements, broken. */
#include <math.h>
#include <stdlib.h>

#include "kernels/blocks/binned_state.h"
#include "reference/exact/exact.h"
#include "tests/mutants/mutants.h"

static enum status give(const struct task *t, double sum)
{
    array_encode(&t->out, 0, 1, &sum);
    return STATUS_OK;
}

static struct binned_state begin(const struct task *t, unsigned folds)
{
    struct binned_state s;
    binned_state_init(&s, t->of->in.format, t->out.format, folds, NULL);
    return s;
}

/* Each thread's share is rounded before it is added to the others. */
static enum status rounds_shares(const struct task *t, struct problem *p)
{
    (void)p;
    struct binned_state all = begin(t, 3);
    size_t threads = t->shape.threads, first = 0;
    for (size_t i = 0; i < threads; i++) {
        size_t end = t->of->in.n * (i + 1) / threads;
        struct binned_state own = begin(t, 3);
        binned_state_add(&own, &t->of->in, first, end - first);
        if (i == 0)
            all = own;
        double part = binned_state_finish(&own);
        uint64_t bits = 0;
        struct array one = {t->of->in.format, 1, &bits};
        array_encode(&one, 0, 1, &part);
        if (i > 0)
            binned_state_add(&all, &one, 0, 1);
        first = end;
    }
    return give(t, binned_state_finish(&all));
}

/* What was cut by a smaller unit, before a larger element came, is not cut again. */
static enum status keeps_what_is_below(const struct task *t, struct problem *p)
{
    (void)p;
    struct binned_state window = begin(t, 3);
    struct exact sum;
    exact_init(&sum);
    for (size_t i = 0; i < t->of->in.n; i++) {
        double x = array_get(&t->of->in, i);
        binned_state_add(&window, &t->of->in, i, 1);
        int unit = binned_unit(&window.bins, window.window < 0 ? 0 : window.window);
        double cut = isfinite(x) ? ldexp(nearbyint(ldexp(x, -unit)), unit) : x;
        exact_add(&sum, isfinite(cut) ? cut : x);
    }
    return give(t, exact_round(&sum, t->out.format));
}

/* Ties go to the even sum, not to the even part: adding to what is there already rounds so. */
static enum status breaks_ties_by_the_sum(const struct task *t, struct problem *p)
{
    (void)p;
    struct binned_state s = begin(t, 2);
    binned_state_add(&s, &t->of->in, 0, t->of->in.n);
    if (s.nan || s.inf[0] || s.inf[1] || s.window < 0)
        return give(t, binned_state_finish(&s));
    int unit = binned_unit(&s.bins, s.window);
    struct exact sum;
    exact_init(&sum);
    bool odd = false;
    for (size_t i = 0; i < t->of->in.n; i++) {
        double units = ldexp(array_get(&t->of->in, i), -unit), part = nearbyint(units);
        if (fabs(units - part) == 0.5 && odd)
            part += 2 * (units - part);
        odd ^= fmod(part, 2) != 0;
        exact_add(&sum, ldexp(part, unit));
    }
    return give(t, exact_round(&sum, t->out.format));
}

/* The maximum of the first elements decides for all. */
static enum status trusts_the_first(const struct task *t, struct problem *p)
{
    (void)p;
    struct binned_state first = begin(t, 3), rest = begin(t, 3);
    size_t some = t->of->in.n / 2 + t->of->in.n % 2;
    binned_state_add(&first, &t->of->in, 0, some);
    binned_state_add(&rest, &t->of->in, some, t->of->in.n - some);
    if (first.window >= 0 && rest.window >= 0 && rest.window < first.window)
        for (int k = 0; k < first.window - rest.window && k < rest.bins.kept; k++)
            first.bin[0] += rest.bin[k] > 0; /* a sticky unit for what is below */
    binned_state_merge(&first, &rest, NULL);
    return give(t, binned_state_finish(&first));
}

static enum status forgets_a_nan(const struct task *t, struct problem *p)
{
    (void)p;
    struct binned_state s = begin(t, 3);
    binned_state_add(&s, &t->of->in, 0, t->of->in.n);
    s.nan = s.nan && t->of->in.n > 0 && isnan(array_get(&t->of->in, 0));
    return give(t, binned_state_finish(&s));
}

static enum status two_folds(const struct task *t, struct problem *p)
{
    return method_named("sum/binned2")->cpu(t, p);
}

/* Rounded to fp64 on the way. */
static enum status rounds_twice(const struct task *t, struct problem *p)
{
    (void)p;
    struct exact sum;
    exact_init(&sum);
    exact_add_array(&sum, &t->of->in, 0, t->of->in.n);
    return give(t, exact_round(&sum, FP64));
}

static enum status kahan(const struct task *t, struct problem *p)
{
    return method_named("sum/kahan")->cpu(t, p);
}

#define BREAK(name, member, value)                                                                 \
    static void name(struct method *m)                                                             \
    {                                                                                              \
        m->member = value;                                                                         \
    }
BREAK(break_shares, cpu, rounds_shares)
BREAK(break_below, cpu, keeps_what_is_below)
BREAK(break_ties, cpu, breaks_ties_by_the_sum)
BREAK(break_first, cpu, trusts_the_first)
BREAK(break_nan, cpu, forgets_a_nan)
BREAK(break_folds, cpu, two_folds)
BREAK(break_twice, cpu, rounds_twice)
BREAK(break_kahan, cpu, kahan)
BREAK(break_exaggerate, promise, PROMISE_ORDER_INVARIANT)
BREAK(break_correctly, promise, PROMISE_CORRECTLY_ROUNDED)

const struct mutant binned_mutants[] = {
    {"rounds the threads' shares", "sum/binned", break_shares, holds_promise},
    {"keeps what lies below the unit", "sum/binned", break_below, holds_promise},
    {"breaks ties by the sum so far", "sum/binned2", break_ties, holds_promise},
    {"lets the first elements decide", "sum/binned", break_first, holds_promise},
    {"sees a NaN in front only", "sum/binned", break_nan, holds_promise},
    {"keeps fewer digits than declared", "sum/binned4", break_folds, holds_bound},
    {"is a sum with errors carried along", "sum/binned", break_kahan, holds_promise},
    {"promises more than it keeps", "sum/tiled", break_exaggerate, holds_promise},
    {"promises more than it keeps", "sum/sumk5", break_exaggerate, holds_promise},
    {"promises more than it keeps", "sum/binned2", break_correctly, holds_promise},
    {"rounds twice", "sum/exact", break_twice, holds_promise},
};
const size_t binned_mutant_count = sizeof binned_mutants / sizeof *binned_mutants;
