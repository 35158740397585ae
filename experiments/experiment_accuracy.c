/* run accuracy: how wrong is a sum? */
#include <math.h>
#include <stdlib.h>

#include "experiments/experiment.h"
#include "reports/table.h"

/* More format pairs than this are shown in a table for each storage format. */
enum { PAIRS_WIDE = 8 };

/* What a cell is of: cases with these formats, and with this input and length or this method. */
struct view {
    const struct plan *plan;
    struct format_pair pair;
    const char *input; /* NULL: any */
    size_t n;
    const struct method *method; /* NULL: any */
};

static bool in_view(const struct view *v, const struct trial *t)
{
    const struct source *s = &v->plan->source[t->source];
    return t->finished && t->supported && s->array.format == v->pair.storage &&
           t->accumulator == v->pair.accumulator && (!v->method || t->method == v->method) &&
           (!v->input || (s->array.n == v->n && strcmp(s->name, v->input) == 0));
}

/* Correct decimal digits: inf where the result is exact, 0 where none is right, NaN for NaN. */
static double digits_of(const struct trial *t)
{
    struct figure error = t->err_rel_max;
    if (!error.known) /* the exact sum is 0 or not finite */
        return t->summary.err_ulp_max.known && t->summary.err_ulp_max.value == 0 ? INFINITY : 0;
    if (isnan(error.value))
        return NAN;
    return error.value >= 1 ? 0 : -log10(error.value);
}

static void digits_text(char text[16], double digits)
{
    if (isnan(digits))
        snprintf(text, 16, "nan");
    else
        snprintf(text, 16, isinf(digits) ? "exact" : "%.1f", digits);
}

static void digits_cell(struct table *table, const struct view *v)
{
    double worst = INFINITY, best = -1;
    char low[16], high[16];
    for (size_t i = 0; i < v->plan->trials; i++) {
        if (!in_view(v, &v->plan->trial[i]))
            continue;
        double digits = digits_of(&v->plan->trial[i]);
        worst = !(digits >= worst) && !isnan(worst) ? digits : worst;
        best = digits > best ? digits : best;
        best = best < 0 ? 0 : best;
    }
    digits_text(low, worst);
    digits_text(high, best);
    if (best < 0)
        table_cell(table, "%s", "");
    else if (strcmp(low, high) == 0)
        table_cell(table, "%s", low);
    else
        table_cell(table, "%s..%s", low, high);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    if (isnan(x) || isnan(y))
        return isnan(x) - isnan(y);
    return (x > y) - (x < y);
}

/* |error| / (u sum|x|), median and worst over the cases in view: it does not depend on how ill
 * the input is conditioned, and a perfect method has less than 1. */
static void backward_cell(struct table *table, const struct view *v)
{
    double *error = calloc(v->plan->trials, sizeof *error);
    size_t count = 0;
    for (size_t i = 0; error && i < v->plan->trials; i++) {
        const struct trial *t = &v->plan->trial[i];
        if (in_view(v, t) && t->err_backward_max.known)
            error[count++] =
                t->err_backward_max.value / format_facts[v->pair.accumulator].unit_roundoff;
    }
    if (count == 0) {
        table_cell(table, "%s", "");
    } else {
        qsort(error, count, sizeof *error, by_value);
        table_cell(table, "%.2g %.2g", error[(count - 1) / 2], error[count - 1]);
    }
    free(error);
}

/* The pairs of one table: those of a storage format, or all. */
static void pairs_of(struct pairs *to, const struct pairs *all, enum format storage)
{
    to->count = 0;
    for (size_t i = 0; i < all->count; i++)
        if (storage == FORMATS || all->item[i].storage == storage)
            to->item[to->count++] = all->item[i];
}

/* The formats in the plan: data may have others than the axes say. */
static void pairs_used(struct pairs *pairs, const struct plan *plan)
{
    bool used[FORMATS][FORMATS] = {0};
    for (size_t i = 0; i < plan->trials; i++)
        used[plan->source[plan->trial[i].source].array.format][plan->trial[i].accumulator] = true;
    pairs->count = 0;
    for (enum format s = 0; s < FORMATS; s++)
        for (enum format a = 0; a < FORMATS; a++)
            if (used[s][a])
                pairs->item[pairs->count++] = (struct format_pair){s, a};
}

static void header(struct table *table, const struct pairs *pairs, const char *const *name)
{
    for (; *name; name++)
        table_cell(table, "%s", *name);
    for (size_t i = 0; i < pairs->count; i++)
        table_cell(table, "%s/%s", format_facts[pairs->item[i].storage].name,
                   format_facts[pairs->item[i].accumulator].name);
}

