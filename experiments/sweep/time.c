/* Timing the methods of a study. */
#include <stdio.h>

#include "experiments/bench/report.h"
#include "experiments/system/clock.h"
#include "experiments/sweep/engine.h"
#include "experiments/sweep/times.h"

struct timer {
    struct sweep *w;
    struct csv_file file;
    const struct times_group *group; /* the one in progress */
    struct bench_input input;
    size_t round;
    uint64_t shown_ns;
};

static void show(void *context, const struct bench_row *row)
{
    struct timer *t = context;
    char device[DEVICE_TEXT];
    if (!t->w->options->progress || clock_ns() - t->shown_ns < 100000000)
        return;
    t->shown_ns = clock_ns();
    device_name(t->input.device, device);
    fprintf(stderr, "\r\033[Ktimes: %s, %s %s, n = %zu: %s", device, t->input.name,
            format_facts[t->input.array.format].name, t->input.array.n, bench_name(row));
}

static void note(struct timer *t, const char *name, const struct problem *why)
{
    char line[1400];
    const struct source *s = &t->group->source;
    snprintf(line, sizeof line, "timing %s on %s, n = %zu, %s: %s", name, s->name, s->array.n,
             format_facts[s->array.format].name, why->text);
    if (t->w->outcome->untimed++ == 0)
        t->w->outcome->untimed_status = why->status;
    if (t->w->options->progress)
        fprintf(stderr, "\r\033[K");
    if (t->w->options->note)
        t->w->options->note(t->w->options->context, line);
}

static enum status take(void *context, const struct bench_row *row, struct problem *p)
{
    struct timer *t = context;
    char id[CASE_ID_TEXT] = "";
    struct problem why = {0};
    if (row->method)
        case_id_text(id, times_id(t->group, row));
    if (row->status != STATUS_OK) {
        problem(&why, row->status, "%s", row->note);
        note(t, bench_name(row), &why);
    }
    bench_report_row(&t->file.pending, &t->input, row, id);
    (void)p;
    return STATUS_OK;
}

/* All rows of a group are written together. */
static enum status time_group(struct timer *t, struct times_group *g, struct problem *p)
{
    const struct bench_listener listener = {
        .take = take, .show = show, .context = t, .stop = t->w->options->stop};
    struct problem why = {0};
    t->group = g;
    enum status status = source_load(&g->source, &why);
    if (status == STATUS_OK)
        status = bench_input_borrow(&t->input, g->device, g->source.name, &g->source.array, &why);
    if (status == STATUS_OK)
        status = bench_measure(&t->input, g->plan.row, g->plan.count, TIMING_REPEATS, &t->round,
                               &listener, &why);
    bench_input_close(&t->input);
    source_unload(&g->source);
    if (status == STATUS_INTERRUPTED) {
        text_free(&t->file.pending);
        return problem(p, status, "%s", why.text);
    }
    if (status != STATUS_OK)
        note(t, "methods", &why);
    return csv_file_flush(&t->file, p);
}

enum status sweep_times(struct sweep *w, struct problem *p)
{
    struct times times;
    struct timer t = {.w = w, .file.fd = -1};
    uint64_t whole = 0;
    progress_clear(&w->progress);
    enum status status = times_make(&times, w->plan, p);
    if (status == STATUS_OK)
        status = times_resume(&times, w->directory.times, &whole, p);
    if (status == STATUS_OK)
        status = csv_file_open(&t.file, w->directory.times, whole, times_column, TIMES_COLUMNS, p);
    for (size_t i = 0; status == STATUS_OK && i < times.groups; i++)
        if (w->options->stop && *w->options->stop)
            status = problem(p, STATUS_INTERRUPTED, "interrupted");
        else if (!times_complete(&times.group[i]) && w->options->merged)
            status = problem(
                p, STATUS_DATA,
                "times of %s, %s, n = %zu are missing: run the shards again until each "
                "is finished, then merge again",
                times.group[i].source.name, format_facts[times.group[i].source.array.format].name,
                times.group[i].source.array.n);
        else if (!times_complete(&times.group[i]))
            status = time_group(&t, &times.group[i], p);
    if (w->options->progress)
        fprintf(stderr, "\r\033[K");
    enum status closed = csv_file_close(&t.file, p);
    times_free(&times);
    return status == STATUS_OK ? closed : status;
}
