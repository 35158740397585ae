#include "experiments/reveal/method.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "experiments/operations/operation.h"
#include "experiments/system/clock.h"
#include "experiments/reveal/ask.h"
#include "experiments/reveal/hold.h"

struct asked {
    struct probe *probe;
    struct array out;
    size_t index, divisor;
    const struct reveal_case *of;
    uint64_t calls, begin_ns, drawn_ns;
};

size_t reveal_divisor(const struct probe_spec *s)
{
    return exact_facts[s->method->operation->of].form == FORM_QUOTIENT ? s->n : 0;
}

struct format_pair reveal_formats(const struct method *m, enum device_kind device,
                                  enum format storage, enum format accumulator)
{
    static const enum format first[] = {FP32, FP64};
    enum { FIRST = sizeof first / sizeof *first };
    for (size_t i = 0; i < FIRST + FORMATS; i++) {
        enum format s = i < FIRST ? first[i] : (enum format)(i - FIRST);
        for (size_t k = 0; k < 1 + FIRST + ACCUMULATORS; k++) {
            enum format a = k == 0          ? s
                            : k < 1 + FIRST ? first[k - 1]
                                            : (enum format)(k - 1 - FIRST);
            bool asked = (storage == FORMATS || storage == s) &&
                         (accumulator == FORMATS || accumulator == a);
            if (asked && (int)a < ACCUMULATORS && method_supports(m, device, s, a))
                return (struct format_pair){s, a};
        }
    }
    storage = storage == FORMATS ? FP32 : storage;
    return (struct format_pair){storage, accumulator == FORMATS ? storage : accumulator};
}

bool reveal_adds_squares(const struct method *m)
{
    array_term *term = exact_facts[m->operation->of].term;
    return term && term(3) == 9;
}

bool reveal_can_ask(const struct method *m)
{
    switch (exact_facts[m->operation->of].form) {
    case FORM_SUM:
    case FORM_ROOT:
        return operation_adds_elements(m->operation);
    case FORM_QUOTIENT:
        return m->bound != THEOREM_RUNNING_MEAN;
    case FORM_MOMENTS:
    case FORM_PRODUCT:
    case FORM_ELEMENT:
    case FORM_INDEX:
    case FORM_ROW:
        break;
    }
    return false;
}

size_t reveal_elements(const struct reveal_case *c, size_t *first)
{
    const struct probe_spec *s = &c->spec;
    *first = 0;
    if (!operation_asks(s->method->operation, SETTING_SCAN))
        return s->n;
    for (size_t i = 1; s->heads && i <= c->prefix; i++)
        if (s->heads[i])
            *first = i;
    return c->prefix - *first + !s->exclusive;
}

/* The sum of units of which this is the quotient by n, rounded to f: their sum has fewer digits
 * than f by REVEAL_QUOTIENT_DIGITS, so it is the nearest number that has as many. */
static double times_divisor(enum format f, double quotient, size_t n)
{
    int digits = format_facts[f].precision - REVEAL_QUOTIENT_DIGITS, exponent;
    if (!isfinite(quotient))
        return quotient;
    double part = frexp(quotient * (double)n, &exponent);
    return ldexp(rint(ldexp(part, digits)), exponent - digits);
}

static enum status evaluate(void *context, double *result, struct problem *p)
{
    struct asked *a = context;
    a->calls++;
    enum status status = probe_run(a->probe, &a->out, p);
    *result = status == STATUS_OK ? array_get(&a->out, a->index) : 0;
    if (status == STATUS_OK && a->divisor > 0)
        *result = times_divisor(a->out.format, *result, a->divisor);
    return status;
}

/* Ten times a second. */
static void draw_progress(void *context, size_t placed)
{
    struct asked *a = context;
    uint64_t now = clock_ns();
    size_t first, all = reveal_elements(a->of, &first);
    if (now - a->drawn_ns < 100000000)
        return;
    a->drawn_ns = now;
    double seconds = (double)(now - a->begin_ns) / 1e9, left = (double)(all - placed);
    fprintf(stderr, "\r\033[K%.60s: %zu of %zu elements have a place, %.3g calls/s",
            a->of->spec.method->name, placed, all, (double)a->calls / seconds);
    if (placed > 0)
        fprintf(stderr, ", %.0f s left", seconds * left / (double)placed);
    fflush(stderr);
}