/* Has an earlier source the same name and length? */
static bool seen_before(const struct plan *plan, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (plan->source[k].array.n == plan->source[i].array.n &&
            strcmp(plan->source[k].name, plan->source[i].name) == 0)
            return true;
    return false;
}

static void by_input(struct text *to, const struct plan *plan, const struct pairs *pairs)
{
    static const char *const name[] = {"input", "n", "cond", NULL};
    struct table table = {0};
    char align[3 + FORMATS * FORMATS + 1] = "lrr";
    memset(align + 3, 'r', pairs->count);
    table.align = align;
    header(&table, pairs, name);
    for (size_t i = 0; i < plan->sources; i++) {
        const struct source *s = &plan->source[i];
        if (seen_before(plan, i))
            continue;
        struct figure cond = plan->trial[s->first].cond_log2;
        table_cell(&table, "%s", s->name);
        table_cell(&table, "%zu", s->array.n);
        if (cond.known)
            table_cell(&table, isinf(cond.value) ? "inf" : "2^%.0f", cond.value);
        else
            table_cell(&table, "%s", "");
        for (size_t k = 0; k < pairs->count; k++)
            digits_cell(&table, &(struct view){plan, pairs->item[k], s->name, s->array.n, NULL});
    }
    table_draw(to, &table);
    table_free(&table);
}

static bool has_cases(const struct plan *plan, const struct method *m, const struct pairs *pairs)
{
    for (size_t k = 0; k < pairs->count; k++)
        for (size_t i = 0; i < plan->trials; i++)
            if (in_view(&(struct view){plan, pairs->item[k], NULL, 0, m}, &plan->trial[i]))
                return true;
    return false;
}

static void by_method(struct text *to, const struct plan *plan, const struct pairs *pairs)
{
    static const char *const name[] = {"method", NULL};
    struct table table = {0};
    char align[1 + FORMATS * FORMATS + 1] = "l";
    memset(align + 1, 'r', pairs->count);
    table.align = align;
    header(&table, pairs, name);
    for (size_t i = 0; i < plan->axes->methods; i++) {
        if (!has_cases(plan, plan->axes->method[i], pairs))
            continue;
        table_cell(&table, "%s", plan->axes->method[i]->name);
        for (size_t k = 0; k < pairs->count; k++)
            backward_cell(&table,
                          &(struct view){plan, pairs->item[k], NULL, 0, plan->axes->method[i]});
    }
    table_draw(to, &table);
    table_free(&table);
}

enum status accuracy_table(struct text *to, const struct plan *plan, const char *out,
                           struct problem *p)
{
    (void)out, (void)p;
    struct pairs all, some;
    pairs_used(&all, plan);
    bool wide = all.count <= PAIRS_WIDE;
    text_add(to, "Correct decimal digits, worst..best method, by storage/accumulator\n");
    for (enum format s = wide ? FORMATS : 0; s <= FORMATS; s++) {
        pairs_of(&some, &all, s);
        if (some.count > 0 && (wide || s < FORMATS)) {
            by_input(to, plan, &some);
            text_add(to, "\n");
        }
    }
    text_add(to,
             "|error| / (u sum|x|), u of the accumulator: median and worst over these inputs\n");
    for (enum format s = wide ? FORMATS : 0; s <= FORMATS; s++) {
        pairs_of(&some, &all, s);
        if (some.count > 0 && (wide || s < FORMATS)) {
            by_method(to, plan, &some);
            text_add(to, "\n");
        }
    }
    return STATUS_OK;
}

const struct experiment experiment_accuracy = {
    .name = "accuracy",
    .summary = "how wrong a sum is: error over method, formats, input, n and condition number",
    .operation = {&operation_sum},
    .axes =
        {
            [DEVICE_CPU] = {.formats = "fp16/fp16,fp16/fp32,bf16/bf16,bf16/fp32,fp32/fp32,"
                                       "fp32/fp64,fp64/fp64",
                            .input = "uniform,symmetric,cancellation,cond,anderson,stagnation,"
                                     "lognormal,harmonic,sine",
                            .n = "1000,2^18",
                            .runs = 1},
            [DEVICE_CUDA] = {.formats = "all",
                             .input = "uniform,symmetric,cancellation,cond,anderson,stagnation,"
                                      "lognormal,harmonic,sine",
                             .n = "1000,2^18",
                             .runs = 1},
        },
    .table = accuracy_table,
};
