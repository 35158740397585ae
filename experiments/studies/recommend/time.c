/* How fast the candidates are, beside the raw read, in one run. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "experiments/studies/recommend/candidates.h"
#include "experiments/bench/bench.h"
#include "experiments/bench/report.h"
#include "experiments/system/clock.h"
#include "experiments/system/memory.h"

/* --- What candidates cost, and which of them is worth naming --- */

/* Rates that differ by less count as one: the narrower accumulator is then the cheaper. */
#define AS_FAST 1.1

/* What was timed on a shorter array than the fastest is slower than all of these. */
enum { TIMED_SHORT = 100000 };

/* What is timed comes first, by classes of rates; then what is not, and at last what is simulated.
 */
static int cost_class(const struct recommend_candidate *c, double best)
{
    if (c->rate > 0)
        return (int)floor(log(best / c->rate) / log(AS_FAST)) + (c->timed_short ? TIMED_SHORT : 0);
    return c->promoted ? 1000001 : 1000000;
}

/* The size of the format that additions are done in, not of the result's. */
static unsigned bytes_of(const struct recommend_candidate *c)
{
    return method_sum_bytes(c->method, c->accumulator);
}

/* Of what costs as much and is not timed: the user's own, which the question is about, and what
 * breaks, as the counterexample to tell; then what a theorem guarantees. */
static int evidence_class(const struct recommend_candidate *c)
{
    return c->method->foreign || c->broken ? 0 : c->guaranteed ? 1 : 2;
}

static int compare_cost(const struct recommend_candidate *a, const struct recommend_candidate *b,
                        double best)
{
    int class[2] = {cost_class(a, best), cost_class(b, best)};
    unsigned bytes[2] = {bytes_of(a), bytes_of(b)};
    if (class[0] != class[1])
        return class[0] < class[1] ? -1 : 1;
    if (a->rate == 0 && b->rate == 0 && a->cost != b->cost)
        return a->cost < b->cost ? -1 : 1;
    if (a->promoted && b->promoted && a->promoted->chunk != b->promoted->chunk)
        return a->promoted->chunk > b->promoted->chunk ? -1 : 1;
    if (bytes[0] != bytes[1])
        return bytes[0] < bytes[1] ? -1 : 1;
    if (a->rate == 0 && b->rate == 0)
        return evidence_class(a) - evidence_class(b);
    return a->rate > b->rate ? -1 : a->rate < b->rate;
}

static double best_rate(const struct recommend_report *r)
{
    double best = 0;
    for (size_t i = 0; i < r->count; i++)
        best = fmax(best, r->candidate[i].timed_short ? 0 : r->candidate[i].rate);
    return best;
}

/* Insertion: stable, and there are some dozens. */
void recommend_sort(struct recommend_report *r)
{
    double best = best_rate(r);
    for (size_t i = 1; i < r->count; i++) {
        struct recommend_candidate c = r->candidate[i];
        size_t at = i;
        for (; at > 0 && compare_cost(&c, &r->candidate[at - 1], best) < 0; at--)
            r->candidate[at] = r->candidate[at - 1];
        r->candidate[at] = c;
    }
}

/* Of two that break: does `a` break by less? */
static bool nearer(const struct recommend_candidate *a, const struct recommend_candidate *b)
{
    return isnan(b->error) || a->error < b->error;
}

/* Of the failing candidates whose accumulator has fewer bytes, the one that fails by the least. */
static size_t nearest(const struct recommend_report *r, unsigned bytes)
{
    size_t found = SIZE_MAX;
    for (size_t i = 0; i < r->count; i++) {
        const struct recommend_candidate *c = &r->candidate[i];
        if (recommend_refused(c) && !c->failed && !c->promoted &&
            (bytes == UINT_MAX || bytes_of(c) < bytes) &&
            (found == SIZE_MAX || nearer(c, &r->candidate[found])))
            found = i;
    }
    return found;
}

/* The candidate before the chosen one in the order of cost; where that is the cheapest of all, the
 * nearest with a narrower accumulator, else the nearest of all; so too where none was chosen. */
