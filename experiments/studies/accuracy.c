/* run accuracy: how wrong is a sum? */
#include <math.h>

#include "experiments/studies/accuracy_cells.h"
#include "experiments/sweep/breaks.h"
#include "experiments/cases/experiment.h"

/* More format pairs than this are shown in a table for each storage format. */
enum { PAIRS_WIDE = 8 };

/* The pairs of one table: those of a storage format, or all. */
static void pairs_of(struct pairs *to, const struct pairs *all, enum format storage)
{
    to->count = 0;
    for (size_t i = 0; i < all->count; i++)
        if (storage == FORMATS || all->item[i].storage == storage)
            to->item[to->count++] = all->item[i];
}

void accuracy_pairs(struct pairs *pairs, const struct plan *plan)
{
    bool used[FORMATS][FORMATS] = {0};
    for (size_t i = 0; i < plan->case_count; i++)
        used[plan->source[plan->cases[i].source].array.format][plan->cases[i].accumulator] = true;
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

bool accuracy_seen_before(const struct plan *plan, size_t i)
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
        if (accuracy_seen_before(plan, i))
            continue;
        struct figure cond = plan->cases[s->first].cond_log2;
        table_cell(&table, "%s", s->name);
        table_cell(&table, "%zu", s->array.n);
        if (cond.known)
            table_cell(&table, isinf(cond.value) ? "inf" : "2^%.0f", cond.value);
        else
            table_cell(&table, "%s", "");
        for (size_t k = 0; k < pairs->count; k++)
            accuracy_digits(
                &table, &(struct accuracy_view){plan, pairs->item[k], s->name, s->array.n, NULL});
    }
    table_draw(to, &table);
    table_free(&table);
}

static bool has_cases(const struct plan *plan, const struct method *m, const struct pairs *pairs)
{
    for (size_t k = 0; k < pairs->count; k++)
        for (size_t i = 0; i < plan->case_count; i++)
            if (accuracy_sees(&(struct accuracy_view){plan, pairs->item[k], NULL, 0, m},
                              &plan->cases[i]))
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
        table_cell(&table, "%s%s", plan->axes->method[i]->name,
                   breaks_mark_method(plan, plan->axes->method[i]));
        for (size_t k = 0; k < pairs->count; k++)
            accuracy_backward(&table, &(struct accuracy_view){plan, pairs->item[k], NULL, 0,
                                                              plan->axes->method[i]});
    }
    table_draw(to, &table);
    table_free(&table);
}

void accuracy_by_method(struct text *to, const struct plan *plan)
{
    struct pairs all, some;
    accuracy_pairs(&all, plan);
    bool wide = all.count <= PAIRS_WIDE;
    for (enum format s = wide ? FORMATS : 0; s <= FORMATS; s++) {
        pairs_of(&some, &all, s);
        if (some.count > 0 && (wide || s < FORMATS)) {
            by_method(to, plan, &some);
            text_add(to, "\n");
        }
    }
}

enum status accuracy_table(struct text *to, const struct plan *plan, const char *out,
                           struct problem *p)
{
    (void)out, (void)p;
    struct pairs all, some;
    accuracy_pairs(&all, plan);
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
    accuracy_by_method(to, plan);
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
