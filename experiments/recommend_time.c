/* How fast the candidates are, beside the raw read, in one run. */
#include <stdio.h>
#include <stdlib.h>

#include "experiments/bench.h"
#include "experiments/bench_report.h"
#include "experiments/recommend_private.h"

/* On the CPU: elements that are timed, so that all candidates take seconds. */
enum { TIMED_ON_CPU = 1 << 20 };

struct timer {
    struct recommend_report *r;
    struct bench_input input;
};

/* On the CPU the twins of other devices' methods are textbook loops, written to be read: what they
 * take says nothing of what the method could. Those that run on threads are written for speed. */
static bool timed_honestly(const struct recommend_report *r, const struct recommend_candidate *c)
{
    const struct method *m = c->method;
    return !c->promoted && (r->device.kind != DEVICE_CPU || m->foreign || method_threaded(m));
}

static void note_untimed(struct recommend_report *r)
{
    for (size_t i = 0; i < r->count; i++) {
        struct recommend_candidate *c = &r->candidate[i];
        if (c->promoted)
            snprintf(c->note, sizeof c->note, "simulated, not timed");
        else if (!timed_honestly(r, c))
            snprintf(c->note, sizeof c->note, "not timed: a textbook loop on the CPU");
    }
}

static struct recommend_candidate *candidate_of(struct recommend_report *r,
                                                const struct bench_row *row)
{
    for (size_t i = 0; i < r->count; i++) {
        struct recommend_candidate *c = &r->candidate[i];
        struct shape shape = method_shape(c->method, r->device.kind, r->timed_n, c->asked);
        if (c->method == row->method && c->accumulator == row->accumulator &&
            shape.threads == row->shape.threads && shape.blocks == row->shape.blocks)
            return c;
    }
    return NULL;
}

static enum status take(void *context, const struct bench_row *row, struct problem *p)
{
    struct timer *t = context;
    (void)p;
    bench_report_row(&t->r->request.times->pending, &t->input, row, "");
    struct recommend_candidate *c = row->method ? candidate_of(t->r, row) : NULL;
    if (!c)
        return STATUS_OK;
    snprintf(c->note, sizeof c->note, "%s", row->note);
    c->time_ns = row->time.median_ns;
    c->raw_ns = row->raw_ns;
    if (c->time_ns > 0)
        c->rate = bench_bytes(&t->input, row) / c->time_ns;
    return STATUS_OK;
}

/* The vendor's routines stand before what is held against them. */
static size_t plan_rows(const struct recommend_report *r, struct bench_row *row)
{
    size_t rows = 0;
    for (int vendor = 1; vendor >= 0; vendor--)
        for (size_t i = 0; i < r->count; i++) {
            const struct recommend_candidate *c = &r->candidate[i];
            if (!timed_honestly(r, c) || bench_is_vendor(c->method) != vendor)
                continue;
            row[rows++] = (struct bench_row){
                .kind = BENCH_METHOD,
                .method = c->method,
                .accumulator = c->accumulator,
                .output = c->accumulator,
                .shape = method_shape(c->method, r->device.kind, r->timed_n, c->asked)};
        }
    return rows;
}

/* What takes seconds a run is nothing to recommend, nor to wait for; times.csv says so. */
static void drop_slow(struct recommend_report *r)
{
    size_t kept = 0;
    for (size_t i = 0; i < r->count; i++)
        if (strncmp(r->candidate[i].note, "skipped", 7) != 0)
            r->candidate[kept++] = r->candidate[i];
    r->slow = r->count - kept;
    r->count = kept;
}

enum status recommend_time(struct recommend_report *r, struct problem *p)
{
    struct timer t = {.r = r};
    struct array array = r->source->array;
    size_t round = 0;
    if (r->device.kind == DEVICE_CPU && array.n > TIMED_ON_CPU)
        array.n = TIMED_ON_CPU;
    r->timed_n = array.n;
    note_untimed(r);
    struct bench_row *row = calloc(r->count + 1, sizeof *row);
    if (!row)
        return problem(p, STATUS_DEVICE, "recommend: out of memory");
    size_t rows = plan_rows(r, row);
    const struct bench_listener listener = {.take = take, .context = &t, .stop = r->request.stop};
    enum status status = bench_input_borrow(&t.input, r->device, r->source->name, &array, p);
    if (status == STATUS_OK && rows > 0)
        status = bench_measure(&t.input, row, rows, TIMING_REPEATS, &round, &listener, p);
    r->in_cache = t.input.in_cache;
    bench_input_close(&t.input);
    free(row);
    drop_slow(r);
    return status == STATUS_OK ? csv_file_flush(r->request.times, p) : status;
}
