/* What `run trial` found: which subjects keep which rung of the ladder, and what broke the others.
 */
#include <math.h>
#include <stdlib.h>

#include "reports/page/trial.h"

static size_t rung_named(const char *name)
{
    size_t rung = 0;
    while (rung < PROMISES && strcmp(promise_name[rung], name) != 0)
        rung++;
    return rung < PROMISES ? rung : 0;
}

bool report_trial_is(const struct report *r, size_t row, const char *verdict)
{
    return strcmp(report_cell(&r->trial, row, CHECK_VERDICT), verdict) == 0;
}

struct report_subject report_subject_next(const struct report *r, size_t *row)
{
    struct report_subject s = {.method = report_cell(&r->trial, *row, CHECK_METHOD),
                               .device = report_cell(&r->trial, *row, CHECK_ON),
                               .promise = report_cell(&r->trial, *row, CHECK_PROMISE),
                               .kept = report_cell(&r->trial, *row, CHECK_KEEPS)};
    s.rung = rung_named(s.promise);
    for (; *row < r->trial.count &&
           strcmp(s.method, report_cell(&r->trial, *row, CHECK_METHOD)) == 0 &&
           strcmp(s.device, report_cell(&r->trial, *row, CHECK_ON)) == 0;
         ++*row)
        s.row[rung_named(report_cell(&r->trial, *row, CHECK_RUNG))] = *row + 1;
    return s;
}

/* The first rung that it promises and that is broken; 0: none. */
static size_t broken_rung(const struct report *r, const struct report_subject *s)
{
    for (size_t rung = 1; rung <= s->rung; rung++)
        if (s->row[rung] && report_trial_is(r, s->row[rung] - 1, "broken"))
            return rung;
    return 0;
}

/* --- sentences --- */

static void say_broken(struct text *to, const struct report *r, const struct report_subject *s,
                       size_t rung)
{
    const struct report_rows *t = &r->trial;
    size_t row = s->row[rung] - 1;
    html_format(to,
                "%s promises %s and does not keep it: %s of %s attempts gave other bits, as %s "
                "in %s on %s, n = %s, where %s (%s) and %s (%s) are not the same.",
                s->method, promise_name[rung], report_cell(t, row, CHECK_DIFFERING),
                report_cell(t, row, CHECK_ATTEMPTS), report_cell(t, row, CHECK_STORAGE),
                report_cell(t, row, CHECK_ACCUMULATOR), report_cell(t, row, CHECK_INPUT),
                report_cell(t, row, CHECK_N), report_cell(t, row, CHECK_BITS),
                report_cell(t, row, CHECK_IS), report_cell(t, row, CHECK_OTHER_BITS),
                report_cell(t, row, CHECK_OTHER_IS));
}

struct tally {
    size_t subjects, broken, failed, above;
    double attempts, least; /* of promised rungs that are kept; the least of one */
    const char *first_above, *kept_above, *promise_above, *least_of, *least_rung, *first_failed,
        *note;
};

static void count_subject(struct tally *t, const struct report *r, const struct report_subject *s)
{
    t->subjects++;
    t->broken += broken_rung(r, s) > 0;
    bool failed = false;
    for (size_t rung = 1; rung <= RUNGS; rung++) {
        if (!s->row[rung])
            continue;
        size_t row = s->row[rung] - 1;
        double attempts = report_number(&r->trial, row, CHECK_ATTEMPTS);
        if (report_trial_is(r, row, "failed")) {
            t->first_failed = t->first_failed ? t->first_failed : s->method;
            t->note = t->note ? t->note : report_cell(&r->trial, row, CHECK_NOTE);
            failed = true;
        }
        if (rung > s->rung || !report_trial_is(r, row, "kept") || isnan(attempts))
            continue;
        t->attempts += attempts;
        if (!t->least_of || attempts < t->least) {
            t->least = attempts;
            t->least_of = s->method;
            t->least_rung = promise_name[rung];
        }
    }
    t->failed += failed;
    if (rung_named(s->kept) <= s->rung)
        return;
    t->above++;
    if (!t->first_above) {
        t->first_above = s->method;
        t->kept_above = s->kept;
        t->promise_above = s->promise;
    }
}

