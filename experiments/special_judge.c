#include "experiments/special_judge.h"

#include <math.h>

#include "reference/measure_scan.h"

/* How a theorem says that a method adds. */
enum way {
    WAY_PLAIN,   /* rounded additions of the elements, nothing else */
    WAY_WIDENED, /* the same in the wider format, then rounded */
    WAY_CARRIED, /* additions that carry their errors along */
    WAY_BINNED,
    WAY_EXACT
};

static enum way way_of(const struct method *m)
{
    switch (m->bound) {
    case THEOREM_ANY_ORDER:
    case THEOREM_TREE:
    case THEOREM_NONE: /* held to what plain additions give, as the operation's name says */
        return WAY_PLAIN;
    case THEOREM_WIDENED:
        return WAY_WIDENED;
    case THEOREM_BINNED:
        return WAY_BINNED;
    case THEOREM_CORRECTLY_ROUNDED:
        return WAY_EXACT;
    default:
        return WAY_CARRIED;
    }
}

/* Does its theorem say more than what is possible in any order, or than what exact results are? */
static bool has_own_bound(const struct method *m)
{
    return m->bound != THEOREM_ANY_ORDER && m->bound != THEOREM_NONE &&
           m->bound != THEOREM_CORRECTLY_ROUNDED;
}

/* The elements so far, what they may give, and what they give exactly. */
struct judge {
    const struct special_subject *subject;
    enum way way;
    struct any_order elements;
    bool stale;
    struct possible due;
    bool open;    /* the theorem's bound says more of finite numbers */
    double exact; /* the exact sum of the elements, rounded to the accumulator */
};

enum { FEW_PARTS = 32 }; /* of a prefix: there are many of them */

static void begin(struct judge *j)
{
    enum format f = j->subject->accumulator;
    bool whole = j->way == WAY_BINNED || j->way == WAY_EXACT; /* elements are not rounded first */
    any_order_init(&j->elements, whole ? FP64 : j->way == WAY_WIDENED ? format_wider(f) : f);
    if (j->way != WAY_PLAIN && j->way != WAY_WIDENED)
        j->elements.parts_most = 0;
    else if (j->subject->method->operation->array)
        j->elements.parts_most = FEW_PARTS;
    j->stale = true;
}

static void add(struct judge *j, double x)
{
    const struct any_order *e = &j->elements;
    j->stale |= e->empty || !(x == 0 && (e->plain || signbit(x)));
    any_order_add(&j->elements, x);
}

static void just(struct possible *p, double x)
{
    *p = (struct possible){.nan = isnan(x), .least = 1, .most = -1, .grid = 0x1p-1074};
    if (isinf(x))
        p->inf[x < 0] = true;
    else if (x == 0)
        p->zero[signbit(x) != 0] = true;
    else if (!isnan(x))
        p->least = p->most = x;
}

/* Anything that is finite: the theorem says what. */
static void open_interval(struct judge *j)
{
    j->open = true;
    j->due.most = format_facts[j->subject->accumulator].largest;
    j->due.least = -j->due.most;
}

/* The bound may reach beyond the range, or across 0 to what rounds to -0. */
static void binned_due(struct judge *j)
{
    const struct any_order *e = &j->elements;
    enum format f = j->subject->accumulator;
    size_t count = e->count[0] + e->count[1];
    just(&j->due, j->exact);
    if (e->nan || e->inf[0] || e->inf[1] || count <= 1)
        return;
    j->due.grid = e->grid;
    j->due.zero[0] = true;
    j->due.zero[1] = e->count[1] > 0 && format_round(f, -e->grid) == 0;
    for (int sign = 0; sign < 2; sign++) /* of twice the magnitudes: there is room for the bound */
        j->due.inf[sign] |= e->count[sign] > 0 && isinf(format_round(f, 2 * e->sum_abs[sign]));
    open_interval(j);
}

static void carried_due(struct judge *j)
{
    struct possible *p = &j->due;
    if (p->exact || p->least > p->most)
        return;
    p->zero[0] = true;
    open_interval(j);
}

static void make_due(struct judge *j)
{
    enum format f = j->subject->accumulator;
    if (!j->stale)
        return;
    j->stale = j->open = false;
    j->exact = exact_round(&j->elements.sum, f);
    if (j->way == WAY_EXACT)
        just(&j->due, j->exact);
    else if (j->way == WAY_BINNED)
        binned_due(j);
    else
        any_order_possible(&j->elements, &j->due);
    if (j->way == WAY_WIDENED)
        possible_round(&j->due, f);
    if (j->way == WAY_CARRIED)
        carried_due(j);
}

