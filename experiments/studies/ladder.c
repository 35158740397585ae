/* run ladder: what does each promise cost? */
#include <math.h>
#include <stdlib.h>

#include "experiments/sweep/breaks.h"
#include "experiments/cases/experiment.h"
#include "experiments/studies/ladder_prices.h"
#include "experiments/studies/says.h"
#include "reports/text/table.h"

/* One table, with a letter for each input. */
struct view {
    struct ladder_view in;
    const char **input;
    size_t inputs;
    const struct method **method; /* by promise, each promise's by time */
    struct ladder_results *results;
    size_t methods;
};

static double time_of(const struct view *v, const struct method *m, size_t input)
{
    const struct ladder_time *t = ladder_time(&v->in, m, v->input[input]);
    return t && t->time_us.known ? t->time_us.value : INFINITY;
}

/* Does method a come before b? */
static bool before(const struct view *v, const struct method *a, const struct method *b)
{
    if (a->promise != b->promise)
        return a->promise < b->promise;
    return time_of(v, a, 0) < time_of(v, b, 0);
}

static bool has_cases(const struct view *v, const struct method *m)
{
    const struct plan *plan = v->in.ladder->plan;
    for (size_t i = 0; i < plan->case_count; i++)
        if (plan->cases[i].method == m && ladder_shows(&v->in, &plan->cases[i]))
            return true;
    return false;
}

static void list_methods(struct view *v)
{
    const struct axes *axes = v->in.ladder->plan->axes;
    for (size_t i = 0; i < axes->methods; i++) {
        size_t at = v->methods;
        if (!has_cases(v, axes->method[i]))
            continue;
        for (; at > 0 && before(v, axes->method[i], v->method[at - 1]); at--)
            v->method[at] = v->method[at - 1];
        v->method[at] = axes->method[i];
        v->methods++;
    }
    for (size_t i = 0; i < v->methods; i++)
        v->results[i] = ladder_results(&v->in, v->method[i]);
}

static void list_inputs(struct view *v)
{
    const struct ladder *l = v->in.ladder;
    for (size_t i = 0; i < l->plan->case_count; i++) {
        size_t k = 0;
        const char *base = l->base[l->plan->cases[i].source];
        if (!ladder_shows(&v->in, &l->plan->cases[i]))
            continue;
        while (k < v->inputs && strcmp(v->input[k], base) != 0)
            k++;
        v->input[k] = base;
        v->inputs += k == v->inputs;
    }
}

static struct figure cond_of(const struct view *v, const char *input)
{
    const struct ladder *l = v->in.ladder;
    for (size_t i = 0; i < l->plan->case_count; i++) {
        const struct study_case *t = &l->plan->cases[i];
        if (ladder_shows(&v->in, t) && strcmp(l->base[t->source], input) == 0)
            return t->cond_log2;
    }
    return (struct figure){0};
}

static void heading(struct text *to, const struct view *v)
{
    char device[DEVICE_TEXT];
    unsigned long long runs = v->in.ladder->plan->axes->runs[v->in.device.kind];
    device_name(v->in.device, device);
    text_format(to, "%s, %s/%s, n = %zu, %llu runs of each case\n", device,
                format_facts[v->in.storage].name, format_facts[v->in.accumulator].name, v->in.n,
                runs);
    for (size_t i = 0; i < v->inputs; i++) {
        struct figure cond = cond_of(v, v->input[i]);
        const struct ladder_time *raw = ladder_time(&v->in, NULL, v->input[i]);
        struct text line = {0};
        text_format(&line, "%c: ", (int)('a' + i % 26));
        text_visible(&line, v->input[i]);
        if (cond.known)
            text_format(&line,
                        isinf(cond.value) ? ", condition number inf" : ", condition number 2^%.0f",
                        cond.value);
        if (raw && raw->gb_per_s.known)
            text_format(&line, "; timed at n = %zu, raw read %.3g GB/s%s", raw->n,
                        raw->gb_per_s.value, raw->in_cache ? ", from cache" : "");
        says_line(to, &line);
    }
}

