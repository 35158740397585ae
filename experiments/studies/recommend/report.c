/* The recommendation in words, for people. */
#include <math.h>

#include "experiments/studies/recommend/files.h"
#include "experiments/cases/added_in.h"
#include "experiments/studies/recommend/candidates.h"
#include "reports/text/against.h"

/* Where an array is from, before its name. */
static const char *const origin[RECOMMEND_KINDS] = {
    [RECOMMEND_DATA] = "the data itself, ",
    [RECOMMEND_ASCENDING] = "the data in another order, ",
    [RECOMMEND_DESCENDING] = "the data in another order, ",
    [RECOMMEND_SMALL] = "the data in another order, ",
    [RECOMMEND_LARGE] = "the data in another order, ",
    [RECOMMEND_ONE_SIGN] = "an adversarial array of the same magnitudes, ",
    [RECOMMEND_CLIMB] = "an adversarial array of the same magnitudes, ",
    [RECOMMEND_RETURN] = "an adversarial array of the same magnitudes, ",
    [RECOMMEND_RESAMPLE] = "a resample of the data, ",
    [RECOMMEND_SHUFFLE] = "the data in another order, ",
    [RECOMMEND_EXTENDED] = "the data and more like it, ",
};

static void add_rate(struct text *to, const struct recommend_candidate *c)
{
    if (c->rate > 0 && c->raw_ns > 0)
        text_format(to, ", %.2f of the raw read (%.3g GB/s)", c->raw_ns / c->time_ns, c->rate);
    else if (*c->note)
        text_format(to, " (%.*s)",
                    c->method->foreign ? (int)strcspn(c->note, ":") : (int)sizeof c->note, c->note);
}

static void add_head(struct text *to, const struct recommend_report *r)
{
    const struct recommend_tolerance *t = &r->request.tolerance;
    char device[DEVICE_TEXT];
    device_name(r->device, device);
    text_format(to, "%s: %zu elements of %s", r->source->name, r->source->array.n,
                format_facts[r->source->array.format].name);
    size_t rows = r->source->rows;
    if (rows > 1 && operation_flattens(r->candidate[0].method->operation))
        text_format(to, " (%zu x %zu, as one array)", rows, r->source->array.n / rows);
    if (recommend_use_of(r)->stands_in)
        text_add(to, ", ");
    setting_says(to, experiment_only(recommend_use_of(r)->experiment), &r->setting);
    if (r->cond_log2.known && isfinite(r->cond_log2.value))
        text_format(to, ", condition number 2^%.2f", r->cond_log2.value);
    else if (r->cond_log2.known)
        text_add(to, ", whose exact sum is 0");
    text_format(to, "\nallowed: |error| <= %.4g %s", t->limit, recommend_unit(r));
    if (t->quantity == RECOMMEND_ULP)
        text_format(to, " of %s in %s (%s)", recommend_use_of(r)->exact,
                    format_facts[r->source->array.format].name, t->text);
    text_format(to, "; candidates: %zu, on %s\n", r->count, device);
    if (r->row) {
        text_format(to, "tried: %zu of %zu rows, drawn with seed %llu, as --seconds allow\n",
                    r->setting.bins, r->rows,
                    (unsigned long long)r->request.plan->axes->seed.item[0]);
    } else if (recommend_is_part(r)) {
        struct text line = {0};
        text_format(&line,
                    "tried: %zu of %zu elements of D, one of %zu rows and of %zu columns each, as "
                    "--seconds allow",
                    r->setting.shape.m * r->setting.shape.n, r->whole.m * r->whole.n, r->step[0],
                    r->step[1]);
        text_wrapped(to, &line, TABLE_COLUMNS, 2);
    }
}

static void add_break(struct text *to, const struct recommend_candidate *c,
                      const struct recommend_report *r)
{
    const struct recommend_break *b = &c->broke;
    struct text line = {0};
    text_format(&line, "  breaks on %s%s: ", origin[b->kind], b->input);
    recommend_say_place(&line, &b->place);
    text_format(&line, "%.9g where %.9g is exact, an error of %s %s", b->result, b->exact,
                text_against(b->error, r->request.tolerance.limit, 2).value, recommend_unit(r));
    text_wrapped(to, &line, TABLE_COLUMNS, 4);
    if (recommend_adversarial(b->kind))
        text_format(to, "  it held on the data, other orders of it and %llu drawn arrays\n",
                    (unsigned long long)c->drawn_held);
}

/* "in 812 attempts over 8 launch shapes, 6 lengths and 5 inputs" */
static void add_over(struct text *to, const struct recommend_promised *t)
{
    text_format(to, "in %llu attempts over %zu launch shape%s, %zu length%s and %zu input%s",
                (unsigned long long)t->attempts, t->shapes, t->shapes == 1 ? "" : "s", t->lengths,
                t->lengths == 1 ? "" : "s", t->inputs, t->inputs == 1 ? "" : "s");
}

