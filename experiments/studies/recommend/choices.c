/* What candidates are called, and how their choices are told: the chip, the interval of promotion.
 */
#include "experiments/cases/added_in.h"
#include "experiments/studies/recommend/candidates.h"
#include "kernels/mma/mma.h"
#include "reports/text/against.h"

/* "h100/128": the chip and the interval. */
static void add_model(struct text *to, const struct recommend_candidate *c, const char *before)
{
    if (c->setting.chip)
        text_format(to, "%s%s", before, c->setting.chip);
    if (c->setting.promote)
        text_format(to, "/%zu", c->setting.promote);
}

void recommend_cell(struct text *to, const struct recommend_candidate *c)
{
    text_add(to, c->method->name);
    add_model(to, c, " ");
}

void recommend_label(struct text *to, const struct recommend_candidate *c)
{
    text_format(to, "%s, ", c->method->name);
    if (c->setting.chip)
        text_format(to, "%s, ", c->setting.chip);
    if (c->setting.promote)
        text_format(to, "promoted every %zu products, ", c->setting.promote);
    added_in_words(to, c->method, c->accumulator, c->accumulator);
}

size_t recommend_slices(const struct recommend_report *r, const struct recommend_candidate *c)
{
    return method_shape(c->method, r->device.kind, r->source->array.n, c->asked).blocks;
}

void recommend_say_place(struct text *to, const struct recommend_place *at)
{
    if (at->sides == 2)
        text_format(to, "element (%zu,%zu) is ", at->row, at->column);
    else if (at->sides == 1)
        text_format(to, "row %zu is ", at->row);
}

static const struct mma_instruction *instruction_of(const struct recommend_report *r,
                                                    const struct recommend_candidate *c)
{
    const struct mma_instruction *found = NULL;
    enum mma_element element = mma_element_of(r->source->array.format);
    if (!c->method->promotes)
        return mma_find(c->setting.chip, (enum mma_unit)c->method->unit, element, c->accumulator);
    for (enum mma_unit unit = MMA_UNITS; !found && unit-- > 0;)
        found = mma_find(c->setting.chip, unit, element, c->accumulator);
    return found;
}

void recommend_held(struct text *to, const struct recommend_report *r,
                    const struct recommend_candidate *c)
{
    const struct mma_instruction *i = c->method->of_chip ? instruction_of(r, c) : NULL;
    if (!i)
        return;
    text_format(to, "  its instruction, %s of %s: ", mma_units[i->unit], i->chip);
    if (i->held > 0)
        text_format(to, "the model was held to %.2g results of that chip, all equal\n",
                    (double)i->held);
    else
        text_add(to, "the model is published, and was not held to that chip\n");
}

const char *recommend_costs(const struct recommend_report *r)
{
    bool timed = r->device.kind != DEVICE_CPU || !recommend_use_of(r)->stands_in;
    return timed ? NULL : operation_costs(experiment_only(recommend_use_of(r)->experiment));
}

/* The longest interval that holds, of this method and accumulator, and the next longer one. */
static void add_intervals(struct text *to, const struct recommend_report *r,
                          const struct recommend_candidate *first)
{
    const struct recommend_candidate *holds = NULL, *breaks = NULL;
    for (size_t i = 0; i < r->count; i++) {
        const struct recommend_candidate *c = &r->candidate[i];
        if (c->method != first->method || c->accumulator != first->accumulator || holds)
            continue;
        *(recommend_refused(c) ? &breaks : &holds) = c;
    }
    text_format(to, "promotion on %s, to %s: ", first->setting.chip,
                format_facts[first->accumulator].name);
    if (holds)
        text_format(to, "every %zu products holds on %zu array%s, error at most %s\n",
                    holds->setting.promote, holds->tried, holds->tried == 1 ? "" : "s",
                    text_against(holds->most, r->request.tolerance.limit, 3).value);
    else
        text_format(to, "not even every %zu products holds\n", breaks->setting.promote);
    if (!breaks || !breaks->broken)
        return;
    struct text line = {0};
    text_format(&line, "  every %zu: error %s on %s, where ", breaks->setting.promote,
                text_against(breaks->broke.error, r->request.tolerance.limit, 3).value,
                breaks->broke.input);
    recommend_say_place(&line, &breaks->broke.place);
    text_format(&line, "%.9g, exactly %.9g", breaks->broke.result, breaks->broke.exact);
    text_wrapped(to, &line, TABLE_COLUMNS, 4);
}

/* What slices of k are added in: the narrowest format that holds, and the next narrower one. */
static void add_slices(struct text *to, const struct recommend_report *r,
                       const struct recommend_candidate *first)
{
    const struct recommend_candidate *holds = NULL, *breaks = NULL;
    for (size_t i = 0; i < r->count; i++) {
        const struct recommend_candidate *c = &r->candidate[i];
        if (c->method != first->method || holds)
            continue;
        *(recommend_refused(c) ? &breaks : &holds) = c;
    }
    text_format(to, "split-K (%s) of %zu slices: ", first->method->name,
                recommend_slices(r, first));
    if (holds)
        text_format(to, "sums and partial sums in %s hold on %zu array%s, error at most %s\n",
                    format_facts[holds->accumulator].name, holds->tried,
                    holds->tried == 1 ? "" : "s",
                    text_against(holds->most, r->request.tolerance.limit, 3).value);
    else
        text_format(to, "not even sums in %s hold\n", format_facts[breaks->accumulator].name);
    if (!breaks || !breaks->broken)
        return;
    struct text line = {0};
    text_format(&line, "  in %s: error %s on %s, where ", format_facts[breaks->accumulator].name,
                text_against(breaks->broke.error, r->request.tolerance.limit, 3).value,
                breaks->broke.input);
    recommend_say_place(&line, &breaks->broke.place);
    text_format(&line, "%.9g, exactly %.9g", breaks->broke.result, breaks->broke.exact);
    text_wrapped(to, &line, TABLE_COLUMNS, 4);
}

void recommend_choices(struct text *to, const struct recommend_report *r)
{
    for (size_t i = 0; i < r->count; i++) {
        const struct recommend_candidate *c = &r->candidate[i];
        bool sliced = recommend_use_of(r)->stands_in && c->method->shape_order & SHAPE_BLOCKS;
        bool again = false;
        for (size_t k = 0; k < i; k++)
            again |= r->candidate[k].method == c->method &&
                     (sliced || r->candidate[k].accumulator == c->accumulator);
        if (c->setting.promote > 0 && !again)
            add_intervals(to, r, c);
        else if (sliced && !again)
            add_slices(to, r, c);
    }
}