/* Over the raw read. */
static void time_cell(struct table *to, const struct ladder_time *t)
{
    double ratio = t && t->of_raw.known ? 1 / t->of_raw.value : 0;
    if (ratio > 0)
        table_cell(to, ratio < 99.5 ? "%.2f" : "%.0f", ratio);
    else
        table_cell(to, "%s", t ? t->note : "");
}

static void error_cell(struct table *to, struct figure error)
{
    if (error.known)
        table_cell(to, error.value < 99.5 ? "%.2g" : "%.1e", error.value);
    else
        table_cell(to, "%s", "");
}

/* Results that the promise rules out are marked. What was not tried in more than one way says
 * nothing. */
static void results_cell(struct table *to, const struct method *m, uint64_t results, uint64_t tried,
                         enum promise rung)
{
    if (tried > 1)
        table_cell(to, "%llu%s", (unsigned long long)results,
                   m->promise >= rung && results > 1 ? "!" : "");
    else
        table_cell(to, "%s", "");
}

/* How many ways of running it were tried, and why none of some methods. */
struct tried {
    uint64_t least, most; /* over the methods that were tried; 0: none */
    bool unread, once;    /* the method reads no launch shape; there was one way alone */
};

static void note_tried(struct tried *t, uint64_t ways, bool read)
{
    if (ways > 1) {
        t->least = t->least == 0 || ways < t->least ? ways : t->least;
        t->most = ways > t->most ? ways : t->most;
    } else {
        t->unread |= !read;
        t->once |= read;
    }
}

static void tried_line(struct text *to, const struct tried *t, const char *column, const char *ways,
                       const char *unread, const char *once)
{
    text_format(to, "%s: ", column);
    if (t->most > t->least)
        text_format(to, "over %llu to %llu %s", (unsigned long long)t->least,
                    (unsigned long long)t->most, ways);
    else if (t->most > 0)
        text_format(to, "over %llu %s", (unsigned long long)t->most, ways);
    else
        text_add(to, "not tried");
    text_add(to, "\n");
    if (t->unread)
        text_format(to, "  blank: %s\n", unread);
    if (t->once)
        text_format(to, "  blank: %s\n", once);
}

/* What the numbers of launches and orders rest on, and why some cells have none. */
static void tried_lines(struct text *to, const struct view *v)
{
    struct tried launches = {0}, orders = {0};
    for (size_t k = 0; k < v->methods; k++) {
        unsigned read = v->method[k]->shape_read[v->in.device.kind];
        note_tried(&launches, v->results[k].launches_tried, read != 0);
        note_tried(&orders, v->results[k].orders_tried, true);
    }
    tried_line(to, &launches, "launches", "launch shapes", "the method reads no launch shape",
               "one launch shape was run; give others with --threads or --blocks, or a larger n");
    tried_line(to, &orders, "orders", "orders of the same elements", "",
               "one order was run; give another beside it, as in --input NAME,NAME:order=shuffled");
}

static void memory_cell(struct table *to, const struct view *v, const struct method *m)
{
    const struct ladder_time *t = ladder_time(&v->in, m, v->input[0]);
    if (t && t->memory.known)
        table_cell(to, "%.0f", t->memory.value);
    else
        table_cell(to, "%s", "");
}