void recommend_find_cheaper(struct recommend_report *r)
{
    size_t chosen = r->chosen;
    bool none = chosen == SIZE_MAX;
    for (size_t i = 0; i < chosen && !none; i++)
        if (recommend_refused(&r->candidate[i]) && !r->candidate[i].failed &&
            !r->candidate[i].promoted)
            r->cheaper = i;
    if (r->cheaper != SIZE_MAX)
        return;
    r->cheaper = nearest(r, none ? UINT_MAX : bytes_of(&r->candidate[chosen]));
    r->narrower = !none && r->cheaper != SIZE_MAX;
    if (none || r->narrower)
        return;
    r->cheaper = nearest(r, UINT_MAX);
    r->dearer = r->cheaper != SIZE_MAX;
}

enum recommend_order recommend_order_of(const struct recommend_report *r)
{
    double best = best_rate(r);
    if (best > 0 && (r->chosen == SIZE_MAX || r->candidate[r->chosen].rate > 0))
        return BY_TIMES;
    return r->chosen != SIZE_MAX && r->cheaper != SIZE_MAX &&
                   compare_cost(&r->candidate[r->cheaper], &r->candidate[r->chosen], best) == 0
               ? AS_GIVEN
               : BY_STATED_COST;
}

/* On the frontier: nothing that is as fast errs less, nothing that errs as little is faster. */
void recommend_find_frontier(struct recommend_report *r)
{
    for (size_t i = 0; i < r->count; i++) {
        struct recommend_candidate *c = &r->candidate[i];
        c->pareto =
            c->rate > 0 && !c->failed && !c->timed_short && !isnan(c->error) && isfinite(c->error);
        for (size_t k = 0; k < r->count && c->pareto; k++) {
            const struct recommend_candidate *o = &r->candidate[k];
            if (o->failed)
                continue;
            bool better = o->rate > c->rate ? o->error <= c->error
                                            : o->rate == c->rate && o->error < c->error;
            c->pareto = !(o->rate > 0 && !o->timed_short && better);
        }
    }
}

/* On the CPU: elements that are timed first, so that all candidates take seconds. */
enum { TIMED_ON_CPU = 1 << 20 };

/* Where those lie in a cache, starting threads or kernels takes longer than adding, and all seem
 * equal. The fastest are then timed again on the data repeated to an array that does not: as many
 * of them as take a share of the time, a run as foretold by the first. */
#define LONG_SHARE 0.15
enum {
    CACHES = 3,
    UNKNOWN_CACHE = 1 << 25,
    RUNS_EACH = TIMING_REPEATS + 3,
    REPETITION_NS = 1000000
};

struct timer {
    struct recommend_report *r;
    struct bench_input input;
    size_t n;
    /* Rows of times.csv, of each candidate and of the raw read of each round. */
    struct text *row, raw[2];
    size_t round;
};

/* On the CPU the twins of other devices' methods are textbook loops, written to be read: what they
 * take says nothing of what the method could. Those that run on threads are written for speed. */
static bool timed_honestly(const struct recommend_report *r, const struct recommend_candidate *c)
{
    const struct method *m = c->method;
    return !c->promoted && !(recommend_use_of(r)->stands_in && r->device.kind == DEVICE_CPU) &&
           (r->device.kind != DEVICE_CPU || m->foreign || method_threaded(m));
}

static void note_untimed(struct recommend_report *r)
{
    for (size_t i = 0; i < r->count; i++) {
        struct recommend_candidate *c = &r->candidate[i];
        if (c->promoted)
            snprintf(c->note, sizeof c->note, "simulated, not timed");
        else if (!timed_honestly(r, c))
            snprintf(c->note, sizeof c->note, "not timed: %s",
                     c->method->of_chip   ? "a model of the chip"
                     : c->method->foreign ? "nothing here to compare its speed with"
                                          : "a textbook loop on the CPU");
    }
}

static struct recommend_candidate *candidate_of(struct recommend_report *r, size_t n,
                                                const struct bench_row *row)
{
    for (size_t i = 0; i < r->count; i++) {
        struct recommend_candidate *c = &r->candidate[i];
        struct shape shape = method_shape(c->method, r->device.kind, n, c->asked);
        if (c->method == row->method && c->accumulator == row->accumulator &&
            shape.threads == row->shape.threads && shape.blocks == row->shape.blocks)
            return c;
    }
    return NULL;
}

