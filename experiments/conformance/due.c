#include "experiments/conformance/due.h"

#include <math.h>

#include "experiments/conformance/exact.h"
#include "experiments/conformance/product.h"
#include "reference/measure/measure.h"

/* Of squares as they are, or where nobody says how: may rounding bring their sum, at most twice the
 * exact one, beyond the range? */
static bool squares_overflow(const struct reference *r, const struct theorem *t, enum format f)
{
    return (t->kind == THEOREM_NORM || t->kind == THEOREM_NONE) &&
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

enum { FEW_PARTS = 32 }; /* of a prefix: there are many of them */

static bool of_products(const struct due *d)
{
    return special_reads_two(d->subject->method);
}

const struct any_order *due_elements(const struct due *d)
{
    return of_products(d) ? &d->products.rounded : &d->elements;
}

static void begin_products(struct due *d)
{
    any_products_init(&d->products, d->subject->accumulator, d->subject->product);
    if (d->way != ADDS_PLAIN)
        d->products.rounded.parts_most = 0;
}

void due_begin(struct due *d, const struct conformance_subject *subject)
{
    enum format f = subject->accumulator;
    d->subject = subject;
    d->way = theorem_additions(subject->method->bound);
    if (d->way == ADDS_OTHER) /* its theorem alone says what may come of finite numbers */
        d->way = ADDS_CARRIED;
    d->stale = true;
    if (of_products(d)) {
        begin_products(d);
        return;
    }
    bool whole = d->way == ADDS_BINNED || d->way == ADDS_EXACT; /* elements are not rounded first */
    any_order_init(&d->elements, whole ? FP64 : d->way == ADDS_WIDENED ? format_wider(f) : f);
    if (d->way != ADDS_PLAIN && d->way != ADDS_WIDENED)
        d->elements.parts_most = 0;
    else if (special_is_scan(subject->method))
        d->elements.parts_most = FEW_PARTS;
}

void due_add(struct due *d, double x)
{
    const struct any_order *e = &d->elements;
    d->stale |= e->empty || !(x == 0 && (e->plain || signbit(x)));
    any_order_add(&d->elements, x);
}

struct theorem special_theorem(const struct conformance_subject *s, size_t n)
{
    struct shape shape = method_shape(s->method, s->device.kind, n, s->shape);
    struct theorem t = method_theorem(s->method, s->device.kind, s->accumulator, n, shape);
    t.product = s->product;
    return t;
}

void due_add_product(struct due *d, double x, double y)
{
    d->stale = true;
    any_products_add(&d->products, x, y);
}

void possible_just(struct possible *p, double x)
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
static void open_interval(struct due *d)
{
    d->open = true;
    d->possible.most = format_facts[d->subject->accumulator].largest;
    d->possible.least = -d->possible.most;
}

/* The bound may reach beyond the range, or across 0 to what rounds to -0. */
static void make_binned(struct due *d)
{
    const struct any_order *e = &d->elements;
    enum format f = d->subject->accumulator;
    size_t count = e->count[0] + e->count[1];
    possible_just(&d->possible, d->exact);
    if (e->nan || e->inf[0] || e->inf[1] || count <= 1)
        return;
    d->possible.grid = e->grid;
    d->possible.zero[0] = true;
    d->possible.zero[1] = e->count[1] > 0 && format_round(f, -e->grid) == 0;
    for (int sign = 0; sign < 2; sign++) /* of twice the magnitudes: there is room for the bound */
        d->possible.inf[sign] |= e->count[sign] > 0 && isinf(format_round(f, 2 * e->sum_abs[sign]));
    open_interval(d);
}

static void make_carried(struct due *d)
{
    struct possible *p = &d->possible;
    if (p->exact || p->least > p->most)
        return;
    p->zero[0] = true;
    open_interval(d);
}

/* Sums of chunks are stored in the storage's format, where they may overflow though no addition
 * does, and lose digits that every order of additions keeps. */
static void make_split(struct due *d)
{
    const struct any_order *e = &d->elements;
    struct possible *p = &d->possible;
    bool over[2], any = e->inf[0] || e->inf[1];
    for (int sign = 0; sign < 2; sign++) /* of twice the magnitudes: there is room for the bound */
        over[sign] =
            e->count[sign] > 0 && isinf(format_round(d->subject->storage, 2 * e->sum_abs[sign]));
    p->nan |= (over[0] || e->inf[0]) && (over[1] || e->inf[1]);
    if (e->nan || any)
        return;
    p->inf[0] |= over[0];
    p->inf[1] |= over[1];
    p->zero[0] |= e->count[0] + e->count[1] > 0;
    open_interval(d);
}

/* Fused sums, which are cut off: their theorem alone says what may come of finite numbers. */
static void make_blocks(struct due *d)
{
    const struct any_order *e = &d->products.rounded;
    struct possible *p = &d->possible;
    if (e->nan || e->inf[0] || e->inf[1] || d->products.nan || d->products.inf[0] ||
        d->products.inf[1])
        return;
    for (int sign = 0; sign < 2; sign++) /* of twice the magnitudes: there is room for the bound */
        p->inf[sign] |= d->products.count[sign] > 0 &&
                        isinf(format_round(d->subject->accumulator, 2 * d->products.sum_abs[sign]));
    if (d->products.count[0] + d->products.count[1] == 0)
        return;
    p->zero[0] = p->zero[1] = true;
    open_interval(d);
}

static void make_products(struct due *d)
{
    d->exact = products_round(&d->products.sum, d->subject->accumulator);
    if (d->way == ADDS_EXACT)
        possible_just(&d->possible, d->exact);
    else
        any_products_possible(&d->products, &d->possible);
    if (d->subject->method->bound == THEOREM_BLOCKS)
        make_blocks(d);
    else if (d->way == ADDS_CARRIED)
        make_carried(d);
}

void due_make(struct due *d)
{
    enum format f = d->subject->accumulator;
    if (!d->stale)
        return;
    d->stale = d->open = false;
    if (of_products(d)) {
        make_products(d);
        return;
    }
    d->exact = exact_round(&d->elements.sum, f);
    if (d->way == ADDS_EXACT)
        possible_just(&d->possible, d->exact);
    else if (d->way == ADDS_BINNED)
        make_binned(d);
    else
        any_order_possible(&d->elements, &d->possible);
    if (d->way == ADDS_WIDENED)
        possible_round(&d->possible, f);
    if (d->subject->method->bound == THEOREM_SPLIT)
        make_split(d);
    else if (d->way == ADDS_CARRIED)
        make_carried(d);
}

bool due_near_overflow(const struct due *d)
{
    const struct any_order *e = due_elements(d);
    double sum_abs = e->sum_abs[0] + e->sum_abs[1];
    return e->inf[0] || e->inf[1] || e->nan ||
           !(sum_abs < ldexp(1, format_facts[d->subject->accumulator].emax - 2));
}