/* Is a partial sum, or what TwoSum makes of it, at the end of the range? */
static bool near_overflow(const struct judge *j)
{
    double sum_abs = j->elements.sum_abs[0] + j->elements.sum_abs[1];
    return j->elements.inf[0] || j->elements.inf[1] || j->elements.nan ||
           !(sum_abs < ldexp(1, format_facts[j->subject->accumulator].emax - 2));
}

static bool holds_number(const struct possible *p)
{
    return p->least <= p->most || p->zero[0] || p->zero[1];
}

/* --- reasons --- */

static const char *why_not(const struct judge *j, double x)
{
    const struct possible *due = &j->due;
    bool finite = holds_number(due);
    if (due->nan && !finite && !due->inf[0] && !due->inf[1])
        return "a NaN, or infinities of both signs, are lost";
    if (isnan(x))
        return "NaN, which no order gives";
    if (isinf(x))
        return finite ? "infinite, where no order overflows" : "another infinity than is due";
    if (!finite)
        return "an infinity is lost";
    if (x == 0 && (due->zero[0] || due->zero[1]))
        return signbit(x) ? "-0, where not all elements are -0" : "+0, where all elements are -0";
    return j->way == WAY_EXACT ? "not the exact sum, rounded" : "a number that no order gives";
}

/* Subjects that are not ours may begin at +0, and may have more digits than they say. */
static const char *excuse(const struct judge *j, double x)
{
    const struct any_order *e = &j->elements;
    const struct method *m = j->subject->method;
    if ((m->cpu && !m->foreign) || j->way != WAY_PLAIN || e->empty)
        return NULL;
    if (x == 0 && !signbit(x) && !e->plain)
        return "+0, where all elements are -0: as of a sum that begins at +0";
    if (x == j->exact && isfinite(x) && x != 0)
        return "the exact sum rounded once, which no order of these additions gives";
    return NULL;
}

/* What is possible, and yet worth a word. */
static const char *note(const struct judge *j, double x)
{
    const struct any_order *e = &j->elements;
    if (isfinite(x) || e->nan || e->inf[0] || e->inf[1])
        return e->nan || !isnan(x) || (e->inf[0] && e->inf[1])
                   ? NULL
                   : "NaN from an infinity and an overflow to the other";
    if (isnan(x))
        return "NaN from overflows of both signs";
    return isfinite(j->exact) ? "overflow on the way to a sum that is in range" : NULL;
}

/* Judges one output by what is possible. */
static void judge_value(struct judgement *to, struct judge *j, size_t output, double x)
{
    make_due(j);
    struct judgement one = {.output = output, .result = x};
    if (possible_holds(&j->due, x)) {
        one.why = note(j, x);
        one.is = one.why ? JUDGED_NOTED : JUDGED_FINE;
    } else {
        one.why = excuse(j, x);
        one.is = one.why ? JUDGED_NOTED : JUDGED_IMPOSSIBLE;
        one.why = one.why ? one.why : why_not(j, x);
    }
    if (one.is > to->is) {
        *to = one;
        to->due = j->due;
        to->open = j->open;
    }
}

static const char *const beyond_bound = "beyond the bound of its theorem";

/* --- sums --- */

static struct theorem theorem_of(const struct special_subject *s, size_t n)
{
    struct shape shape = method_shape(s->method, s->device.kind, n, s->shape);
    return method_theorem(s->method, s->device.kind, s->accumulator, n, shape);
}

/* Holds a finite result to the method's bound. Where its additions may flush, the bound says so,
 * and excuses what no order gives. */
static void judge_bound(struct judgement *to, struct judge *j, const struct reference *r,
                        const struct theorem *theorem, double x)
{
    const struct special_subject *s = j->subject;
    bool loose = j->way == WAY_CARRIED && theorem->kind != THEOREM_NONE && near_overflow(j);
    struct theorem any = {.kind = THEOREM_ANY_ORDER};
    struct measure m;
    measure(&m, r, s->storage, s->accumulator, x, loose ? &any : theorem);
    bool broken = loose ? m.err_over_bound.known && !(m.err_over_bound.value <= 3) : m.broken;
    if (to->is != JUDGED_IMPOSSIBLE && broken) {
        *to = (struct judgement){JUDGED_IMPOSSIBLE, beyond_bound, 0, x, j->due, j->open};
    } else if (to->is == JUDGED_IMPOSSIBLE && m.bound.known && !broken && theorem->flushing > 0) {
        to->is = JUDGED_NOTED;
        to->why = "subnormals are flushed, as its bound says";
    }
}

