/* Rounds: rows that are timed in turn. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "experiments/bench/subject.h"
#include "experiments/subjects/foreign.h"
#include "experiments/system/machine.h"

/* What a run may take; and what runs on the sample may take together before a method is skipped. */
static const double limit_ns = 2e9, doubt_ns = 2.5e8;

struct entry {
    struct bench_row row;
    bool runs; /* there is a subject */
    struct bench_subject subject;
    const struct bench_listener *listener;
    struct hash128 first; /* its first result */
};

struct round {
    struct bench_input *in;
    const struct bench_row *planned;
    size_t first, adding; /* of the planned rows: the one that it began with, the one to add */
    size_t number;
    const struct bench_listener *listener;
    struct entry *entry; /* room for each planned row and a yardstick of its own */
    size_t count;
};

static void show(const struct bench_listener *l, const struct bench_row *row)
{
    if (l->show)
        l->show(l->context, row);
}

static bool stopped(const struct bench_listener *l)
{
    return l->stop && *l->stop;
}

static void fail(struct bench_row *row, const struct problem *trouble)
{
    row->status = trouble->unsupported ? STATUS_OK : trouble->status;
    snprintf(row->note, sizeof row->note, "%s: %.240s",
             trouble->unsupported ? "unsupported" : "failed", trouble->text);
}

/* How many times as long a run on all of the input takes as one on the sample. What takes keys also
 * goes over its bins, which are as many. */
static double share_of(const struct bench_input *in, const struct bench_row *row)
{
    struct bench_input sample = *in;
    sample.array = in->sample;
    return row->setting.keys ? bench_bytes(in, row) / bench_bytes(&sample, row)
                             : (double)in->array.n / (double)in->sample.n;
}

/* The least that a run on one element takes, as far as it is known: threads are started, whatever
 * there is to add. */
static double least_to_begin(const struct bench_row *row, const struct bench_input *in)
{
    struct bench_input one = *in;
    struct bench_subject s;
    double least_ns = INFINITY, time_ns;
    one.sample.n = 1;
    one.made = NULL; /* its own, which is freed here */
    one.made_count = 0;
    if (in->device.kind != DEVICE_CPU || row->setting.keys)
        return 0;
    if (bench_subject_open(&s, &one, row, true, NULL) == STATUS_OK) {
        for (int run = 0; run < 3 && bench_subject_run(&s, 1, &time_ns, NULL) == STATUS_OK; run++)
            least_ns = fmin(least_ns, time_ns);
        bench_subject_close(&s);
    }
    bench_input_forget(&one);
    return isfinite(least_ns) ? least_ns : 0;
}

/* By the least that a run on the sample takes: the first one loads code, and any is prolonged by
 * whatever else the machine does meanwhile. Two are enough to let a method run; only after many has
 * it been shown to take too long, and not by what it takes to begin, which all of the input does
 * not take more often. */
static enum status foretell(double *run_ns, const struct bench_row *row, struct bench_input *in,
                            struct problem *p)
{
    struct bench_subject s;
    double time_ns = 0, spent_ns = 0, share = share_of(in, row);
    *run_ns = INFINITY;
    if (in->sample.n == in->array.n) {
        *run_ns = 0;
        return STATUS_OK;
    }
    enum status status = bench_subject_open(&s, in, row, true, p);
    if (status != STATUS_OK)
        return status;
    for (int run = 0; status == STATUS_OK; run++) {
        if (run >= 2 && (*run_ns <= limit_ns || !(spent_ns < doubt_ns)))
            break;
        status = bench_subject_run(&s, 1, &time_ns, p);
        spent_ns += time_ns;
        *run_ns = fmin(*run_ns, time_ns * share);
    }
    bench_subject_close(&s);
    if (status == STATUS_OK && *run_ns > limit_ns) {
        double begin_ns = fmin(least_to_begin(row, in), *run_ns / share);
        *run_ns -= begin_ns * (share - 1);
    }
    return status;
}

/* Asks a subject that is not ours whether its runs can be timed, on the sample. Fails where it does
 * not answer at all. */
