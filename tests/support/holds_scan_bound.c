#include <stdlib.h>

#include "experiments/inputs/input.h"
#include "reference/measure/scan.h"
#include "tests/support/holds_scan.h"

enum { LONGEST = 5000, SHAPES = 2 };

struct heights {
    const struct method *method;
    size_t n;
    struct shape shape;
    bool exclusive;
};

static size_t height_of(const void *context, size_t i)
{
    const struct heights *h = context;
    return h->method->prefix_height(i, h->n, h->shape, h->exclusive);
}

/* Must every output be finite in any order? Where sum|x| and the bound together stay within range:
 * no partial sum exceeds them. */
static bool must_be_finite(const struct array *in, enum format f)
{
    struct reference r;
    struct theorem any = {.kind = THEOREM_ANY_ORDER};
    mpfr_t reach;
    if (reference_compute(&r, in, REFERENCE_FAST, NULL) != STATUS_OK)
        return false;
    mpfr_init2(reach, 2600);
    bool bounded = theorem_bound(reach, &any, &r, in->format, f);
    if (bounded)
        mpfr_add(reach, reach, r.sum_abs, MPFR_RNDU);
    bool finite = bounded && mpfr_cmp_d(reach, format_facts[f].largest) <= 0;
    mpfr_clear(reach);
    reference_free(&r);
    return finite;
}

/* The outputs of one scan, in every accumulator and with some launch shapes. */
struct outputs {
    size_t count;
    struct scan_case run[ACCUMULATORS * SHAPES];
    struct heights heights[ACCUMULATORS * SHAPES];
    struct scan_output output[ACCUMULATORS * SHAPES];
    struct scan_measure measure[ACCUMULATORS * SHAPES];
    double data[ACCUMULATORS * SHAPES][LONGEST];
};

static bool run_all(struct outputs *o, const struct method *m, struct scan_case c, char why[WHY])
{
    struct shape shape[SHAPES_TRIED];
    size_t n = c.in.n, shapes = shapes_tried(m, n, shape);
    o->count = 0;
    for (unsigned k = 0; k < ACCUMULATORS * SHAPES; k++) {
        c.accumulator = c.output = k / SHAPES;
        if (k % SHAPES >= shapes || !method_supports(m, DEVICE_CPU, c.in.format, c.accumulator))
            continue;
        size_t at = o->count++;
        c.shape = shape[k % SHAPES * (shapes - 1) / (SHAPES - 1)];
        if (scan_run(m, &c, o->data[at]) != STATUS_OK)
            return scan_failed(why, m, &c, "it could not be run");
        o->run[at] = c;
        o->heights[at] = (struct heights){m, n, c.shape, c.exclusive};
        o->output[at] = (struct scan_output){.out = {c.output, n, o->data[at]},
                                             .accumulator = c.accumulator,
                                             .bound = m->bound,
                                             .height = height_of,
                                             .context = &o->heights[at]};
    }
    return true;
}

static bool holds_scan(struct outputs *o, const struct method *m, const struct scan_case *c,
                       const char *input, char why[WHY])
{
    struct scan scan = {.in = c->in, .exclusive = c->exclusive, .heads = c->heads};
    if (!run_all(o, m, *c, why))
        return false;
    if (measure_scan(o->measure, o->output, o->count, &scan, 1, NULL) != STATUS_OK)
        return scan_failed(why, m, c, "%s: it could not be measured", input);
    for (size_t k = 0; k < o->count; k++) {
        const struct scan_measure *found = &o->measure[k];
        if (found->broken > 0)
            return scan_failed(why, m, &o->run[k], "%s: %zu outputs, first %zu, break their bound",
                               input, found->broken, found->first_broken);
        if (found->outcome != OUTCOME_OK && must_be_finite(&c->in, o->run[k].accumulator))
            return scan_failed(why, m, &o->run[k], "%s: %s, but no order overflows", input,
                               outcome_name[found->outcome]);
    }
    return true;
}

static bool holds_family(struct outputs *o, const struct method *m, size_t family, char why[WHY])
{
    static const size_t lengths[] = {1, 2, 100, 1000, LONGEST};
    static double data[LONGEST];
    static uint8_t heads[LONGEST];
    struct scan_variant variant[SCAN_VARIANTS];
    size_t variants = scan_variants(m, variant);
    for (enum arrangement how = 0; how < ARRANGEMENTS; how++)
        for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++)
            for (enum format s = 0; s < ACCUMULATORS; s++) {
                const struct scan_variant *v = &variant[(family + how + k + s) % variants];
                struct scan_case c = {.in = {s, lengths[k], data},
                                      .exclusive = v->exclusive,
                                      .heads = scan_heads(v, heads, lengths[k], family + k)};
                struct input input;
                char name[INPUT_TEXT];
                if (how != ARRANGED_AS_GENERATED &&
                    (lengths[k] != 1000 || (family + s) % ARRANGEMENTS != how))
                    continue;
                if (input_parse(&input, input_families[family]->name, NULL) != STATUS_OK)
                    return scan_failed(why, m, &c, "no input %s", input_families[family]->name);
                input.arrangement = how;
                input_name(&input, name);
                /* A family may not have a member of this size in this format. */
                if (input_generate(&input, &c.in, k + 1, 0, NULL) == STATUS_OK &&
                    !holds_scan(o, m, &c, name, why))
                    return false;
            }
    return true;
}

static bool holds_all_largest(struct outputs *o, const struct method *m, char why[WHY])
{
    static double data[LARGEST_LENGTH];
    for (enum format s = 0; s < ACCUMULATORS; s++)
        for (unsigned i = 0; i < LARGEST_ARRAYS; i++) {
            struct scan_case c = {.in = {s, 0, data}};
            make_largest(&c.in, i);
            if (!holds_scan(o, m, &c, "largest numbers", why))
                return false;
        }
    return true;
}

bool holds_scan_bound(const struct method *m, char why[WHY])
{
    struct outputs *o = malloc(sizeof *o);
    bool fine = o;
    not_held(why, m, FORMATS, FORMATS, 0, (struct shape){0, 0}, "memory ran out");
    for (size_t i = 0; fine && i < input_family_count; i++)
        fine = holds_family(o, m, i, why);
    fine = fine && holds_all_largest(o, m, why);
    free(o);
    return fine;
}