/* Of a candidate that is not enough for it. */
static void add_promised(struct text *to, const struct recommend_report *r,
                         const struct recommend_candidate *c)
{
    const struct recommend_promised *t = &c->promised;
    const char *promise = promise_name[r->request.promise];
    if (t->state == CHECK_BROKEN && t->differing > 0)
        text_format(to, "  does not keep its bits: %s is broken, %llu of %llu attempts differ\n",
                    promise, (unsigned long long)t->differing, (unsigned long long)t->attempts);
    else
        text_format(to, "  not known to keep its bits: %s is %s%s%s\n", promise,
                    check_state_name[t->state], *t->reason ? ": " : "", t->reason);
    if (t->show)
        text_format(to, "  reproduce: %s\n", t->show);
}

/* Of a subject nobody knows what it computes: theorems speak of additions in its accumulator, in
 * whatever order. */
static void add_supposed(struct text *to, const struct recommend_candidate *c)
{
    if (c->method->foreign)
        text_format(to, "if it only adds, and in %s: ", format_facts[c->accumulator].name);
}

static void add_theorem(struct text *to, const struct recommend_report *r,
                        const struct recommend_candidate *c)
{
    const struct recommend_tolerance *t = &r->request.tolerance;
    text_add(to, "  ");
    if (c->bound.known)
        add_supposed(to, c);
    if (!c->bound.known && recommend_costs(r)) /* it may have a theorem, which says nothing here */
        text_add(to, "observed only: no bound was computed for it\n");
    else if (!c->bound.known)
        text_add(to, "not guaranteed by theory, observed only: no theorem bounds the error\n");
    else if (recommend_holds(t, c->bound.value))
        text_format(to, "guaranteed on %s: its theorem bounds the error by %.2g\n",
                    r->row || recommend_is_part(r) ? "what was tried of these data" : "these data",
                    c->bound.value);
    else if (isinf(c->bound.value)) /* relative to 0 */
        text_add(to,
                 "not guaranteed by theory, observed only: its theorem gives no finite bound\n");
    else
        text_format(to,
                    "not guaranteed by theory, observed only: its theorem bounds the error by "
                    "%.2g\n",
                    c->bound.value);
}

/* The answer, on one line. */
static void add_verdict(struct text *to, const struct recommend_report *r)
{
    if (r->chosen == SIZE_MAX) {
        text_format(to, "nothing is enough: none of %zu candidates\n\n", r->count);
        return;
    }
    text_add(to, "enough: ");
    recommend_label(to, &r->candidate[r->chosen]);
    add_rate(to, &r->candidate[r->chosen]);
    text_add(to, "\n\n");
}

/* That at most so large a share of drawn arrays breaks it is still worth a line. */
#define TELLS_MOST 0.5

static void add_chosen(struct text *to, const struct recommend_report *r)
{
    const struct recommend_candidate *c = &r->candidate[r->chosen];
    struct text line = {0};
    text_format(&line, "  error at most %s %s on %zu arrays, ",
                text_against(c->most, r->request.tolerance.limit, 2).value, recommend_unit(r),
                c->tried);
    if (c->most > 0)
        text_format(&line, "a margin of %s",
                    text_against(r->request.tolerance.limit / c->most, 1, 2).value);
    else
        text_add(&line, "none at all");
    text_format(&line, ": the data, other orders of it%s",
                r->request.no_adversarial ? "" : ", adversarial ones of its magnitudes");
    const char *more = c->drawn < r->draws_wanted ? " (more with more --seconds)" : "";
    if (c->drawn > 0)
        text_format(&line, " and %llu drawn one%s (resamples, shuffles)",
                    (unsigned long long)c->drawn, c->drawn > 1 ? "s" : "");
    if (c->drawn > 0 && r->unseen > TELLS_MOST)
        text_format(&line, ", too few to say how many of such break it%s", more);
    else if (c->drawn > 0)
        text_format(&line, ": %.4g%% confident that at most %s%% of such break it%s",
                    100 * r->request.confidence, text_percent_at_most(r->unseen).value, more);
    else
        text_add(&line, "; no drawn ones: time was up (more with more --seconds)");
    text_wrapped(to, &line, TABLE_COLUMNS, 4);
    add_theorem(to, r, c);
    recommend_held(to, r, c);
    if (!recommend_promises(r))
        return;
    text_format(&line, "  its bits: %s kept ", promise_name[r->request.promise]);
    add_over(&line, &c->promised);
    text_format(&line, "%s%s", *c->promised.reason ? "; " : "", c->promised.reason);
    text_wrapped(to, &line, TABLE_COLUMNS, 4);
}