static enum status learn(bool *times, const struct bench_row *row, struct bench_input *in,
                         struct problem *p)
{
    struct bench_subject s;
    *times = foreign_times(row->method);
    if (*times)
        return STATUS_OK;
    enum status status = bench_subject_open(&s, in, row, true, p);
    if (status != STATUS_OK)
        return status;
    s.task.out.data = in->output.data;
    *times = foreign_learn(&s.task);
    bench_subject_close(&s);
    return STATUS_OK;
}

/* Is it not to be run? Then its note says why. */
static bool excused(struct bench_row *row, struct bench_input *in)
{
    double run_ns = 0;
    bool times = true;
    struct problem trouble = {0};
    if (!method_supports(row->method, in->device.kind, in->array.format, row->accumulator))
        snprintf(row->note, sizeof row->note, "unsupported");
    else if (row->method->foreign && learn(&times, row, in, &trouble) != STATUS_OK)
        fail(row, &trouble);
    else if (!times)
        snprintf(row->note, sizeof row->note,
                 "not timed: the way to its process and back would be in it; it does not answer "
                 "`time` (ulpscope serve --help)");
    else if (foretell(&run_ns, row, in, &trouble) != STATUS_OK)
        fail(row, &trouble);
    else if (run_ns > limit_ns)
        snprintf(row->note, sizeof row->note,
                 "skipped: a run would take about %.2g s, the limit is %g s", run_ns / 1e9,
                 limit_ns / 1e9);
    return row->note[0] != 0;
}

static struct entry *append(struct round *r, const struct bench_row *row)
{
    struct entry *e = &r->entry[r->count++];
    *e = (struct entry){.row = *row, .listener = r->listener};
    e->row.round = r->number;
    return e;
}

/* gpu_copy needs room for a copy when it first runs; a row must leave that and some to spare, or
 * wait for a round that begins with it. */
static enum status check_room(const struct round *r, struct problem *p)
{
    const struct bench_input *in = r->in;
    struct gpu_facts facts;
    if (in->device.kind == DEVICE_CPU || r->adding == r->first)
        return STATUS_OK;
    enum status status = gpu_describe(in->device.index, &facts, p);
    if (status == STATUS_OK && facts.memory_free / 2 < array_bytes(in->array.format, in->array.n))
        status = problem(p, STATUS_MEMORY, "device cuda:%d: out of memory: %zu bytes are left",
                         in->device.index, facts.memory_free);
    return status;
}

/* Appends the row, and a subject to be timed. On failure nothing is appended. */
static enum status append_subject(struct round *r, const struct bench_row *row, struct problem *p)
{
    struct entry *e = append(r, row);
    show(r->listener, row);
    enum status status = bench_subject_open(&e->subject, r->in, row, false, p);
    e->runs = status == STATUS_OK;
    if (e->runs && row->method)
        e->row.setting.bins = e->subject.of.bins;
    if (status == STATUS_OK)
        status = check_room(r, p);
    if (status != STATUS_OK && e->runs)
        bench_subject_close(&e->subject);
    r->count -= status != STATUS_OK;
    return status;
}

static struct bench_row yardstick_of(const struct bench_input *in, const struct bench_row *row)
{
    bool cpu = in->device.kind == DEVICE_CPU;
    const struct operation *operation = row->method->operation;
    return (struct bench_row){.kind = bench_writes(row)                       ? BENCH_COPY
                                      : operation_has(operation, OPERAND_IN2) ? BENCH_READ_BOTH
                                                                              : BENCH_READ,
                              .accumulator = FORMATS,
                              .setting.output = FORMATS,
                              .shape.threads = cpu ? bench_threads(row->method, row->shape) : 0};
}

/* What is not known may be the same. */
static bool same_products(const struct bench_row *a, const struct bench_row *b)
{
    return a->setting.product == b->setting.product || a->setting.product == PRODUCT_UNKNOWN ||
           b->setting.product == PRODUCT_UNKNOWN;
}

/* Do a and b ask for the same of the same routine, but for the launch shape? */
static bool same_work(const struct bench_row *a, const struct bench_row *b)
{
    return a->kind == b->kind && a->accumulator == b->accumulator &&
           a->setting.output == b->setting.output && a->setting.exclusive == b->setting.exclusive &&
           a->setting.segment == b->setting.segment && same_products(a, b) &&
           a->setting.keep == b->setting.keep &&
           (!a->method || a->method->operation == b->method->operation);
}