static void say_kept(struct text *to, const struct tally *t)
{
    if (t->least_of) {
        text_add(to, "<li class=\"good\">");
        html_format(to,
                    "%zu of %zu subjects keep what they promise, in %.0f attempts to break it. The "
                    "least tried is %s of %s, %.0f times: a variant with a probability above %.2g "
                    "would have shown with 95%% confidence.",
                    t->subjects - t->broken - t->failed, t->subjects, t->attempts, t->least_rung,
                    t->least_of, t->least, 1 - pow(0.05, 1 / t->least));
        text_add(to, "</li>\n");
    }
    if (t->above) {
        text_add(to, "<li class=\"plain\">");
        html_format(to,
                    "%zu keep more than they promise, as far as was tried here; the first: %s "
                    "promises %s and keeps %s.",
                    t->above, t->first_above, t->promise_above, t->kept_above);
        text_add(to, "</li>\n");
    }
    if (t->failed) {
        text_add(to, "<li class=\"bad\">");
        html_format(to, "%zu of %zu subjects failed; the first, %s: %s", t->failed, t->subjects,
                    t->first_failed, t->note);
        text_add(to, "</li>\n");
    }
}

void report_trial_findings(struct text *to, const struct report *r)
{
    struct tally tally = {0};
    for (size_t row = 0; row < r->trial.count;) {
        struct report_subject s = report_subject_next(r, &row);
        size_t rung = broken_rung(r, &s);
        count_subject(&tally, r, &s);
        if (rung == 0)
            continue;
        text_add(to, "<li class=\"bad\">");
        say_broken(to, r, &s, rung);
        text_add(to, "</li>\n");
    }
    if (tally.subjects > 0)
        say_kept(to, &tally);
}

/* --- tables --- */

static void rung_cell(struct html_table *t, const struct report *r, size_t row)
{
    if (row == 0)
        html_cell(t, "%s", "");
    else if (report_trial_is(r, row - 1, "broken") &&
             report_number(&r->trial, row - 1, CHECK_DIFFERING) == 0)
        html_cell(t, "broken below");
    else if (report_trial_is(r, row - 1, "broken"))
        html_cell(t, "broken %s/%s", report_cell(&r->trial, row - 1, CHECK_DIFFERING),
                  report_cell(&r->trial, row - 1, CHECK_ATTEMPTS));
    else if (report_trial_is(r, row - 1, "kept"))
        html_cell(t, "kept %s", report_cell(&r->trial, row - 1, CHECK_ATTEMPTS));
    else
        html_cell(t, "%s", report_cell(&r->trial, row - 1, CHECK_VERDICT));
}

static void add_witnesses(struct text *to, const struct report *r)
{
    static const enum check_column column[] = {
        CHECK_METHOD,      CHECK_PROMISE,  CHECK_RUNG,   CHECK_BROKEN_BY, CHECK_STORAGE,
        CHECK_ACCUMULATOR, CHECK_INPUT,    CHECK_N,      CHECK_BITS,      CHECK_IS,
        CHECK_OTHER_BITS,  CHECK_OTHER_IS, CHECK_COMMAND};
    struct html_table t;
    text_add(to, "<details><summary>What broke each rung: the smallest input that shows it, and "
                 "the command that shows it again</summary>\n");
    html_table_begin(&t, to, "lllllllrlllll");
    for (size_t k = 0; k < sizeof column / sizeof *column; k++)
        html_cell(&t, "%s", check_column(column[k])->name);
    for (size_t row = 0; row < r->trial.count; row++)
        for (size_t k = 0;
             *report_cell(&r->trial, row, CHECK_COMMAND) && k < sizeof column / sizeof *column; k++)
            html_cell(&t, "%s", report_cell(&r->trial, row, column[k]));
    html_table_end(&t);
    text_add(to, "</details>\n");
}

void report_subjects(struct text *to, const struct report *r)
{
    struct html_table t;
    if (r->trial.count == 0)
        return;
    text_add(to, "<section id=\"subjects\"><h2>Subjects</h2>\n<p>Of each rung the number of "
                 "attempts that it was kept in, or how many of them broke it.</p>\n");
    html_table_begin(&t, to, "llllllll");
    html_cell(&t, "method");
    html_cell(&t, "device");
    html_cell(&t, "promises");
    html_cell(&t, "keeps");
    for (size_t rung = 1; rung <= RUNGS; rung++)
        html_cell(&t, "%s", promise_name[rung]);
    for (size_t row = 0; row < r->trial.count;) {
        struct report_subject s = report_subject_next(r, &row);
        html_cell(&t, "%s", s.method);
        html_cell(&t, "%s", s.device);
        html_cell(&t, "%s", s.promise);
        html_cell(&t, "%s", s.kept);
        for (size_t rung = 1; rung <= RUNGS; rung++)
            rung_cell(&t, r, s.row[rung]);
    }
    html_table_end(&t);
    add_witnesses(to, r);
    text_add(to, "</section>\n");
}
