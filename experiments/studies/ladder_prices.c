#include "experiments/studies/ladder_prices.h"

#include <math.h>
#include <stdlib.h>

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
