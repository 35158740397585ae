/* What `run trial` found: which subjects keep which rung of the ladder, and what broke the others.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "reports/page/trial.h"

static size_t rung_named(const char *name)
{
    size_t rung = promise_named(name);
    return rung == PROMISES ? 0 : rung;
}

bool trial_verdict_is(const struct page *r, size_t row, const char *verdict)
{
    return strcmp(page_cell(&r->trial, row, CHECK_VERDICT), verdict) == 0;
}

struct trial_subject trial_next(const struct page *r, size_t *row)
{
    struct trial_subject s = {.method = page_cell(&r->trial, *row, CHECK_METHOD),
                              .device = page_cell(&r->trial, *row, CHECK_ON),
                              .promise = page_cell(&r->trial, *row, CHECK_PROMISE),
                              .kept = page_cell(&r->trial, *row, CHECK_KEEPS)};
    s.rung = rung_named(s.promise);
    for (;
         *row < r->trial.count && strcmp(s.method, page_cell(&r->trial, *row, CHECK_METHOD)) == 0 &&
         strcmp(s.device, page_cell(&r->trial, *row, CHECK_ON)) == 0;
         ++*row)
        s.row[rung_named(page_cell(&r->trial, *row, CHECK_RUNG))] = *row + 1;
    return s;
}

bool trial_promises(const struct page *r, const struct trial_subject *s, size_t rung)
{
    return rung < PROMISES
               ? rung <= s->rung
               : s->row[rung] &&
                     strcmp(page_cell(&r->trial, s->row[rung] - 1, CHECK_PROMISED), "1") == 0;
}

/* The first rung that it promises and that is broken; 0: none. */
static size_t broken_rung(const struct page *r, const struct trial_subject *s)
{
    for (size_t rung = 1; rung <= ROWS; rung++)
        if (trial_promises(r, s, rung) && s->row[rung] &&
            trial_verdict_is(r, s->row[rung] - 1, "broken"))
            return rung;
    return 0;
}

/* --- sentences --- */

static void say_broken(struct text *to, const struct page *r, const struct trial_subject *s,
                       size_t rung)
{
    const struct page_rows *t = &r->trial;
    size_t row = s->row[rung] - 1;
    html_format(to, "%s promises %s and does not keep it: %s of %s attempts gave other bits. ",
                s->method, promise_name[rung], page_cell(t, row, CHECK_DIFFERING),
                page_cell(t, row, CHECK_ATTEMPTS));
    page_formats(to, page_cell(t, row, CHECK_STORAGE), page_cell(t, row, CHECK_ACCUMULATOR),
                 page_cell(t, row, CHECK_ADDED_IN), ", ");
    html_format(to, "%s, n = %s: %s (%s), %s (%s).", page_cell(t, row, CHECK_INPUT),
                page_cell(t, row, CHECK_N), page_cell(t, row, CHECK_BITS),
                page_cell(t, row, CHECK_IS), page_cell(t, row, CHECK_OTHER_BITS),
                page_cell(t, row, CHECK_OTHER_IS));
}

/* The first rung that it promises and that is neither kept nor broken; 0: none. */
static size_t untried_rung(const struct page *r, const struct trial_subject *s)
{
    for (size_t rung = 1; rung <= ROWS; rung++)
        if (trial_promises(r, s, rung) &&
            (!s->row[rung] || !(trial_verdict_is(r, s->row[rung] - 1, "kept") ||
                                trial_verdict_is(r, s->row[rung] - 1, "broken"))))
            return rung;
    return 0;
}

size_t trial_promises_of(const struct trial_tally *t)
{
    return t->subjects - t->nothing - t->untried;
}
size_t trial_kept_of(const struct trial_tally *t)
{
    return trial_promises_of(t) - t->broken - t->failed - t->in_part;
}