/* What is timed again on a long array is known by that alone. */
static enum status take(void *context, const struct bench_row *row, struct problem *p)
{
    struct timer *t = context;
    (void)p;
    struct recommend_candidate *c = row->method ? candidate_of(t->r, t->n, row) : NULL;
    if (!c) {
        bench_report_row(&t->raw[t->round], &t->input, row, "");
        return STATUS_OK;
    }
    if (t->round > 0 && !(row->time.median_ns > 0) && !row->impossible)
        return STATUS_OK; /* the first round's time stays */
    struct text *own = &t->row[c - t->r->candidate];
    text_clear(own);
    bench_report_row(own, &t->input, row, "");
    snprintf(c->note, sizeof c->note, "%s", row->note);
    c->time_ns = row->time.median_ns;
    c->raw_ns = row->raw_ns;
    c->timed_n = t->n;
    c->rate = c->time_ns > 0 ? bench_bytes(&t->input, row) / c->time_ns : 0;
    return STATUS_OK;
}

static void show(void *context, const struct bench_row *row)
{
    const struct timer *t = context;
    recommend_tell(t->r, "timing %s", bench_name(row));
}

/* Vendors' routines come before the methods compared with them. most_ns: only candidates that took
 * no longer; 0: all. */
static size_t plan_rows(const struct recommend_report *r, size_t n, double most_ns,
                        struct bench_row *row)
{
    size_t rows = 0;
    for (int vendor = 1; vendor >= 0; vendor--)
        for (size_t i = 0; i < r->count; i++) {
            const struct recommend_candidate *c = &r->candidate[i];
            if (!timed_honestly(r, c) || c->method->vendor != vendor ||
                (most_ns > 0 && !(c->time_ns > 0 && c->time_ns <= most_ns)))
                continue;
            row[rows++] =
                (struct bench_row){.kind = BENCH_METHOD,
                                   .method = c->method,
                                   .accumulator = c->accumulator,
                                   .setting.output = c->accumulator,
                                   .shape = method_shape(c->method, r->device.kind, n, c->asked)};
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

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Estimates the time on `length` elements from the time on n. All candidates are assumed to have
 * the fixed cost of the fastest, up to what noise hides. */
static double foretold(double time_ns, double least_ns, size_t n, size_t length)
{
    enum { NOISE = 20 };
    double own = fmax(time_ns - least_ns, least_ns / NOISE);
    return fmax(own * (double)length / (double)n, REPETITION_NS);
}

/* The time of the slowest, of those timed on n elements, that there is time for on `length`; 0
 * where that are not two, and a third of all. */
static double affordable(const struct recommend_report *r, size_t n, size_t length)
{
    double *time_ns = calloc(r->count + 1, sizeof *time_ns), sum = 0, most = 0;
    size_t count = 0, taken = 0;
    for (size_t i = 0; time_ns && i < r->count; i++)
        if (r->candidate[i].time_ns > 0)
            time_ns[count++] = r->candidate[i].time_ns;
    if (count > 1)
        qsort(time_ns, count, sizeof *time_ns, ascending);
    for (size_t i = 0; i < count; i++) {
        sum += RUNS_EACH * foretold(time_ns[i], time_ns[0], n, length);
        if (sum > LONG_SHARE * 1e9 * r->request.seconds)
            break;
        most = time_ns[i];
        taken++;
    }
    free(time_ns);
    return taken == count || (taken > 1 && 3 * taken >= count) ? most : 0;
}

/* The data, again and again. */
static enum status repeat(struct array *to, const struct array *data, size_t n, const char *name,
                          struct problem *p)
{
    enum status status = memory_array(to, data->format, n, name, p);
    for (size_t i = 0; status == STATUS_OK && i < n; i += data->n) {
        size_t left = n - i < data->n ? n - i : data->n;
        memcpy((char *)to->data + array_bytes(data->format, i), data->data,
               array_bytes(data->format, left));
    }
    return status;
}

static enum status time_all(struct timer *t, const char *name, const struct array *array,
                            double most_ns, struct problem *p)
{
    struct recommend_report *r = t->r;
    size_t round = 0;
    t->n = array->n;
    struct bench_row *row = calloc(r->count + 1, sizeof *row);
    if (!row)
        return problem(p, STATUS_MEMORY, "recommend: out of memory");
    size_t rows = plan_rows(r, array->n, most_ns, row);
    const struct bench_listener listener = {
        .take = take, .show = show, .context = t, .stop = r->request.stop};
    enum status status = bench_input_borrow(&t->input, r->device, name, array, p);
    if (status == STATUS_OK && rows > 0)
        status = bench_measure(&t->input, row, rows, TIMING_REPEATS, &round, &listener, p);
    if (status == STATUS_OK) {
        r->timed_n = array->n;
        r->in_cache = t->input.in_cache;
    }
    bench_input_close(&t->input);
    free(row);
    return status;
}

/* How many candidates were timed on arrays of this length. */
static size_t timed_on(const struct recommend_report *r, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < r->count; i++)
        count += r->candidate[i].timed_n == n;
    return count;
}

/* The data repeated to this length. Not an error where it cannot be timed: then nothing is. */
static enum status time_repeated(struct timer *t, size_t length, double most_ns, struct problem *p)
{
    const struct source *source = t->r->source;
    struct array array;
    struct problem why = {0};
    char name[320];
    if (repeat(&array, &source->array, length, source->name, NULL) != STATUS_OK)
        return STATUS_OK;
    t->round = 1;
    text_clear(&t->raw[1]);
    snprintf(name, sizeof name, "%.300s:repeated", source->name);
    enum status status = time_all(t, name, &array, most_ns, &why);
    free(array.data);
    return status == STATUS_INTERRUPTED ? problem(p, status, "%s", why.text) : STATUS_OK;
}

/* What it lacks memory or time for is left as the first round has it. Where time is short for so
 * long an array, or starting a run takes so long that one on a sample of it foretells too much, one
 * that is shorter tells more than none. */
static enum status measure_long(struct timer *t, struct problem *p)
{
    struct recommend_report *r = t->r;
    size_t cache = bench_cache(r->device), first = t->n;
    size_t bytes = CACHES * (cache ? cache : (size_t)UNKNOWN_CACHE);
    size_t length = bytes / (size_t)format_facts[r->source->array.format].bytes;
    for (; length >= 4 * first; length /= 2) {
        double most_ns = affordable(r, first, length);
        enum status status = most_ns > 0 ? time_repeated(t, length, most_ns, p) : STATUS_OK;
        if (status != STATUS_OK || timed_on(r, length) > 0)
            return status;
    }
    t->round = 0;
    r->timed_n = first;
    r->in_cache = true;
    return STATUS_OK;
}

/* Into times.csv: the raw read of the last round, and of the first where something rests on it. */
static void write_rows(struct timer *t)
{
    struct recommend_report *r = t->r;
    struct text *to = &r->request.times->pending;
    for (size_t i = 0; i < r->count; i++) {
        struct recommend_candidate *c = &r->candidate[i];
        c->timed_short = c->time_ns > 0 && c->timed_n < r->timed_n;
        r->timed_short += c->timed_short;
    }
    for (size_t round = 0; round <= t->round; round++)
        if (round == t->round || r->timed_short > 0)
            text_join(to, &t->raw[round]);
    for (size_t i = 0; i < r->count; i++)
        text_join(to, &t->row[i]);
}

enum status recommend_time(struct recommend_report *r, struct problem *p)
{
    struct timer t = {.r = r, .row = calloc(r->count + 1, sizeof *t.row)};
    struct array array = r->source->array;
    size_t count = r->count;
    if (!t.row)
        return problem(p, STATUS_MEMORY, "recommend: out of memory");
    if (r->device.kind == DEVICE_CPU && array.n > TIMED_ON_CPU)
        array.n = TIMED_ON_CPU;
    note_untimed(r);
    r->begin_ns = clock_ns();
    if (recommend_use_of(r)->stands_in && r->device.kind == DEVICE_CPU) {
        free(t.row);
        return STATUS_OK;
    }
    enum status status = time_all(&t, r->source->name, &array, 0, p);
    r->begin_ns = clock_ns();
    if (status == STATUS_OK && r->in_cache)
        status = measure_long(&t, p);
    write_rows(&t);
    for (size_t i = 0; i < count; i++)
        text_free(&t.row[i]);
    for (size_t i = 0; i < 2; i++)
        text_free(&t.raw[i]);
    free(t.row);
    drop_slow(r);
    return status == STATUS_OK ? csv_file_flush(r->request.times, p) : status;
}