static const struct bench_row *yardstick_in(const struct round *r, const struct bench_row *row)
{
    struct bench_row wanted = yardstick_of(r->in, row);
    for (size_t i = 0; i < r->count; i++)
        if (same_work(&r->entry[i].row, &wanted) &&
            r->entry[i].row.shape.threads == wanted.shape.threads)
            return &r->entry[i].row;
    return NULL;
}

/* The vendor's routine that does the same as the row. */
static const struct bench_row *vendor_in(const struct round *r, const struct bench_row *row)
{
    for (size_t i = 0; i < r->count; i++) {
        const struct bench_row *v = &r->entry[i].row;
        if (v->method && v->method->vendor && same_work(v, row))
            return v;
    }
    return NULL;
}

static enum status append_yardstick(struct round *r, const struct bench_row *row, struct problem *p)
{
    if (yardstick_in(r, row))
        return STATUS_OK;
    struct bench_row wanted = yardstick_of(r->in, row);
    return append_subject(r, &wanted, p);
}

/* In a later round the vendor's routine comes again. */
static enum status append_vendor(struct round *r, const struct bench_row *row, struct problem *p)
{
    if (row->method->vendor || vendor_in(r, row))
        return STATUS_OK;
    for (size_t i = 0; i < r->first; i++)
        if (r->planned[i].method->vendor && same_work(&r->planned[i], row)) {
            struct bench_row again = r->planned[i];
            return excused(&again, r->in) ? STATUS_OK : append_subject(r, &again, p);
        }
    return STATUS_OK;
}

/* Adds planned row i. Where it does not fit in a GPU's memory beside the others, *full: it is for
 * the next round. */
static void add(struct round *r, size_t i, bool *full)
{
    struct bench_row row = r->planned[i];
    struct problem trouble = {0};
    r->adding = i;
    show(r->listener, &row);
    if (excused(&row, r->in)) {
        append(r, &row);
        return;
    }
    enum status status = append_yardstick(r, &row, &trouble);
    if (status == STATUS_OK)
        status = append_vendor(r, &row, &trouble);
    if (status == STATUS_OK)
        status = append_subject(r, &row, &trouble);
    *full = status != STATUS_OK && i > r->first && r->in->device.kind == DEVICE_CUDA;
    if (status != STATUS_OK && !*full)
        fail(&append(r, &row)->row, &trouble);
}

static void look(void *context, struct hash128 digest)
{
    struct entry *e = context;
    if (e->row.looks++ == 0)
        e->first = digest;
    e->row.differing += digest.word[0] != e->first.word[0] || digest.word[1] != e->first.word[1];
}

static enum status run_entry(void *context, size_t runs, double *time_ns, struct problem *p)
{
    struct entry *e = context;
    if (stopped(e->listener))
        return problem(p, STATUS_INTERRUPTED, "interrupted");
    show(e->listener, &e->row);
    enum status status = bench_subject_run(&e->subject, runs, time_ns, p);
    bool held = e->row.method && e->row.method->promise >= PROMISE_RUN_TO_RUN;
    return status == STATUS_OK && held ? bench_subject_look(&e->subject, runs, look, e, p) : status;
}

static void note_time(struct entry *e, const struct timing_subject *s)
{
    e->row.time = s->time;
    e->row.memory = e->subject.memory;
    if (s->problem.status != STATUS_OK)
        fail(&e->row, &s->problem);
    else if (e->row.method)
        setting_note(e->row.note, e->row.method, &e->row.setting);
    size_t told = strlen(e->row.note);
    if (s->problem.status == STATUS_OK && s->time.repetitions < TIMING_REPEATS)
        snprintf(e->row.note + told, sizeof e->row.note - told, "%s%zu repeats: a run takes long",
                 told ? ", " : "", s->time.repetitions);
    told = strlen(e->row.note);
    if (e->row.differing > 0)
        snprintf(e->row.note + told, sizeof e->row.note - told,
                 "%sbreaks run_to_run: %zu of %zu results differ", told ? ", " : "",
                 e->row.differing, e->row.looks);
}

