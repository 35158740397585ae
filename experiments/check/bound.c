/* Results against the bound of their theorem. */
#include <stdlib.h>

#include "experiments/check/attempts.h"
#include "experiments/runs/bound.h"
#include "experiments/system/machine.h"
#include "reference/measure/scan.h"

static struct theorem theorem_of(const struct check *c)
{
    const struct method *m = c->request->method;
    struct shape shape = check_shape_made(c->request, c->at.n, c->at.shape);
    struct theorem t =
        method_theorem(m, c->request->device.kind, c->at.pair.accumulator, c->at.n, shape);
    if (c->at.setting.product != PRODUCT_NONE) /* else the method's own way */
        t.product = c->at.setting.product;
    return t;
}

static enum status hold_one(const struct check *c, double result, bool *exceeds, struct problem *p)
{
    struct reference r;
    struct measure m;
    const struct theorem theorem = theorem_of(c);
    const struct operation *o = c->request->method->operation;
    struct array x = check_array(&c->in, c->at.n, 0), y = check_array(&c->in, c->at.n, 1);
    enum status status = reference_compute_of(
        &r, o->of, &x, operation_has(o, OPERAND_IN2) ? &y : NULL, REFERENCE_FAST, p);
    if (status != STATUS_OK)
        return status;
    measure_output(&m, &r, c->at.pair.storage, c->at.pair.accumulator, c->at.setting.output, result,
                   &theorem);
    *exceeds = bound_breaks(c->request->method, &m, result);
    reference_free(&r);
    return STATUS_OK;
}

/* What the outputs are measured against, made of the case at hand. */
struct held {
    struct by_bin by_bin;
    struct row_values values;
    struct matrices_packed packed;
    struct scan scan;
};

static enum status make_held(struct held *h, const struct check *c, struct problem *p)
{
    struct matrices matrices;
    const struct operation *o = c->request->method->operation;
    h->scan = (struct scan){.in = check_array(&c->in, c->at.n, 0),
                            .exclusive = c->at.setting.exclusive,
                            .heads = c->made.of.heads};
    if (setting_matrices(&matrices, o, &c->made.of)) {
        h->scan.matrices = &h->packed;
        return matrices_pack(&h->packed, &matrices, p);
    }
    if (!c->place)
        return STATUS_OK;
    h->scan.by_bin = &h->by_bin;
    enum status status = by_bin_make(&h->by_bin, c->place, c->at.n, c->at.setting.bins + 1, p);
    h->by_bin.bins = c->at.setting.bins; /* behind them is the place of what goes nowhere */
    if (status == STATUS_OK && operation_of_rows(o))
        status = row_values_make(&h->values, o->of, operation_of_each(o), &h->scan.in, &h->by_bin,
                                 c->place, machine_processors(), p);
    h->scan.values = h->values.value ? &h->values : NULL;
    return status;
}

static enum status hold_all(const struct check *c, const struct array *out, bool *exceeds,
                            struct problem *p)
{
    const struct method *m = c->request->method;
    const struct theorem theorem = theorem_of(c);
    struct held held = {0};
    struct scan_measure *is = calloc(1, sizeof *is);
    struct scan_output output = {.out = *out,
                                 .accumulator = c->at.pair.accumulator,
                                 .bound = method_bound(m, &c->made.of),
                                 .folds = m->folds,
                                 .product = theorem.product,
                                 .flushes = theorem.flushing > 0};
    enum status status =
        is ? make_held(&held, c, p) : problem(p, STATUS_MEMORY, "check: out of memory for errors");
    if (status == STATUS_OK)
        status = held.scan.by_bin || held.scan.matrices
                     ? measure_scatter(is, &output, 1, &held.scan, machine_processors(), p)
                     : measure_scan(is, &output, 1, &held.scan, machine_processors(), p);
    *exceeds = status == STATUS_OK && bound_breaks_in(m, is);
    row_values_free(&held.values);
    by_bin_free(&held.by_bin);
    matrices_free(&held.packed);
    free(is);
    return status;
}

/* Of arrays whose bound depends on a tree, or on a model, studies know the heights. */
enum status check_exceeds(const struct check *c, const struct array *out, bool *exceeds,
                          struct problem *p)
{
    const enum theorem_kind bound = method_bound(c->request->method, &c->made.of);
    *exceeds = false;
    if (!operation_makes_array(c->request->method->operation))
        return hold_one(c, array_get(out, 0), exceeds, p);
    if (bound == THEOREM_NONE || bound == THEOREM_BLOCKS || theorem_has_height(bound))
        return STATUS_OK;
    return hold_all(c, out, exceeds, p);
}