/* Candidates that no array broke, and whose promise was tried and not kept. */
static void add_unkept(struct text *to, const struct recommend_report *r)
{
    enum { SHOWN = 5 };
    size_t found = 0;
    for (size_t i = 0; i < r->count; i++) {
        const struct recommend_candidate *c = &r->candidate[i];
        if (c->broken || c->failed || !recommend_refused(c) || i == r->cheaper || ++found > SHOWN)
            continue;
        text_add(to, "refused: ");
        recommend_label(to, c);
        text_add(to, "\n");
        add_promised(to, r, c);
    }
    if (found > SHOWN)
        text_format(to, "refused: %zu others (recommend.csv)\n", found - SHOWN);
}

static void add_cheaper(struct text *to, const struct recommend_report *r)
{
    if (r->cheaper == SIZE_MAX) {
        text_format(to, "%s was there to break\n",
                    r->count == 1                       ? "it is the only candidate: nothing else"
                    : recommend_order_of(r) == BY_TIMES ? "nothing cheaper or narrower"
                                                        : "not timed: nothing before it in the "
                                                          "order below, and nothing narrower,");
        return;
    }
    static const char *const next[] = {[BY_TIMES] = "next cheaper",
                                       [BY_STATED_COST] = "next in the order below",
                                       [AS_GIVEN] = "next in the order given"};
    const bool timed = recommend_order_of(r) == BY_TIMES;
    struct text line = {0};
    text_format(&line, "%s: ",
                r->chosen == SIZE_MAX ? "the nearest"
                : r->dearer           ? "not enough"
                : !r->narrower        ? next[recommend_order_of(r)]
                : timed               ? "next narrower, though no faster here"
                                      : "next narrower, not timed");
    recommend_label(&line, &r->candidate[r->cheaper]);
    add_rate(&line, &r->candidate[r->cheaper]);
    text_wrapped(to, &line, TABLE_COLUMNS, 2);
    if (r->candidate[r->cheaper].broken)
        add_break(to, &r->candidate[r->cheaper], r);
    else
        add_promised(to, r, &r->candidate[r->cheaper]);
}

static void add_theory(struct text *to, const struct recommend_report *r)
{
    const struct recommend_growth *g = &r->growth;
    const struct recommend_candidate *c = &r->candidate[r->chosen];
    struct text line = {0};
    text_add(&line, "  ");
    if (g->theorem_known)
        add_supposed(&line, c);
    if (!g->theorem_known)
        text_add(&line, "guaranteed at no length: no theorem");
    else if (g->theorem_to == RECOMMEND_ANY_LENGTH)
        text_add(&line, "guaranteed at any length");
    else if (g->theorem_to == 0)
        text_add(&line, "guaranteed at no length");
    else
        text_format(&line, "guaranteed only up to n of about %.3g", (double)g->theorem_to);
    if (g->likely_known && g->likely_to != g->theorem_to)
        text_format(&line, "; to n = %.3g were rounding errors independent (%.4g%%)",
                    (double)g->likely_to, 100 * r->request.confidence);
    text_wrapped(to, &line, TABLE_COLUMNS, 4);
    /* A chain of additions as long as the input is what can stand still. */
    bool serial = c->method->height && c->method->height(1000, (struct shape){0}) == 999;
    if (serial && g->stagnates.known)
        text_format(to, "  a running sum of such elements stagnates at n of about %.3g\n",
                    g->stagnates.value);
    if (g->overflows.known)
        text_format(to, "  such a sum leaves the range of %s at n of about %.3g\n",
                    format_facts[c->accumulator].name, g->overflows.value);
}

/* What was tried, and beside it what is guaranteed. */
static void add_growth(struct text *to, const struct recommend_report *r)
{
    const struct recommend_growth *g = &r->growth;
    struct text line = {0};
    if (g->lengths > 0)
        text_format(to, "growth: it holds at every length tried up to n = %llu",
                    (unsigned long long)g->holds_to);
    else
        text_format(to, "growth: %s",
                    g->fails_at ? "it answered no longer array" : "no longer array was tried");
    if (g->breaks_at)
        text_format(to, ", and first breaks at %llu", (unsigned long long)g->breaks_at);
    text_add(to, "\n");
    if (g->lengths > 0) {
        text_format(&line,
                    "  tried: the data, followed by elements drawn from it, at %zu length%s: the "
                    "next 64, powers of two, multiples of 256 and 2048, each with both neighbours, "
                    "halvings below a break, others spread evenly",
                    g->lengths, text_s(g->lengths));
        text_wrapped(to, &line, TABLE_COLUMNS, 4);
    }
    if (g->fails_at && !g->breaks_at) {
        text_format(&line, "  no answer at n = %llu: %s", (unsigned long long)g->fails_at, g->why);
        text_wrapped(to, &line, TABLE_COLUMNS, 4);
    }
    add_theory(to, r);
}