void trial_count(struct trial_tally *t, const struct page *r, const struct trial_subject *s)
{
    const bool whole = broken_rung(r, s) == 0 && untried_rung(r, s) == 0;
    bool failed = false, tried = false;
    size_t promised = 0;
    t->subjects++;
    for (size_t rung = 1; rung <= ROWS; rung++)
        promised += trial_promises(r, s, rung);
    for (size_t rung = 1; rung <= ROWS; rung++) {
        if (!s->row[rung])
            continue;
        size_t row = s->row[rung] - 1;
        double attempts = page_number(&r->trial, row, CHECK_ATTEMPTS);
        tried |= !trial_verdict_is(r, row, "not tried") || attempts > 0;
        if (trial_verdict_is(r, row, "failed")) {
            t->first_failed = t->first_failed ? t->first_failed : s->method;
            t->note = t->note ? t->note : page_cell(&r->trial, row, CHECK_NOTE);
            failed = true;
        }
        if (!trial_promises(r, s, rung) || !whole || isnan(attempts))
            continue;
        t->attempts += attempts;
        if (!t->least_of || attempts < t->least) {
            t->least = attempts;
            t->least_of = s->method;
            t->least_rung = promise_name[rung];
        }
    }
    size_t untried = untried_rung(r, s);
    if (failed) {
        t->failed++;
    } else if (promised == 0 && !tried) {
        t->untried++;
        if (!t->first_untried && s->row[PROMISE_RUN_TO_RUN]) {
            t->first_untried = s->method;
            t->untried_for = page_cell(&r->trial, s->row[PROMISE_RUN_TO_RUN] - 1, CHECK_REASON_IS);
        }
    } else if (promised == 0) {
        t->nothing++;
    } else if (broken_rung(r, s) > 0) {
        t->broken++;
    } else if (untried > 0) {
        t->in_part++;
        if (!t->first_in_part) {
            t->first_in_part = s->method;
            t->part = promise_name[untried];
        }
    }
    if (rung_named(s->kept) <= s->rung)
        return;
    t->above++;
    if (!t->first_above) {
        t->first_above = s->method;
        t->kept_above = s->kept;
        t->promise_above = s->promise;
    }
}

static void say_kept(struct text *to, const struct trial_tally *t)
{
    if (t->least_of) {
        text_add(to, "<li class=\"good\">");
        html_format(
            to,
            "%zu of %zu promises are kept, in %.0f attempts to break them. Least tried: %s of "
            "%s, %.0f attempts, 95%% confident that fewer than %.2g%% of such runs differ.",
            trial_kept_of(t), trial_promises_of(t), t->attempts, t->least_rung, t->least_of,
            t->least, 100 * (1 - pow(0.05, 1 / t->least)));
        text_add(to, "</li>\n");
    }
    if (t->in_part) {
        text_add(to, "<li class=\"plain\">");
        html_format(to, "%zu of %zu promises %s not tried as far as promised; the first: %s of %s.",
                    t->in_part, trial_promises_of(t), t->in_part == 1 ? "was" : "were", t->part,
                    t->first_in_part);
        text_add(to, "</li>\n");
    }
    if (t->nothing) {
        text_add(to, "<li class=\"plain\">");
        html_format(to, "%zu subject%s nothing.", t->nothing,
                    t->nothing == 1 ? " promises" : "s promise");
        text_add(to, "</li>\n");
    }
    if (t->first_untried) {
        text_add(to, "<li class=\"plain\">");
        html_format(to, "%zu of %zu subjects %s not tried; the first, %s: %s", t->untried,
                    t->subjects, t->untried == 1 ? "was" : "were", t->first_untried,
                    t->untried_for);
        text_add(to, "</li>\n");
    }
    if (t->above) {
        text_add(to, "<li class=\"plain\">");
        html_format(to,
                    "%zu subject%s more than promised, as far as was tried here; the first: %s "
                    "promises %s and keeps %s.",
                    t->above, t->above == 1 ? " keeps" : "s keep", t->first_above, t->promise_above,
                    t->kept_above);
        text_add(to, "</li>\n");
    }
    if (t->failed) {
        text_add(to, "<li class=\"bad\">");
        html_format(to, "%zu of %zu subjects failed; the first, %s: %s", t->failed, t->subjects,
                    t->first_failed, t->note);
        text_add(to, "</li>\n");
    }
}

/* Of those that promise nothing: whose bits differed from run to run, the first few by name. */
static void say_loose(struct text *to, const struct page *r, size_t nothing)
{
    enum { NAMES = 4 };
    struct text names = {0};
    size_t loose = 0;
    for (size_t row = 0; row < r->trial.count;) {
        struct trial_subject s = trial_next(r, &row);
        const size_t own = s.row[PROMISE_RUN_TO_RUN];
        if (s.rung > 0 || own == 0 || !trial_verdict_is(r, own - 1, "broken"))
            continue;
        if (loose++ < NAMES)
            text_format(&names, "%s%s (%s of %s)", loose == 1 ? "" : ", ", s.method,
                        page_cell(&r->trial, own - 1, CHECK_DIFFERING),
                        page_cell(&r->trial, own - 1, CHECK_ATTEMPTS));
    }
    if (loose > NAMES)
        text_format(&names, " and %zu more", loose - NAMES);
    if (loose > 0 && text_string(&names)) {
        text_add(to, "<li class=\"plain\">");
        html_format(to, "%zu of %zu subject%s nothing gave other bits run after run: %s.", loose,
                    nothing, nothing == 1 ? " that promises" : "s that promise",
                    text_string(&names));
        text_add(to, "</li>\n");
    }
    text_free(&names);
}