static void draw_methods(struct text *to, const struct view *v, char *align)
{
    struct table table = {.align = align};
    const uint64_t runs = v->in.ladder->plan->axes->runs[v->in.device.kind];
    memset(align, 'r', 2 * v->inputs + 6);
    memset(align + 3, 'R', 2 * v->inputs - 1); /* all but the time of the first input */
    align[0] = align[1] = 'l';
    align[2 * v->inputs + 5] = 'R';
    align[2 * v->inputs + 6] = 0;
    table_cell(&table, "promise");
    table_cell(&table, "method");
    for (size_t i = 0; i < v->inputs; i++)
        table_cell(&table, "time %c", (int)('a' + i % 26));
    for (size_t i = 0; i < v->inputs; i++)
        table_cell(&table, "error %c", (int)('a' + i % 26));
    table_cell(&table, "runs");
    table_cell(&table, "launches");
    table_cell(&table, "orders");
    table_cell(&table, "memory");
    for (size_t k = 0; k < v->methods; k++) {
        const struct method *m = v->method[k];
        bool first = k == 0 || v->method[k - 1]->promise != m->promise;
        table_cell(&table, "%s", first ? promise_name[m->promise] : "");
        table_cell(&table, "%s%s", m->name, breaks_mark_method(v->in.ladder->plan, m));
        for (size_t i = 0; i < v->inputs; i++)
            time_cell(&table, ladder_time(&v->in, m, v->input[i]));
        for (size_t i = 0; i < v->inputs; i++)
            error_cell(&table, ladder_error(&v->in, m, v->input[i]));
        const struct ladder_results *r = &v->results[k];
        results_cell(&table, m, r->runs, runs, PROMISE_RUN_TO_RUN);
        results_cell(&table, m, r->launches, r->launches_tried, PROMISE_GPU_TO_GPU);
        results_cell(&table, m, r->orders, r->orders_tried, PROMISE_ORDER_INVARIANT);
        memory_cell(&table, v, m);
    }
    table_draw(to, &table);
    table_free(&table);
    tried_lines(to, v);
}

/* The fastest method that makes this promise or more and was not seen to break it; NULL for none.
 */
static const struct method *cheapest(const struct view *v, enum promise promise, size_t input)
{
    const struct method *best = NULL;
    for (size_t k = 0; k < v->methods; k++) {
        const struct method *m = v->method[k];
        bool broken =
            ladder_broken(m, &v->results[k]) || *breaks_mark_method(v->in.ladder->plan, m);
        if (m->promise < promise || broken || isinf(time_of(v, m, input)))
            continue;
        if (!best || time_of(v, m, input) < time_of(v, best, input))
            best = m;
    }
    return best;
}

static void draw_prices(struct text *to, const struct view *v, char *align)
{
    struct table table = {.align = align};
    align[0] = 'l';
    for (size_t i = 0; i < v->inputs; i++)
        memcpy(align + 1 + 2 * i, i == 0 ? "lr" : "LR", 2);
    align[1 + 2 * v->inputs] = 0;
    table_cell(&table, "promise");
    for (size_t i = 0; i < v->inputs; i++) {
        table_cell(&table, "cheapest on %c", (int)('a' + i % 26));
        table_cell(&table, "time");
    }
    for (enum promise promise = 0; promise < PROMISES; promise++) {
        if (!cheapest(v, promise, 0))
            continue;
        table_cell(&table, "%s", promise_name[promise]);
        for (size_t i = 0; i < v->inputs; i++) {
            const struct method *m = cheapest(v, promise, i);
            table_cell(&table, "%s", m ? m->name : "");
            time_cell(&table, m ? ladder_time(&v->in, m, v->input[i]) : NULL);
        }
    }
    text_add(to, "\n");
    table_draw(to, &table);
    text_add(to, "\n");
    table_free(&table);
}

/* "cpu, fp32/fp32, n = 4096: ..., in raw reads of uniform: run_to_run 1.02 (sum/tiled), ..." */
static void prices_line(struct text *to, const struct view *v)
{
    struct text line = {0};
    char device[DEVICE_TEXT];
    size_t priced = 0;
    device_name(v->in.device, device);
    text_format(&line, "%s, %s/%s, n = %zu: ", device, format_facts[v->in.storage].name,
                format_facts[v->in.accumulator].name, v->in.n);
    for (enum promise promise = 0; promise < PROMISES; promise++) {
        const struct method *m = cheapest(v, promise, 0);
        const struct ladder_time *t = m ? ladder_time(&v->in, m, v->input[0]) : NULL;
        if (!t || !t->of_raw.known || !(t->of_raw.value > 0))
            continue;
        if (priced++ == 0) {
            text_add(&line, "cost of each promise, in raw reads of ");
            text_visible(&line, v->input[0]);
        }
        text_format(&line, "%s %s %.2f (", priced > 1 ? "," : ":", promise_name[promise],
                    1 / t->of_raw.value);
        text_visible(&line, m->name);
        text_add(&line, ")");
    }
    if (priced == 0)
        text_add(&line, "nothing was timed, so no promise has a price");
    says_line(to, &line);
}