static enum status judge_sum(struct judgement *to, struct judge *j, const struct array *in,
                             double x, struct problem *p)
{
    struct reference r;
    for (size_t i = 0; i < in->n; i++)
        add(j, array_get(in, i));
    judge_value(to, j, 0, x);

    struct theorem theorem = theorem_of(j->subject, in->n);
    bool decided = to->is == JUDGED_IMPOSSIBLE
                       ? theorem.flushing == 0
                       : x == j->exact || j->way == WAY_EXACT || theorem.kind == THEOREM_ANY_ORDER;
    if (!isfinite(x) || decided)
        return STATUS_OK;
    enum status status = reference_compute(&r, in, REFERENCE_FAST, p);
    if (status != STATUS_OK)
        return status;
    judge_bound(to, j, &r, &theorem, x);
    reference_free(&r);
    return STATUS_OK;
}

/* --- scans --- */

static size_t height_of_prefix(const void *context, size_t i)
{
    const struct task *t = context;
    return t->method->prefix_height(i, t->in.n, t->shape, t->exclusive);
}

/* What is possible at an output of a scan. */
static void due_at(struct judge *j, const struct array *in, const uint8_t *heads, size_t output)
{
    begin(j);
    for (size_t i = 0; i <= output; i++) {
        if (heads && heads[i])
            begin(j);
        if (i < output || !j->subject->exclusive)
            add(j, array_get(in, i));
    }
    make_due(j);
}

/* Holds the first `count` outputs to the method's bound. */
static enum status judge_bounds(struct judgement *to, struct judge *j, const struct array *in,
                                const uint8_t *heads, const struct array *out, size_t count,
                                struct problem *p)
{
    const struct special_subject *s = j->subject;
    struct task task = {.method = s->method,
                        .in = *in,
                        .shape = method_shape(s->method, s->device.kind, in->n, s->shape),
                        .exclusive = s->exclusive};
    struct scan scan = {{in->format, count, in->data}, s->exclusive, heads};
    struct scan_output output = {.out = {out->format, count, out->data},
                                 .accumulator = s->accumulator,
                                 .bound = s->method->bound,
                                 .height = height_of_prefix,
                                 .context = &task};
    struct scan_measure m;
    enum status status = measure_scan(&m, &output, 1, &scan, 1, p);
    if (status != STATUS_OK || m.broken == 0)
        return status;
    due_at(j, in, heads, m.first_broken);
    *to = (struct judgement){JUDGED_IMPOSSIBLE,
                             beyond_bound,
                             m.first_broken,
                             array_get(out, m.first_broken),
                             j->due,
                             j->open};
    return STATUS_OK;
}

static enum status judge_scan(struct judgement *to, struct judge *j, const struct array *in,
                              const uint8_t *heads, const struct array *out, struct problem *p)
{
    bool exclusive = j->subject->exclusive, rounded = true;
    size_t tame = 0; /* outputs before the first that comes near overflow */
    for (size_t i = 0; i < in->n; i++) {
        double x = array_get(out, i);
        if (heads && heads[i])
            begin(j);
        if (!exclusive)
            add(j, array_get(in, i));
        judge_value(to, j, i, x);
        rounded &= x == j->exact;
        tame += tame == i && !near_overflow(j);
        if (exclusive)
            add(j, array_get(in, i));
    }
    if (rounded || tame == 0 || to->is == JUDGED_IMPOSSIBLE || !has_own_bound(j->subject->method))
        return STATUS_OK;
    return judge_bounds(to, j, in, heads, out, tame, p);
}

enum status special_judge(struct judgement *to, const struct special_subject *s,
                          const struct array *in, const uint8_t *heads, const struct array *out,
                          struct problem *p)
{
    struct judge j = {.subject = s, .way = way_of(s->method)};
    *to = (struct judgement){.is = JUDGED_FINE};
    begin(&j);
    return s->method->operation->array ? judge_scan(to, &j, in, heads, out, p)
                                       : judge_sum(to, &j, in, array_get(out, 0), p);
}