static void make_order(struct order *o, const struct reveal_case *c)
{
    const struct probe_spec *s = &c->spec;
    method_order(o, s->method, s->device.kind, s->n, s->shape, s->exclusive, s->heads);
}

static size_t output_of(const struct reveal_case *c)
{
    return operation_asks(c->spec.method->operation, SETTING_SCAN) ? c->prefix : 0;
}

enum status reveal_declared(struct sum_tree *t, bool *declared, const struct reveal_case *c,
                            struct problem *p)
{
    struct order o;
    size_t first, leaves = reveal_elements(c, &first);
    *t = (struct sum_tree){0};
    *declared = c->spec.method->order != NULL;
    if (!*declared)
        return STATUS_OK;
    make_order(&o, c);
    enum status status = sum_tree_of(t, &o, output_of(c), first, leaves, p);
    order_free(&o);
    return status;
}

/* --- how products are formed --- */

enum { PRODUCTS_ASKED = 64 };

/* The factor 1 + 2^-k: its square needs 2k + 1 digits, which the accumulator has not, but
 * 1 + 2^(1-k), to which it is rounded. 0 where elements have too few digits for one. */
static int factor_bits(enum format storage, enum format accumulator)
{
    int k = (format_facts[accumulator].precision + 2) / 2;
    int most = format_facts[storage].precision < format_facts[accumulator].precision
                   ? format_facts[storage].precision
                   : format_facts[accumulator].precision;
    return k < most ? k : 0;
}

/* Element i is the product of x and y, and where there is another one, that is added to it. */
static enum status ask_product(const struct reveal_subject *s, size_t i, double x, double y,
                               size_t other, double opposite, double *got, struct problem *p)
{
    const double zero = 0, one = 1;
    for (size_t e = 0; e < s->in.n; e++)
        array_encode(&s->in, e, 1, &zero);
    array_encode(&s->in, s->first + other, 1, &opposite);
    array_encode(&s->in, s->first + i, 1, &x);
    array_encode(&s->second, s->first + i, 1, &y);
    enum status status = s->evaluate(s->context, got, p);
    array_encode(&s->second, s->first + i, 1, &one);
    return status;
}

/* The square of the factor, to which another element adds the opposite of what it is rounded to:
 * the sum is what rounding loses, where the product was not rounded. Where products are exact, any
 * will do. Both signs of both factors take turns. */
static enum status ask_square(struct reveal *r, const struct reveal_subject *s, size_t turn,
                              size_t i, size_t other, int k, struct problem *p)
{
    struct reveal_products *q = &r->products;
    double size = 1 + ldexp(1, k ? -k : -1), x = turn & 2 ? -size : size,
           y = turn & 1 ? -size : size, lost = k ? ldexp(1, -2 * k) : size * size,
           opposite = k ? -(1 + ldexp(1, 1 - k)) : 0, got = 0;
    if (x * y < 0) {
        lost = -lost;
        opposite = -opposite;
    }
    enum status status = ask_product(s, i, x, y, other, opposite, &got, p);
    bool rounded = k > 0 && got == 0,
         unrounded = got == (k > 0 ? lost : format_round(s->output, lost));
    if (status != STATUS_OK)
        return status;
    if (!rounded && !unrounded) {
        snprintf(r->words, sizeof r->words,
                 "x[%zu] = %.17g, y[%zu] = %.17g, x[%zu] y[%zu] = %.17g and 0 elsewhere give %.17g",
                 s->first + i, x, s->first + i, y, s->first + other, s->first + other, opposite,
                 got);
        r->verdict = REVEAL_NO_SUM;
    }
    if (k > 0 && rounded && q->rounded == 0)
        q->first_rounded = s->first + i;
    q->asked += k > 0;
    q->rounded += rounded;
    q->unrounded += k > 0 && unrounded;
    return STATUS_OK;
}