void page_trial_findings(struct text *to, const struct page *r)
{
    struct trial_tally tally = {0};
    for (size_t row = 0; row < r->trial.count;) {
        struct trial_subject s = trial_next(r, &row);
        size_t rung = broken_rung(r, &s);
        trial_count(&tally, r, &s);
        if (rung == 0)
            continue;
        text_add(to, "<li class=\"bad\">");
        say_broken(to, r, &s, rung);
        text_add(to, "</li>\n");
    }
    say_loose(to, r, tally.nothing);
    if (tally.subjects > 0)
        say_kept(to, &tally);
}

/* --- tables --- */

static void rung_cell(struct html_table *t, const struct page *r, size_t row)
{
    if (row == 0)
        html_cell(t, "%s", "");
    else if (trial_verdict_is(r, row - 1, "broken") &&
             page_number(&r->trial, row - 1, CHECK_DIFFERING) == 0)
        html_cell(t, "broken below");
    else if (trial_verdict_is(r, row - 1, "broken"))
        html_cell(t, "broken %s/%s", page_cell(&r->trial, row - 1, CHECK_DIFFERING),
                  page_cell(&r->trial, row - 1, CHECK_ATTEMPTS));
    else if (trial_verdict_is(r, row - 1, "kept"))
        html_cell(t, "kept %s", page_cell(&r->trial, row - 1, CHECK_ATTEMPTS));
    else
        html_cell(t, "%s", page_cell(&r->trial, row - 1, CHECK_VERDICT));
}

static void add_witnesses(struct text *to, const struct page *r)
{
    /* Formats, input and length are in the command. */
    static const enum check_column column[] = {CHECK_METHOD,   CHECK_RUNG,   CHECK_BROKEN_BY,
                                               CHECK_BITS,     CHECK_IS,     CHECK_OTHER_BITS,
                                               CHECK_OTHER_IS, CHECK_COMMAND};
    struct html_table t;
    text_add(to, "<details><summary>What broke each rung: two results of the smallest input that "
                 "shows it, and the command that shows it again</summary>\n");
    html_table_begin(&t, to, "llllllll");
    for (size_t k = 0; k < sizeof column / sizeof *column; k++)
        html_cell(&t, "%s", check_column(column[k])->name);
    for (size_t row = 0; row < r->trial.count; row++)
        for (size_t k = 0;
             *page_cell(&r->trial, row, CHECK_COMMAND) && k < sizeof column / sizeof *column; k++)
            html_cell(&t, "%s", page_cell(&r->trial, row, column[k]));
    html_table_end(&t);
    text_add(to, "</details>\n");
}

void page_subjects(struct text *to, const struct page *r)
{
    struct html_table t;
    bool any = false; /* of what has promises beside the ladder */
    for (size_t row = 0; row < r->trial.count; row++)
        any |= rung_named(page_cell(&r->trial, row, CHECK_RUNG)) > PROMISES;
    if (r->trial.count == 0)
        return;
    text_add(to, "<section id=\"subjects\"><h2>Subjects</h2>\n<p>Of each rung the number of "
                 "attempts that it was kept in, or how many of them broke it.</p>\n");
    html_table_begin(&t, to, any ? "llllllllll" : "llllllll");
    html_cell(&t, "method");
    html_cell(&t, "device");
    html_cell(&t, "promises");
    html_cell(&t, "keeps");
    for (size_t rung = 1; rung <= (any ? ROWS : RUNGS); rung++)
        if (rung != PROMISES)
            html_cell(&t, "%s", promise_name[rung]);
    for (size_t row = 0; row < r->trial.count;) {
        struct trial_subject s = trial_next(r, &row);
        html_cell(&t, "%s", s.method);
        html_cell(&t, "%s", s.device);
        html_cell(&t, "%s", s.promise);
        html_cell(&t, "%s", s.kept);
        for (size_t rung = 1; rung <= (any ? ROWS : RUNGS); rung++)
            if (rung != PROMISES)
                rung_cell(&t, r, s.row[rung]);
    }
    html_table_end(&t);
    add_witnesses(to, r);
    text_add(to, "</section>\n");
}
