/* What a directory says, in sentences. */
#include <math.h>
#include <stdlib.h>

#include "reports/page/report.h"

static void begin(struct text *to, const char *kind)
{
    text_format(to, "<li class=\"%s\">", kind);
}

static void end(struct text *to)
{
    text_add(to, "</li>\n");
}

static void add_case(struct text *to, const struct gathered_case *c)
{
    html_format(to, "%s, %s added in %s, %s, n = %.0f, %s", c->field[CASE_METHOD],
                c->field[CASE_STORAGE], c->field[CASE_ACCUMULATOR], c->field[CASE_INPUT], c->n,
                c->field[CASE_DEVICE]);
}

static void say_size(struct text *to, const struct report *r)
{
    unsigned long long runs = 0;
    size_t none = 0, errors = 0;
    for (size_t i = 0; i < r->g.count; i++) {
        runs += r->g.item[i].runs;
        none += r->g.item[i].runs == 0;
        errors += strcmp(r->g.item[i].status, "error") == 0;
    }
    begin(to, errors ? "bad" : "plain");
    html_format(to, "%zu cases gave %llu results on %s", r->g.count - none, runs,
                gathered_machine(&r->g));
    if (none > errors)
        html_format(to, "; %zu cases are unsupported", none - errors);
    if (errors)
        html_format(to, "; %zu cases failed", errors);
    text_add(to, ".");
    end(to);
}

static void say_bound(struct text *to, const struct report *r)
{
    const struct gathered_case *closest = NULL;
    size_t bounded = 0, broken = 0;
    for (size_t i = 0; i < r->g.count; i++) {
        const struct gathered_case *c = &r->g.item[i];
        if (!c->err_over_bound.known)
            continue;
        bounded++;
        broken += !(c->err_over_bound.value <= 1);
        if (!closest || figure_worse(c->err_over_bound.value, closest->err_over_bound.value))
            closest = c;
    }
    if (!closest)
        return;
    begin(to, broken ? "bad" : "good");
    if (broken)
        html_format(to, "In %zu of %zu cases a result breaks its method's error bound, the worst ",
                    broken, bounded);
    if (broken && isfinite(closest->err_over_bound.value))
        html_format(to, "by %.3g times (", closest->err_over_bound.value);
    else if (broken)
        text_add(to, "with a result that is not finite (");
    else
        html_format(to,
                    "No result breaks its method's error bound in the %zu cases that have one; "
                    "the closest came to %.3g of it (",
                    bounded, closest->err_over_bound.value);
    add_case(to, closest);
    text_add(to, ").");
    end(to);
}

/* Which promises were broken, and how much the results without one vary. */
static void say_distinct(struct text *to, const struct report *r)
{
    const struct gathered_case *most = NULL, *broken = NULL;
    size_t kept = 0, breaks = 0;
    uint64_t runs = 0;
    for (size_t i = 0; i < r->g.count; i++) {
        const struct gathered_case *c = &r->g.item[i];
        if (c->runs < 2)
            continue;
        most = !most || c->distinct > most->distinct ? c : most;
        if (c->promise < PROMISE_RUN_TO_RUN)
            continue;
        breaks += c->distinct > 1;
        broken = c->distinct > 1 && !broken ? c : broken;
        kept += c->distinct == 1;
        runs = c->distinct == 1 && c->runs > runs ? c->runs : runs;
    }
    if (broken) {
        begin(to, "bad");
        html_format(to,
                    "%zu cases of methods that promise the same bits from run to run gave "
                    "several results, the first ",
                    breaks);
        add_case(to, broken);
        html_format(to, ": %zu in %llu runs.", broken->distinct, (unsigned long long)broken->runs);
        end(to);
    }
    if (kept) {
        begin(to, "good");
        html_format(to,
                    "%zu cases of methods that promise the same bits from run to run gave one "
                    "result each, in up to %llu runs.",
                    kept, (unsigned long long)runs);
        end(to);
    }
    if (most && most->distinct > 1) {
        begin(to, "plain");
        html_format(to, "The most different results: %zu in %llu runs (", most->distinct,
                    (unsigned long long)most->runs);
        add_case(to, most);
        text_add(to, ").");
        end(to);
    }
}

/* Of the formats of most interest the first cliff and the last. */
static void say_cliffs(struct text *to, const struct report *r)
{
    const struct gathered_case *pair = report_first_pair(r, NULL), *first = NULL, *last = NULL;
    double first_cliff = INFINITY, last_cliff = -INFINITY, most = -INFINITY;
    for (size_t i = 0; pair && report_has_conditions(r) && i < r->g.count; i++) {
        const struct gathered_case *c = &r->g.item[i];
        if (strcmp(c->field[CASE_STORAGE], pair->field[CASE_STORAGE]) != 0 ||
            strcmp(c->field[CASE_ACCUMULATOR], pair->field[CASE_ACCUMULATOR]) != 0)
            continue;
        double tried, cliff = report_cliff(r, c, &tried);
        if (tried > 0 && cliff < first_cliff) {
            first = c;
            first_cliff = cliff;
        }
        if (tried > 0 && cliff > last_cliff) {
            last = c;
            last_cliff = cliff;
        }
        most = fmax(most, tried);
    }
    if (!first || !last || isinf(first_cliff))
        return;
    begin(to, "plain");
    html_format(to, "%s added in %s: %s has no digit right from a condition number of 2^%.0f on, ",
                pair->field[CASE_STORAGE], pair->field[CASE_ACCUMULATOR], first->field[CASE_METHOD],
                first_cliff);
    if (isinf(last_cliff))
        html_format(to, "%s still has some at 2^%.0f, the largest tried.", last->field[CASE_METHOD],
                    most);
    else
        html_format(to, "the last to lose all is %s, at 2^%.0f.", last->field[CASE_METHOD],
                    last_cliff);
    end(to);
}

static void say_recommended(struct text *to, const struct report *r)
{
    const struct report_candidate *best = NULL;
    for (size_t i = 0; i < r->candidates; i++)
        best = r->candidate[i].recommended ? &r->candidate[i] : best;
    if (r->candidates == 0)
        return;
    begin(to, best ? "good" : "bad");
    if (!best)
        html_format(to, "None of %zu candidates holds the error allowed.", r->candidates);
    else if (best->most.known && best->limit.known)
        html_format(to,
                    "Recommended of %zu candidates: %s; its largest error on %s arrays is %.3g "
                    "(%s) where %.3g is allowed.",
                    r->candidates, best->name, best->arrays, best->most.value, best->quantity,
                    best->limit.value);
    end(to);
}

void report_findings(struct text *to, const struct report *r)
{
    text_add(to, "<section id=\"findings\"><h2>Findings</h2>\n<ul>\n");
    report_trial_findings(to, r);
    say_recommended(to, r);
    say_bound(to, r);
    say_distinct(to, r);
    report_error_findings(to, r);
    say_cliffs(to, r);
    report_cost_findings(to, r);
    report_atomics_findings(to, r);
    if (r->g.count > 0)
        say_size(to, r);
    text_add(to, "</ul></section>\n");
}