/* Of one partial format: the longest chunk that holds, and the next longer one. */
static void add_promoted(struct text *to, const struct recommend_report *r, enum format partial)
{
    const struct recommend_candidate *holds = NULL, *breaks = NULL;
    for (size_t i = 0; i < r->count; i++) {
        const struct recommend_candidate *c = &r->candidate[i];
        if (!c->promoted || c->promoted->partial != partial || holds)
            continue;
        *(c->broken ? &breaks : &holds) = c;
    }
    if (!holds && !breaks)
        return;
    struct text line = {0};
    text_format(&line, "two-level: partial sums in %s, promoted to %s", format_facts[partial].name,
                format_facts[(holds ? holds : breaks)->accumulator].name);
    if (holds)
        text_format(&line, ": chunks of %zu hold on %zu arrays, error at most %s",
                    holds->promoted->chunk, r->common,
                    text_against(holds->error, r->request.tolerance.limit, 3).value);
    else
        text_format(&line, ": not even chunks of %zu hold", breaks->promoted->chunk);
    text_add(&line, " (simulated, not timed)");
    text_wrapped(to, &line, TABLE_COLUMNS, 2);
    if (breaks)
        text_format(to, "  chunks of %zu: error %s on %s\n", breaks->promoted->chunk,
                    text_against(breaks->broke.error, r->request.tolerance.limit, 3).value,
                    breaks->broke.input);
}

static bool emulated(const struct recommend_report *r)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->device.kind == DEVICE_CPU && r->candidate[i].rate > 0 &&
            format_facts[r->candidate[i].accumulator].bytes < 4)
            return true;
    return false;
}

/* How those are told apart that no time and no cost does. */
#define EQUALS                                                                                     \
    "first your own and what breaks, then what a theorem guarantees, then as the command lists "   \
    "them"

static void add_costs(struct text *to, const struct recommend_report *r)
{
    struct text line = {0};
    text_format(
        &line,
        "nothing is timed: on the CPU these methods show what a GPU computes, not how fast. "
        "The order: %s; of equals " EQUALS,
        recommend_costs(r));
    text_wrapped(to, &line, TABLE_COLUMNS, 2);
}

void recommend_text(struct text *to, const struct recommend_report *r, const char *out,
                    const char *command)
{
    add_verdict(to, r);
    add_head(to, r);
    if (r->chosen != SIZE_MAX)
        add_chosen(to, r);
    add_cheaper(to, r);
    if (r->cheaper != SIZE_MAX && r->candidate[r->cheaper].broken)
        recommend_show(to, r, &r->candidate[r->cheaper], out);
    add_unkept(to, r);
    if (r->chosen != SIZE_MAX && r->growth.measured)
        add_growth(to, r);
    recommend_choices(to, r);
    add_promoted(to, r, FP16);
    add_promoted(to, r, BF16);
    recommend_frontier(to, r, out);
    if (recommend_costs(r))
        add_costs(to, r);
    else if (recommend_order_of(r) != BY_TIMES)
        text_add(
            to,
            "the order where nothing is timed: the narrower accumulator first; of equals\n  " EQUALS
            "\n");
    else if (r->timed_n < r->source->array.n || r->in_cache)
        text_format(to, "times are of %zu elements%s\n", r->timed_n,
                    r->in_cache ? ", which fit in the cache (more with more --seconds)" : "");
    else if (r->timed_n > r->source->array.n)
        text_format(to, "times are of %zu elements, the data repeated: fewer lie in the cache\n",
                    r->timed_n);
    if (r->timed_short > 0)
        text_format(to,
                    r->timed_short == 1
                        ? "the slowest candidate was timed on fewer elements (timed_n)\n"
                        : "the %zu slowest candidates were timed on fewer elements (timed_n)\n",
                    r->timed_short);
    if (r->slow > 0)
        text_format(to, "left out: %zu candidates that take seconds a run (times.csv)\n", r->slow);
    if (emulated(r))
        text_add(to, "fp16 and bf16 accumulators are emulated on a CPU: their speed is that of the "
                     "emulation\n");
    struct text line = {0};
    text_visible(&line, out);
    text_add(&line,
             ": recommend.csv (a row per candidate), results.csv (a row per run), summary.csv, "
             "times.csv, study.json");
    text_wrapped(to, &line, TABLE_COLUMNS, 2);
    text_format(to, "reproduce: %s\n", command);
}
