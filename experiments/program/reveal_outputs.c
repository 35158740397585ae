#include "experiments/program/reveal_outputs.h"

#include <stdio.h>

#include "experiments/operations/operation.h"
#include "experiments/program/reveal_product.h"
#include "experiments/reveal/outputs.h"
#include "reports/text/text.h"

static enum status check(const struct arguments *a, const struct reveal_case *c, uint64_t ranks,
                         struct problem *p)
{
    const struct probe_spec *s = &c->spec;
    if (!operation_asks(s->method->operation, SETTING_RANKS))
        return problem(p, STATUS_USAGE,
                       "option --ranks: found %s, whose operation is %s: expected an all-reduce or "
                       "a reduce-scatter",
                       s->method->name, s->method->operation->name);
    if (s->n % ranks != 0)
        return problem(p, STATUS_USAGE,
                       "option --ranks: found %llu with n = %zu, expected a divisor of n",
                       (unsigned long long)ranks, s->n);
    if (argument_flag(a, "dot"))
        return problem(p, STATUS_USAGE,
                       "option --dot: found --ranks with it, whose elements may have orders of "
                       "their own: expected --n alone, the ranks of one element");
    return STATUS_OK;
}

static enum status print_beside(const struct reveal_outputs r[2], bool json, struct problem *p)
{
    struct reveal_outputs_beside b;
    reveal_outputs_compare(&b, &r[0], &r[1]);
    const char *name[2] = {r[0].of.method->name, r[1].of.method->name};
    enum status status = STATUS_OK;
    if (json) {
        status = reveal_print_json(
            json_pack("{so so sI sI sI so}", "method", reveal_outputs_json(&r[0]), "against",
                      reveal_outputs_json(&r[1]), "equal", (json_int_t)b.equal, "different",
                      (json_int_t)b.different, "not_shown", (json_int_t)b.not_shown,
                      "first_different",
                      b.different ? json_integer((json_int_t)b.first) : json_null()),
            p);
    } else {
        status = reveal_outputs_print(&r[0], p);
        printf("\n");
        if (status == STATUS_OK)
            status = reveal_outputs_print(&r[1], p);
        printf("\n%s and %s:", name[0], name[1]);
        if (b.different == 0 && b.not_shown == 0)
            printf(" one order for each of %zu element%s\n", b.equal, text_s(b.equal));
        else
            printf(
                "\n  elements of one order: %zu; of different orders: %zu; where none shows: %zu\n",
                b.equal, b.different, b.not_shown);
    }
    if (status == STATUS_OK && b.different > 0)
        status = problem(p, STATUS_FAILED,
                         "reveal: %s and %s: different orders of %zu of %zu elements, the first is "
                         "element %zu",
                         name[0], name[1], b.different, r[0].outputs, b.first);
    else if (status == STATUS_OK && b.not_shown > 0)
        status = problem(p, STATUS_FAILED, "reveal: %s and %s: not compared in %zu of %zu elements",
                         name[0], name[1], b.not_shown, r[0].outputs);
    return status;
}

enum status reveal_all_outputs(const struct arguments *a, const struct reveal_case *c, size_t cases,
                               uint64_t ranks, struct problem *p)
{
    struct reveal_outputs r[2] = {0};
    enum status status = STATUS_OK;
    for (size_t i = 0; i < cases && status == STATUS_OK; i++)
        status = check(a, &c[i], ranks, p);
    for (size_t i = 0; i < cases && status == STATUS_OK; i++) {
        struct probe_spec spec = c[i].spec;
        spec.bins = spec.stride = spec.n / ranks;
        status = reveal_outputs_make(&r[i], &spec, 0, c[i].progress, p);
    }
    if (status == STATUS_OK && cases == 2)
        status = print_beside(r, argument_flag(a, "json"), p);
    else if (status == STATUS_OK && argument_flag(a, "json"))
        status = reveal_print_json(reveal_outputs_json(&r[0]), p);
    else if (status == STATUS_OK)
        status = reveal_outputs_print(&r[0], p);
    for (size_t i = 0; i < cases && status == STATUS_OK; i++)
        status = reveal_outputs_status(&r[i], p);
    for (size_t i = 0; i < cases; i++)
        reveal_outputs_free(&r[i]);
    return status;
}