/* Along the tree found: each element and the least one below what it is added to. */
static enum status ask_products(struct reveal *r, const struct reveal_subject *s, struct problem *p)
{
    const struct sum_tree *t = &r->tree;
    struct sum_tree_nodes nodes = {0};
    int k = factor_bits(s->in.format, s->accumulator);
    size_t asked = t->leaves < PRODUCTS_ASKED ? t->leaves : PRODUCTS_ASKED;
    r->products.exact = k == 0;
    if (t->leaves < 2 || t->additions + 1 != t->leaves)
        return STATUS_OK;
    enum status status = sum_tree_nodes_make(&nodes, t, p);
    for (size_t a = 0; a < asked && status == STATUS_OK && r->verdict == REVEAL_TREE; a++) {
        size_t i = a * t->leaves / asked, at = nodes.parent[i] - t->leaves;
        const uint32_t *child = t->child + t->begin[at];
        status = ask_square(r, s, a, i, nodes.least[child[child[0] == i]], k, p);
    }
    free(nodes.parent);
    return status;
}

/* To the arithmetic that the method declares, where its order is the tree that was found. */
static enum status hold(struct reveal *r, const struct reveal_subject *s,
                        const struct reveal_case *c, uint64_t seed, struct problem *p)
{
    struct sum_tree tree;
    struct order o = {0};
    bool declared;
    enum status status = reveal_declared(&tree, &declared, c, p);
    if (status == STATUS_OK && declared && r->verdict == REVEAL_TREE &&
        sum_tree_equal(&tree, &r->tree)) {
        make_order(&o, c);
        status = o.failed ? problem(p, STATUS_MEMORY, "reveal: out of memory for an order")
                          : reveal_hold(r, s, &o, output_of(c), c->spec.method, seed, p);
        order_free(&o);
    } else if (status == STATUS_OK) {
        status = reveal_hold(r, s, NULL, 0, NULL, seed, p);
    }
    sum_tree_free(&tree);
    return status;
}

enum status reveal_method(struct reveal *r, const struct reveal_case *c, uint64_t seed,
                          struct problem *p)
{
    struct probe_spec own = c->spec;
    const struct probe_spec *spec = &own;
    const struct operation *o = own.method->operation;
    own.bins = own.stride =
        operation_asks(o, SETTING_BINS) || operation_asks(o, SETTING_ROWS) ||
        operation_asks(o, SETTING_RANKS); /* all elements go to one bin, row or element */
    size_t outputs = spec->method->operation->outputs(spec->n, spec->bins);
    struct asked a = {.of = c,
                      .begin_ns = clock_ns(),
                      .out = {spec->output, outputs, NULL},
                      .divisor = reveal_divisor(spec),
                      .index = output_of(c)};
    struct reveal_subject s = {.accumulator = spec->accumulator,
                               .output = spec->output,
                               .divisor = a.divisor,
                               .term = exact_facts[o->of].term,
                               .squares = reveal_adds_squares(own.method),
                               .root = exact_facts[o->of].form == FORM_ROOT,
                               .foreign = spec->method->foreign,
                               .device = spec->device.kind == DEVICE_CPU ? -1 : spec->device.index,
                               .evaluate = evaluate,
                               .progress = c->progress ? draw_progress : NULL,
                               .context = &a};
    *r = (struct reveal){0};
    enum status status = probe_open(&a.probe, spec, p);
    if (status == STATUS_OK) {
        a.out.data = malloc(array_bytes(spec->output, outputs));
        s.in = probe_input(a.probe);
        s.second = probe_second(a.probe);
        s.leaves = reveal_elements(c, &s.first);
        status = a.out.data
                     ? reveal_order(r, &s, seed, p)
                     : problem(p, STATUS_MEMORY, "reveal: out of memory for %zu outputs", outputs);
    }
    a.divisor = 0; /* masks alone need the sum; bits are those of the quotient */
    if (status == STATUS_OK && r->verdict == REVEAL_TREE && s.second.data)
        status = ask_products(r, &s, p);
    if (status == STATUS_OK)
        status = hold(r, &s, c, seed, p);
    if (a.drawn_ns)
        fprintf(stderr, "\r\033[K");
    free(a.out.data);
    probe_close(a.probe);
    return status;
}
