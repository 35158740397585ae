/* run variance: does a method give the same bits again? */
#include <math.h>
#include <stdlib.h>

#include "experiments/sweep/breaks.h"
#include "experiments/cases/experiment.h"
#include "experiments/studies/says.h"
#include "experiments/studies/steady.h"
#include "reports/text/table.h"

static void case_row(struct table *table, const struct plan *plan, const struct study_case *t)
{
    char device[DEVICE_TEXT];
    const struct source *s = &plan->source[t->source];
    device_name(t->device, device);
    table_cell(table, "%s%s", t->method->name, breaks_mark(t));
    table_cell(table, "%s", plan->axes->devices > 1 ? device : ""); /* else the same in each row */
    table_cell(table, "%s/%s", format_facts[s->array.format].name,
               format_facts[t->accumulator].name);
    table_cell(table, "%s", s->name);
    table_cell(table, "%zu", s->array.n);
    table_count(table, t->shape.threads);
    table_count(table, t->shape.blocks);
    table_cell(table, "%llu/%llu", (unsigned long long)t->summary.distinct,
               (unsigned long long)t->summary.runs);
    table_figure(table, "%.3g", t->summary.mode_share);
    table_figure(table, "%.4g", t->summary.spread_ulp);
    table_figure(table, "%.2g", t->summary.vs_max);
    table_figure(table, "%.4g", t->summary.err_ulp_max);
}

/* What else there is to say of a case stands in summary.csv. */
static void header(struct table *table)
{
    static const char *const name[] = {"method", "device",     "formats", "input",
                                       "n",      "threads",    "blocks",  "distinct",
                                       "mode",   "spread_ulp", "vs_max",  "err_ulp_max"};
    table->align = "lLllrRRrRrRR";
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        table_cell(table, "%s", name[i]);
}

/* The case whose results lie furthest apart. */
static void widest_spread(struct text *to, const struct plan *plan)
{
    struct text line = {0};
    const struct study_case *widest = NULL;
    for (size_t i = 0; i < plan->case_count; i++) {
        const struct study_case *t = &plan->cases[i];
        struct figure spread = t->summary.spread_ulp;
        if (t->finished && t->supported && spread.known && isfinite(spread.value) &&
            spread.value > 0 && (!widest || spread.value > widest->summary.spread_ulp.value))
            widest = t;
    }
    if (!widest)
        return;
    text_add(&line, "widest spread: ");
    text_visible(&line, widest->method->name);
    text_format(&line, ", %llu results in %llu runs, up to ",
                (unsigned long long)widest->summary.distinct,
                (unsigned long long)widest->summary.runs);
    says_ulps(&line, widest->summary.spread_ulp.value);
    text_add(&line, " apart (");
    says_case(&line, plan, widest);
    text_add(&line, ")");
    says_line(to, &line);
}

static enum status draw(struct text *to, const struct plan *plan, const char *out,
                        struct problem *p)
{
    struct table table = {0};
    size_t rows = 0;
    (void)out, (void)p;
    says_repeats(to, plan);
    text_add(to, "\n");
    header(&table);
    for (size_t i = 0; i < plan->case_count; i++) {
        const struct study_case *t = &plan->cases[i];
        if (!t->finished || !t->supported || steady_left_out(plan, t->method))
            continue;
        case_row(&table, plan, t);
        rows++;
    }
    if (rows > 0)
        table_draw(to, &table);
    table_free(&table);
    if (rows > 0)
        text_add(to, "\n");
    widest_spread(to, plan);
    steady_lines(to, plan);
    return STATUS_OK;
}

const struct experiment experiment_variance = {
    .name = "variance",
    .summary = "how many different results many runs of the same sum give, and how far apart",
    .operation = {&operation_sum},
    .axes =
        {
            [DEVICE_CPU] = {.formats = "fp16/fp32,bf16/fp32,fp32/fp32,fp64/fp64",
                            .input = "uniform,cond",
                            .n = "2^16",
                            .runs = 100},
            [DEVICE_CUDA] =
                {.formats = FORMATS_USUAL, .input = "uniform,cond", .n = "2^16", .runs = 1000},
        },
    .table = draw,
};
