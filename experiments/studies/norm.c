/* run norm: how wrong are norms, sums of magnitudes, means and variances? */
#include <math.h>

#include "experiments/studies/accuracy_cells.h"
#include "experiments/cases/experiment.h"
#include "experiments/studies/says.h"

/* wide and subnormal have squares beyond the range of every format, and of a mean of 1000 the
 * variance is less than the millionth part of the mean of squares. */
#define INPUTS "uniform,normal,normal:mean=1000,lognormal:sigma=4,wide,subnormal"

/* Of the first case with this operation. */
static struct figure condition(const struct plan *plan, const struct operation *o, size_t source)
{
    for (size_t i = 0; i < plan->case_count; i++)
        if (plan->cases[i].source == source && plan->cases[i].method->operation == o)
            return plan->cases[i].cond_log2;
    return (struct figure){0};
}

static void input_row(struct table *table, const struct plan *plan, const struct operation *o,
                      size_t source)
{
    const struct source *s = &plan->source[source];
    struct figure cond = condition(plan, o, source);
    table_cell(table, "%s", s->name);
    table_cell(table, "%zu", s->array.n);
    if (cond.known)
        table_cell(table, isinf(cond.value) ? "inf" : "2^%.0f", cond.value);
    else
        table_cell(table, "%s", "");
    for (size_t i = 0; i < plan->axes->methods; i++)
        if (plan->axes->method[i]->operation == o)
            accuracy_digits(
                table, &(struct accuracy_view){
                           plan, {FORMATS, FORMATS}, s->name, s->array.n, plan->axes->method[i]});
}

/* A row for each input and length, a column for each method of one operation; nothing where there
 * is none. */
static void by_input(struct text *to, const struct plan *plan, const struct operation *o)
{
    enum { MOST = 32 };
    struct table table = {0};
    char align[3 + MOST + 1] = "lrr";
    size_t methods = 0;
    table_cell(&table, "%s", o->name);
    table_cell(&table, "%s", "n");
    table_cell(&table, "%s", "cond");
    for (size_t i = 0; i < plan->axes->methods; i++) {
        const struct method *m = plan->axes->method[i];
        if (m->operation != o || methods == MOST)
            continue;
        align[3 + methods++] = 'R';
        /* The first cell of the row has the operation already. */
        const char *slash = strchr(m->name, '/');
        bool own = slash && strncmp(m->name, o->name, (size_t)(slash - m->name)) == 0;
        table_cell(&table, "%s", own ? slash + 1 : m->name);
    }
    align[3 + methods] = '\0';
    table.align = align;
    for (size_t i = 0; methods > 0 && i < plan->sources; i++)
        if (!accuracy_seen_before(plan, i))
            input_row(&table, plan, o, i);
    if (methods > 0) {
        table_draw(to, &table);
        text_add(to, "\n");
    }
    table_free(&table);
}

static enum status norm_table(struct text *to, const struct plan *plan, const char *out,
                              struct problem *p)
{
    (void)out, (void)p;
    says_errors(to, plan);
    text_add(to, "\nCorrect decimal digits, worst..best of these formats, by method\n");
    for (const struct operation *const *o = operations; *o; o++)
        by_input(to, plan, *o);
    says_legend(to,
                "|error| / (u A), u of the accumulator: median and worst over these inputs; A = "
                "norm, sum|x|, sum|x| / n, sum x^2 / n");
    accuracy_by_method(to, plan);
    return STATUS_OK;
}

const struct experiment experiment_norm = {
    .name = "norm",
    .summary =
        "how wrong norms, sums of magnitudes, means and variances are: error over method, formats, "
        "input and n",
    .operation = {&operation_norm, &operation_asum, &operation_mean, &operation_variance},
    .axes =
        {
            [DEVICE_CPU] = {.formats = FORMATS_USUAL, .input = INPUTS, .n = "1000,2^18", .runs = 1},
            [DEVICE_CUDA] = {.formats = "all", .input = INPUTS, .n = "1000,2^18", .runs = 1},
        },
    .table = norm_table,
};
