#include "experiments/studies/ladder_prices.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "reference/base/grow.h"
#include "reports/csv/file.h"

/* --- Reading the files of a study of the ladder --- */

static enum status no_memory(struct problem *p)
{
    return problem(p, STATUS_MEMORY, "out of memory for the table");
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

enum status ladder_read(struct ladder *l, const struct plan *plan, const char *out,
                        struct problem *p)
{
    *l = (struct ladder){.plan = plan};
    enum status status = name_bases(l, p);
    if (status == STATUS_OK)
        status =
            csv_read_in(out, "results.csv", results_column, RESULTS_COLUMNS, take_result, l, p);
    if (status == STATUS_OK)
        status = csv_read_in(out, "times.csv", times_column, TIMES_COLUMNS, take_time, l, p);
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

bool ladder_shows(const struct ladder_view *v, const struct study_case *t)
{
    const struct array *a = &v->ladder->plan->source[t->source].array;
    return t->finished && t->supported && t->device.kind == v->device.kind &&
           t->device.index == v->device.index && a->format == v->storage &&
           t->accumulator == v->accumulator && a->n == v->n;
}

static bool is_data(const struct ladder *l, const char *input)
{
    for (size_t i = 0; i < l->plan->sources; i++)
        if (strcmp(l->base[i], input) == 0)
            return !l->plan->source[i].generated;
    return false;
}

/* Of raw reads that with the fewest threads. */
const struct ladder_time *ladder_time(const struct ladder_view *v, const struct method *m,
                                      const char *input)
{
    const struct ladder *l = v->ladder;
    const struct ladder_time *found = NULL;
    char device[DEVICE_TEXT];
    size_t n = is_data(l, input) ? v->n : l->plan->axes->timed;
    device_name(v->device, device);
    for (size_t i = 0; i < l->times; i++) {
        const struct ladder_time *t = &l->time[i];
        if (t->method == m && t->storage == v->storage &&
            (!m || t->accumulator == v->accumulator) && t->n == n &&
            strcmp(t->device, device) == 0 && strcmp(t->input, input) == 0 &&
            (!found || t->threads < found->threads))
            found = t;
    }
    return found;
}

struct figure ladder_error(const struct ladder_view *v, const struct method *m, const char *input)
{
    const struct ladder *l = v->ladder;
    struct figure most = {0};
    for (size_t i = 0; i < l->plan->case_count; i++) {
        const struct study_case *t = &l->plan->cases[i];
        struct figure error = t->summary.err_ulp_max;
        if (t->method != m || !ladder_shows(v, t) || strcmp(l->base[t->source], input) != 0 ||
            !error.known)
            continue;
        if (!most.known || figure_worse(error.value, most.value))
            most = error;
    }
    return most;
}

static int ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Does a case add up what the case `first` adds up: the same elements, in the same order or any? */
static bool alike(const struct ladder *l, const struct study_case *first,
                  const struct study_case *t, bool any_order)
{
    if (t->method != first->method || t->accumulator != first->accumulator || !t->finished)
        return false;
    return first->source == t->source ||
           (any_order &&
            source_reordered(&l->plan->source[first->source], &l->plan->source[t->source]));
}

/* The first of the results of a case, and behind them those of the next. */
static size_t bits_of(const struct ladder *l, size_t number)
{
    size_t low = 0, high = l->bits_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (l->bits[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Different results of all cases that are alike; `room` has as many entries as there are results.
 */
static uint64_t different(const struct ladder *l, const struct study_case *first, bool any_order,
                          uint64_t *room)
{
    size_t count = 0, kept = 0;
    for (size_t i = 0; i < l->plan->case_count; i++) {
        if (!alike(l, first, &l->plan->cases[i], any_order))
            continue;
        for (size_t k = bits_of(l, i); k < l->bits_count && l->bits[k].number == i; k++)
            room[count++] = l->bits[k].bits;
    }
    qsort(room, count, sizeof *room, ascending);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || room[i] != room[i - 1])
            kept++;
    return kept;
}

/* In how many settings what is alike was run: launch shapes and devices of one array, or orders of
 * its elements. */
static size_t settings(const struct ladder *l, const struct study_case *first, bool any_order)
{
    size_t count = 0, last = SIZE_MAX; /* cases of a source follow each other */
    for (size_t i = 0; i < l->plan->case_count; i++) {
        const struct study_case *t = &l->plan->cases[i];
        if (!alike(l, first, t, any_order))
            continue;
        count += !any_order || t->source != last;
        last = t->source;
    }
    return count;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

struct ladder_results ladder_results(const struct ladder_view *v, const struct method *m)
{
    const struct ladder *l = v->ladder;
    struct ladder_results most = {0};
    uint64_t *room = calloc(l->bits_count + 1, sizeof *room);
    for (size_t i = 0; room && i < l->plan->case_count; i++) {
        const struct study_case *t = &l->plan->cases[i];
        if (t->method != m || !ladder_shows(v, t))
            continue;
        most.runs = larger(most.runs, t->summary.distinct);
        most.launches = larger(most.launches, different(l, t, false, room));
        most.orders = larger(most.orders, different(l, t, true, room));
        most.launches_tried = larger(most.launches_tried, settings(l, t, false));
        most.orders_tried = larger(most.orders_tried, settings(l, t, true));
    }
    free(room);
    return most;
}

bool ladder_broken(const struct method *m, const struct ladder_results *r)
{
    return (m->promise >= PROMISE_RUN_TO_RUN && r->runs > 1) ||
           (m->promise >= PROMISE_GPU_TO_GPU && r->launches > 1) ||
           (m->promise >= PROMISE_ORDER_INVARIANT && r->orders > 1);
}