static void tables(struct text *to, const struct view *v, char *align)
{
    heading(to, v);
    draw_methods(to, v, align);
    draw_prices(to, v, align);
}

/* Says what it has to say of a view: its line, or its tables. */
static enum status draw_view(struct text *to, const struct ladder_view *in, bool line,
                             struct problem *p)
{
    const struct plan *plan = in->ladder->plan;
    struct view v = {.in = *in,
                     .input = calloc(plan->sources + 1, sizeof *v.input),
                     .method = calloc(plan->axes->methods + 1, sizeof *v.method),
                     .results = calloc(plan->axes->methods + 1, sizeof *v.results)};
    char *align = calloc(2 * plan->sources + 16, 1);
    bool good = v.input && v.method && v.results && align;
    if (good) {
        list_inputs(&v);
        list_methods(&v);
        line ? prices_line(to, &v) : tables(to, &v, align);
    }
    free(v.input);
    free(v.method);
    free(v.results);
    free(align);
    return good ? STATUS_OK : problem(p, STATUS_MEMORY, "out of memory for the table");
}

/* Is there an earlier case in the same view? */
static bool seen_before(const struct ladder_view *v, size_t number)
{
    for (size_t i = 0; i < number; i++)
        if (ladder_shows(v, &v->ladder->plan->cases[i]))
            return true;
    return false;
}

static enum status draw_views(struct text *to, const struct ladder *l, bool line, struct problem *p)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < l->plan->case_count; i++) {
        const struct study_case *t = &l->plan->cases[i];
        const struct array *a = &l->plan->source[t->source].array;
        const struct ladder_view v = {l, t->device, a->format, t->accumulator, a->n};
        if (ladder_shows(&v, t) && !seen_before(&v, i))
            status = draw_view(to, &v, line, p);
    }
    return status;
}

static enum status draw(struct text *to, const struct plan *plan, const char *out,
                        struct problem *p)
{
    struct ladder l;
    enum status status = ladder_read(&l, plan, out, p);
    if (status == STATUS_OK)
        status = draw_views(to, &l, true, p);
    text_add(to, "\n");
    says_legend(to, "time: over that of a raw read of the same bytes, on the CPU with as many "
                    "threads. error: the largest, in ulps of the exact sum; 0.5 is the best there "
                    "is. Different results, the most of any input: runs, in one launch; launches, "
                    "in any launch shape; orders, whatever the order of the elements; !: the "
                    "promise is broken. memory: bytes beside the input. Below: for each promise "
                    "the fastest method that makes it and did not break it here.");
    text_add(to, "\n");
    if (status == STATUS_OK)
        status = draw_views(to, &l, false, p);
    ladder_free(&l);
    return status;
}

#define FORMATS_SHOWN "fp32/fp32,fp64/fp64"
#define INPUTS        "uniform,uniform:order=shuffled,cond,cond:order=shuffled"

const struct experiment experiment_ladder = {
    .name = "ladder",
    .summary = "what each promise costs: time over a raw read, error, different results, memory",
    .operation = {&operation_sum},
    .orders = true,
    .axes =
        {
            [DEVICE_CPU] = {.formats = FORMATS_SHOWN,
                            .input = INPUTS,
                            .n = "2^18",
                            .cond = "2^40",
                            .threads = "0,1,3,64",
                            .timed = "2^24",
                            .runs = 20},
            [DEVICE_CUDA] = {.formats = FORMATS_SHOWN,
                             .input = INPUTS,
                             .n = "2^20",
                             .cond = "2^40",
                             .threads = "0,128",
                             .timed = "2^28",
                             .runs = 30},
        },
    .table = draw,
};
