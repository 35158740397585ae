/* run extrema: what do products, minima, maxima and their indices come to? */
#include <math.h>

#include "experiments/studies/accuracy_cells.h"
#include "experiments/cases/experiment.h"
#include "experiments/studies/says.h"

/* The cases of one cell: an operation on an input of some length, in one pair of formats. */
struct cell {
    const struct operation *operation;
    const char *input;
    size_t n;
    struct format_pair pair;
};

static bool is_in(const struct cell *c, const struct plan *plan, const struct study_case *t)
{
    const struct source *s = &plan->source[t->source];
    return t->finished && t->supported && t->method->operation == c->operation &&
           s->array.n == c->n && strcmp(s->name, c->input) == 0 &&
           s->array.format == c->pair.storage && t->accumulator == c->pair.accumulator;
}

/* The result or, where methods or runs differ, the smallest and the largest. Returns whether there
 * is one. */
static bool result_text(char text[64], const struct cell *c, const struct plan *plan)
{
    double low = INFINITY, high = -INFINITY;
    bool known = false, nan = false;
    *text = 0;
    for (size_t i = 0; i < plan->case_count; i++) {
        const struct summary *s = &plan->cases[i].summary;
        if (!is_in(c, plan, &plan->cases[i]) || !s->min.known)
            continue;
        known = true;
        nan |= isnan(s->min.value);
        low = s->min.value < low ? s->min.value : low;
        high = s->max.value > high ? s->max.value : high;
    }
    char least[32];
    snprintf(least, sizeof least, "%.6g", low);
    snprintf(text, 64, "%.6g", high);
    if (nan)
        strcpy(text, low <= high ? "differs, nan" : "nan");
    else if (known && strcmp(least, text) != 0)
        snprintf(text, 64, "%s..%.6g", least, high);
    return known;
}

static void result_row(struct table *table, const struct plan *plan, struct cell c,
                       const struct pairs *pairs)
{
    char text[FORMATS * FORMATS][64];
    bool any = false;
    for (size_t k = 0; k < pairs->count; k++) {
        c.pair = pairs->item[k];
        if (!result_text(text[k], &c, plan))
            *text[k] = 0;
        any |= *text[k] != 0;
    }
    if (!any)
        return;
    table_cell(table, "%s", c.operation->name);
    table_cell(table, "%s", c.input);
    table_cell(table, "%zu", c.n);
    for (size_t k = 0; k < pairs->count; k++)
        table_cell(table, "%s", text[k]);
}

static void results(struct text *to, const struct plan *plan, const struct pairs *pairs)
{
    struct table table = {0};
    char align[3 + FORMATS * FORMATS + 1] = "llr";
    memset(align + 3, 'R', pairs->count);
    table.align = align;
    table_cell(&table, "operation");
    table_cell(&table, "input");
    table_cell(&table, "n");
    for (size_t i = 0; i < pairs->count; i++)
        table_cell(&table, "%s/%s", format_facts[pairs->item[i].storage].name,
                   format_facts[pairs->item[i].accumulator].name);
    for (size_t o = 0; operations[o]; o++)
        for (size_t i = 0; i < plan->sources; i++) {
            const struct source *s = &plan->source[i];
            if (!accuracy_seen_before(plan, i))
                result_row(&table, plan, (struct cell){operations[o], s->name, s->array.n, {0, 0}},
                           pairs);
        }
    table_draw(to, &table);
    table_free(&table);
}

static enum status extrema_table(struct text *to, const struct plan *plan, const char *out,
                                 struct problem *p)
{
    (void)out, (void)p;
    struct pairs pairs;
    accuracy_pairs(&pairs, plan);
    says_errors(to, plan);
    text_add(to, "\nResults, by storage/accumulator; smallest..largest where methods differ\n");
    results(to, plan, &pairs);
    text_add(to, "\n");
    text_add(to,
             "|error| / (u |exact|), u of the accumulator: median and worst over these inputs\n");
    accuracy_by_method(to, plan);
    return STATUS_OK;
}

#define INPUTS "uniform,reciprocal,lognormal:sigma=4,cycle,signed_zeros,nans,infs"

const struct experiment experiment_extrema = {
    .name = "extrema",
    .summary = "what products, minima, maxima and their indices come to, and how wrong they are",
    .operation = {&operation_product, &operation_minimum, &operation_maximum,
                  &operation_minimum_number, &operation_maximum_number, &operation_argmin,
                  &operation_argmax},
    .axes =
        {
            [DEVICE_CPU] = {.formats = "fp16/fp16,fp16/fp64,bf16/bf16,bf16/fp64,fp32/fp32,"
                                       "fp32/fp64,fp64/fp32,fp64/fp64",
                            .input = INPUTS,
                            .n = "1000",
                            .runs = 1},
            [DEVICE_CUDA] = {.formats = "all", .input = INPUTS, .n = "1000,2^18", .runs = 1},
        },
    .table = extrema_table,
};