static enum status time_all(struct round *r, size_t repeats, struct problem *p)
{
    struct timing_subject *s = calloc(r->count + 1, sizeof *s);
    size_t subjects = 0, next = 0;
    if (!s)
        return problem(p, STATUS_MEMORY, "out of memory for a round of %zu rows", r->count);
    for (size_t i = 0; i < r->count; i++)
        if (r->entry[i].runs)
            s[subjects++] = (struct timing_subject){
                .batch = run_entry, .context = &r->entry[i], .most_runs = GPU_BATCH};
    enum status status = timing_measure(s, subjects, repeats, p);
    for (size_t i = 0; i < r->count && status == STATUS_OK; i++)
        if (r->entry[i].runs)
            note_time(&r->entry[i], &s[next++]);
    free(s);
    return status;
}

/* The raw read is a plain loop, and a user's subject may be faster. None is expected to be so
 * more than this many times for each processor, nor to read more in a nanosecond than twice 64
 * bytes in each of 8 cycles: generous limits of ours, no measured ones. A subject beyond them is
 * taken to have kept a result, or not to have begun. */
static void refuse_impossible(struct bench_row *row, const struct bench_input *in)
{
    enum { IN_CACHE = 64, IN_MEMORY = 4, BYTES_A_NS = 2 * 64 * 8 };
    bool cpu = in->device.kind == DEVICE_CPU;
    double processors = cpu ? machine_processors() : 1;
    double most = (in->in_cache ? IN_CACHE : IN_MEMORY) * processors,
           times = row->time.median_ns > 0 ? row->raw_ns / row->time.median_ns : 0,
           bytes = (double)array_bytes(in->array.format, in->array.n);
    bool none = row->time.repetitions > 0 && !(row->time.median_ns > 0);
    bool beyond = cpu && times > 0 && bytes > row->time.median_ns * processors * BYTES_A_NS;
    if (!row->method->foreign || !(none || beyond || times > most))
        return;
    row->time = (struct timing){0};
    row->impossible = true;
    if (none)
        snprintf(row->note, sizeof row->note, "not timed: a run seems to take no time");
    else
        snprintf(
            row->note, sizeof row->note,
            "not timed: a run seems to take %.2g of the time that reading the elements takes: it "
            "does not read them in every run",
            1 / times);
}

static enum status tell(const struct round *r, struct problem *p)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < r->count && status == STATUS_OK; i++) {
        struct bench_row *row = &r->entry[i].row;
        if (row->method) {
            const struct bench_row *y = yardstick_in(r, row), *v = vendor_in(r, row);
            *(y && y->kind == BENCH_COPY ? &row->copy_ns : &row->raw_ns) =
                y ? y->time.median_ns : 0;
            row->vendor_ns = v && v != row ? v->time.median_ns : 0;
            refuse_impossible(row, r->in);
        }
        status = r->listener->take(r->listener->context, row, p);
    }
    return status;
}

static void close_round(struct round *r)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->entry[i].runs)
            bench_subject_close(&r->entry[i].subject);
    r->count = 0;
}

enum status bench_measure(struct bench_input *in, const struct bench_row *planned, size_t rows,
                          size_t repeats, size_t *round, const struct bench_listener *listener,
                          struct problem *p)
{
    struct round r = {.in = in, .planned = planned, .listener = listener};
    enum status status = STATUS_OK;
    /* In each round a planned row comes once, and brings at most a yardstick with it. */
    r.entry = calloc(2 * rows + 1, sizeof *r.entry);
    if (!r.entry)
        return problem(p, STATUS_MEMORY, "out of memory for a round of %zu rows", rows);
    for (size_t next = 0; next < rows && status == STATUS_OK;) {
        bool full = false;
        r.first = next;
        r.number = ++*round;
        while (next < rows && !full && !stopped(listener)) {
            add(&r, next, &full);
            next += !full;
        }
        status = time_all(&r, repeats, p);
        if (stopped(listener))
            status = problem(p, STATUS_INTERRUPTED, "interrupted");
        if (status == STATUS_OK)
            status = tell(&r, p);
        close_round(&r);
    }
    free(r.entry);
    return status;
}
