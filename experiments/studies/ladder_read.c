/* Reading the files of a study of the ladder. */
#include <stdio.h>
#include <stdlib.h>

#include "reference/base/grow.h"
#include "experiments/studies/ladder_prices.h"
#include "reports/csv/file.h"

static enum status no_memory(struct problem *p)
{
    return problem(p, STATUS_DEVICE, "out of memory for the table");
}

static enum status read_figures(struct ladder_time *t, const struct csv_row *row, struct problem *p)
{
    const struct {
        size_t column;
        struct figure *figure;
    } part[] = {{TIMES_TIME, &t->time_us},
                {TIMES_RATE, &t->gb_per_s},
                {TIMES_OF_RAW, &t->of_raw},
                {TIMES_MEMORY, &t->memory}};
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < sizeof part / sizeof *part; i++)
        status =
            csv_figure(row, part[i].column, times_column(part[i].column)->name, part[i].figure, p);
    return status;
}

/* That of the plan or of the registry; NULL: a yardstick. */
static const struct method *method_of(const struct ladder *l, const char *name)
{
    for (size_t i = 0; i < l->plan->case_count; i++)
        if (strcmp(l->plan->cases[i].method->name, name) == 0)
            return l->plan->cases[i].method;
    return method_named(name);
}

static enum status take_time(void *context, const struct csv_row *row, struct problem *p)
{
    struct ladder *l = context;
    struct ladder_time t = {.method = method_of(l, row->field[TIMES_METHOD]),
                            .storage = format_named(row->field[TIMES_STORAGE]),
                            .accumulator = format_named(row->field[TIMES_ACCUMULATOR]),
                            .n = strtoull(row->field[TIMES_N], NULL, 10),
                            .threads = (unsigned)strtoul(row->field[TIMES_THREADS], NULL, 10),
                            .in_cache = *row->field[TIMES_IN_CACHE]};
    snprintf(t.device, sizeof t.device, "%s", row->field[TIMES_DEVICE]);
    snprintf(t.note, sizeof t.note, "%.*s", (int)strcspn(row->field[TIMES_NOTE], ":"),
             row->field[TIMES_NOTE]);
    enum status status = read_figures(&t, row, p);
    if (status != STATUS_OK)
        return status;
    if (!grow(&l->time, l->times, sizeof *l->time) || !(t.input = strdup(row->field[TIMES_INPUT])))
        return no_memory(p);
    l->time[l->times++] = t;
    return STATUS_OK;
}

static enum status take_result(void *context, const struct csv_row *row, struct problem *p)
{
    struct ladder *l = context;
    uint64_t bits;
    const struct study_case *t =
        plan_find(l->plan, strtoull(row->field[RESULTS_CASE_ID], NULL, 16));
    if (!t || !*row->field[RESULTS_RESULT_BITS])
        return STATUS_OK;
    enum status status = csv_whole(row, RESULTS_RESULT_BITS, "result_bits", &bits, p);
    if (status != STATUS_OK)
        return status;
    if (!grow(&l->bits, l->bits_count, sizeof *l->bits))
        return no_memory(p);
    l->bits[l->bits_count++] = (struct ladder_bits){(size_t)(t - l->plan->cases), bits};
    return STATUS_OK;
}

static int by_trial(const void *a, const void *b)
{
    const struct ladder_bits *x = a, *y = b;
    return x->number != y->number ? (x->number > y->number) - (x->number < y->number)
                                  : (x->bits > y->bits) - (x->bits < y->bits);
}

static void keep_different(struct ladder *l)
{
    size_t kept = 0;
    if (l->bits_count > 0)
        qsort(l->bits, l->bits_count, sizeof *l->bits, by_trial);
    for (size_t i = 0; i < l->bits_count; i++)
        if (kept == 0 || by_trial(&l->bits[kept - 1], &l->bits[i]) != 0)
            l->bits[kept++] = l->bits[i];
    l->bits_count = kept;
}

static enum status name_bases(struct ladder *l, struct problem *p)
{
    l->base = calloc(l->plan->sources + 1, sizeof *l->base);
    for (size_t i = 0; l->base && i < l->plan->sources; i++) {
        enum status status = source_base(&l->base[i], &l->plan->source[i], p);
        if (status != STATUS_OK)
            return status;
    }
    return l->base ? STATUS_OK : no_memory(p);
}

static enum status read_file(struct ladder *l, const char *out, const char *name,
                             const struct column *(*column)(size_t), size_t columns, csv_take take,
                             struct problem *p)
{
    char *path;
    uint64_t whole;
    if (asprintf(&path, "%s/%s", out, name) < 0)
        return no_memory(p);
    enum status status = csv_read(path, column, columns, take, l, &whole, p);
    free(path);
    return status;
}

enum status ladder_read(struct ladder *l, const struct plan *plan, const char *out,
                        struct problem *p)
{
    *l = (struct ladder){.plan = plan};
    enum status status = name_bases(l, p);
    if (status == STATUS_OK)
        status = read_file(l, out, "results.csv", results_column, RESULTS_COLUMNS, take_result, p);
    if (status == STATUS_OK)
        status = read_file(l, out, "times.csv", times_column, TIMES_COLUMNS, take_time, p);
    keep_different(l);
    return status;
}

void ladder_free(struct ladder *l)
{
    for (size_t i = 0; l->base && i < l->plan->sources; i++)
        free(l->base[i]);
    for (size_t i = 0; i < l->times; i++)
        free(l->time[i].input);
    free(l->base);
    free(l->time);
    free(l->bits);
    *l = (struct ladder){0};
}
