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

/* What is wrong whatever it promises. */
static void say_exceeds(struct text *to, const struct page *r, const struct trial_subject *s)
{
    const size_t row = s->row[PROMISE_CORRECTLY_ROUNDED];
    const double cases = row ? page_number(&r->trial, row - 1, CHECK_EXCEEDING) : 0;
    /* How it adds is not known, so only what is not finite is held to it. */
    const bool foreign =
        row && strcmp(page_cell(&r->trial, row - 1, CHECK_ADDED_IN), "unknown") == 0;
    if (!(cases > 0))
        return;
    text_add(to, "<li class=\"bad\">");
    html_format(
        to,
        "%s breaks its error bound: in %s case%s a result %sis not finite where nothing can "
        "overflow.",
        s->method, page_cell(&r->trial, row - 1, CHECK_EXCEEDING), cases > 1 ? "s" : "",
        foreign ? "" : "exceeds it, or ");
    text_add(to, "</li>\n");
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
    return t->promises;
}
size_t trial_kept_of(const struct trial_tally *t)
{
    return t->promises - t->broken - t->failed_promises - t->in_part;
}

/* Of two rows the one with fewer attempts; 0: none so far. */
static size_t less_tried(const struct page *r, size_t one, size_t other)
{
    return one && !(page_number(&r->trial, other - 1, CHECK_ATTEMPTS) <
                    page_number(&r->trial, one - 1, CHECK_ATTEMPTS))
               ? one
               : other;
}

/* Of what promises nothing: are its bits the same run after run? */
static void count_nothing(struct trial_tally *t, const struct page *r,
                          const struct trial_subject *s)
{
    const size_t row = s->row[PROMISE_RUN_TO_RUN];
    t->nothing++;
    if (row && trial_verdict_is(r, row - 1, "broken"))
        t->loose++;
    if (row && trial_verdict_is(r, row - 1, "kept")) {
        t->steady++;
        t->least_steady = less_tried(r, t->least_steady, row);
    }
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
        t->least = less_tried(r, t->least, row + 1);
    }
    size_t untried = untried_rung(r, s);
    t->promises += promised > 0;
    if (failed) {
        t->failed++;
        t->failed_promises += promised > 0;
    } else if (promised == 0 && !tried) {
        t->untried++;
        if (!t->first_untried && s->row[PROMISE_RUN_TO_RUN]) {
            t->first_untried = s->method;
            t->untried_for = page_cell(&r->trial, s->row[PROMISE_RUN_TO_RUN] - 1, CHECK_REASON_IS);
        }
    } else if (promised == 0) {
        count_nothing(t, r, s);
    } else if (broken_rung(r, s) > 0) {
        t->broken++;
    } else if (untried > 0) {
        t->in_part++;
        if (!t->first_in_part) {
            t->first_in_part = s->method;
            t->part = promise_name[untried];
            t->part_attempts =
                s->row[untried] ? page_number(&r->trial, s->row[untried] - 1, CHECK_ATTEMPTS) : NAN;
        }
    }
    const size_t kept = s->row[rung_named(s->kept)];
    if (rung_named(s->kept) <= s->rung || kept == 0)
        return;
    t->above++;
    if (t->above == 1) {
        t->first_above = kept;
        t->promise_above = s->promise;
    }
    t->least_above = less_tried(r, t->least_above, kept);
}

/* What a kind of attempt varies, in words; others have a word for a name. */
static const char *varied(const char *kind)
{
    static const char *const words[][2] = {
        {"repeat", "run after run"},     {"process", "fresh processes"},
        {"load", "under load"},          {"shape", "launch shape"},
        {"offset", "alignment"},         {"device", "other device"},
        {"neighbour", "memory around"},  {"environment", "number of threads"},
        {"after", "after other lengths"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(kind, words[i][0]) == 0)
            return words[i][1];
    return kind;
}

/* "RUNG in 82 attempts (number of threads 1, alignment 81; on this CPU: no other device runs it)":
 * a verdict is no wider than that. */
static void say_row(struct text *to, const struct page *r, size_t row)
{
    const char *tried = page_cell(&r->trial, row, CHECK_TRIED),
               *reason = page_cell(&r->trial, row, CHECK_REASON_IS),
               *attempts = page_cell(&r->trial, row, CHECK_ATTEMPTS);
    html_format(to, "%s in %s attempts", page_cell(&r->trial, row, CHECK_RUNG), attempts);
    text_add(to, *tried || *reason ? " (" : "");
    for (const char *at = tried; *at;) {
        char kind[32];
        const size_t name = strcspn(at, " ,"), all = strcspn(at, ",");
        snprintf(kind, sizeof kind, "%.*s", (int)name, at);
        html_format(to, "%s%s%.*s", at > tried ? ", " : "", varied(kind), (int)(all - name),
                    at + name);
        at += all;
        at += strspn(at, ", ");
    }
    html_format(to, "%s%s", *tried && *reason ? "; " : "", reason);
    text_add(to, *tried || *reason ? ")" : "");
}

/* "run_to_run of sum/tiled, 46 attempts, 95% confident that fewer than 6.3% of such runs differ."
 * Launch shapes, orders and inputs are not drawn alike: of those there is no percentage. */
static void say_least(struct text *to, const struct page *r, size_t row)
{
    const double attempts = page_number(&r->trial, row, CHECK_ATTEMPTS);
    const char *rung = page_cell(&r->trial, row, CHECK_RUNG);
    html_format(to, "%s of %s, %.0f attempts", rung, page_cell(&r->trial, row, CHECK_METHOD),
                attempts);
    if (rung_named(rung) == PROMISE_RUN_TO_RUN)
        html_format(to, ", 95%% confident that fewer than %.2g%% of such runs differ",
                    100 * (1 - pow(0.05, 1 / attempts)));
    text_add(to, ".");
}

static void say_kept(struct text *to, const struct page *r, const struct trial_tally *t)
{
    if (t->least) {
        text_add(to, "<li class=\"good\">");
        html_format(to,
                    "%zu of %zu promises are kept, in %.0f attempts to break them. Least tried: ",
                    trial_kept_of(t), trial_promises_of(t), t->attempts);
        say_least(to, r, t->least - 1);
        text_add(to, "</li>\n");
    }
    if (t->in_part) {
        text_add(to, "<li class=\"plain\">");
        html_format(to, "%zu of %zu promises %s not tried as far as promised; the first: %s of %s",
                    t->in_part, trial_promises_of(t), t->in_part == 1 ? "was" : "were", t->part,
                    t->first_in_part);
        if (!isnan(t->part_attempts))
            html_format(to, ", %.0f attempt%s", t->part_attempts, t->part_attempts == 1 ? "" : "s");
        text_add(to, ".</li>\n");
    }
}

static void say_others(struct text *to, const struct page *r, const struct trial_tally *t)
{
    if (t->above) {
        text_add(to, "<li class=\"plain\">");
        html_format(to,
                    "%zu subject%s more than promised, as far as was tried here; the first: %s "
                    "promises %s and keeps ",
                    t->above, t->above == 1 ? " keeps" : "s keep",
                    page_cell(&r->trial, t->first_above - 1, CHECK_METHOD), t->promise_above);
        say_row(to, r, t->first_above - 1);
        text_add(to, ".");
        if (t->least_above != t->first_above) {
            text_add(to, " Least tried: ");
            say_least(to, r, t->least_above - 1);
        }
        text_add(to, "</li>\n");
    }
    if (t->first_untried) {
        text_add(to, "<li class=\"plain\">");
        html_format(to, "%zu of %zu subjects %s not tried; the first, %s: %s", t->untried,
                    t->subjects, t->untried == 1 ? "was" : "were", t->first_untried,
                    t->untried_for);
        text_add(to, "</li>\n");
    }
    if (t->failed) {
        text_add(to, "<li class=\"bad\">");
        html_format(to, "%zu of %zu subjects failed; the first, %s: %s", t->failed, t->subjects,
                    t->first_failed, t->note);
        text_add(to, "</li>\n");
    }
}

/* "3 of 3 fresh processes" where attempts of one kind alone gave other bits and all kinds are known
 * (trial.csv of earlier versions does not say); else "3 of 13256". */
static void say_differing(struct text *to, const struct page *r, size_t row)
{
    const char *differed = page_cell(&r->trial, row, CHECK_DIFFERED),
               *tried = page_cell(&r->trial, row, CHECK_TRIED);
    char kind[32], number[32];
    if (!strchr(differed, ',') && sscanf(differed, "%31s %31s", kind, number) == 2)
        for (const char *at = tried; *at; at += strcspn(at, ","), at += strspn(at, ", "))
            if (strncmp(at, kind, strlen(kind)) == 0 && at[strlen(kind)] == ' ') {
                const char *all = at + strlen(kind) + 1;
                html_format(to, "%s: %s of %.*s", varied(kind), number, (int)strcspn(all, ","),
                            all);
                return;
            }
    html_format(to, "%s of %s", page_cell(&r->trial, row, CHECK_DIFFERING),
                page_cell(&r->trial, row, CHECK_ATTEMPTS));
}

/* Of those that promise nothing: whose bits differed from run to run, the first few by name. */
static void say_loose(struct text *to, const struct page *r, const struct trial_tally *t)
{
    enum { NAMES = 3 };
    size_t loose = 0;
    if (t->loose == 0)
        return;
    text_add(to, "<li class=\"plain\">");
    html_format(to, "%zu of %zu subject%s nothing gave other bits run after run: ", t->loose,
                t->nothing, t->nothing == 1 ? " that promises" : "s that promise");
    for (size_t row = 0; row < r->trial.count;) {
        struct trial_subject s = trial_next(r, &row);
        struct trial_tally own = {0};
        trial_count(&own, r, &s);
        if (own.loose && loose++ < NAMES) {
            html_format(to, "%s%s (", loose == 1 ? "" : ", ", s.method);
            say_differing(to, r, s.row[PROMISE_RUN_TO_RUN] - 1);
            text_add(to, ")");
        }
    }
    if (loose > NAMES)
        text_format(to, " and %zu more", loose - NAMES);
    text_add(to, ".</li>\n");
}

/* Where all of these gave the same bits. */
static void say_steady(struct text *to, const struct page *r, const struct trial_tally *t)
{
    const size_t open = t->nothing - t->steady;
    if (t->nothing == 0 || t->loose > 0)
        return;
    text_add(to, "<li class=\"plain\">");
    html_format(to, "No attempt broke run_to_run of %s%zu subject%s nothing",
                t->nothing == 1 ? "" : "any of ", t->nothing,
                t->nothing == 1 ? " that promises" : "s that promise");
    if (open > 0)
        html_format(to, "; of %zu it was not tried often enough to say that it is kept", open);
    text_add(to, ".");
    if (t->least_steady) {
        text_add(to, " Least tried: ");
        say_least(to, r, t->least_steady - 1);
    }
    text_add(to, "</li>\n");
}

void page_trial_findings(struct text *to, const struct page *r)
{
    struct trial_tally tally = {0};
    for (size_t row = 0; row < r->trial.count;) {
        struct trial_subject s = trial_next(r, &row);
        size_t rung = broken_rung(r, &s);
        trial_count(&tally, r, &s);
        say_exceeds(to, r, &s);
        if (rung == 0)
            continue;
        text_add(to, "<li class=\"bad\">");
        say_broken(to, r, &s, rung);
        text_add(to, "</li>\n");
    }
    say_loose(to, r, &tally);
    say_kept(to, r, &tally);
    say_steady(to, r, &tally);
    say_others(to, r, &tally);
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
    bool used[ROWS + 1] = {false}; /* rungs that some subject has */
    char align[4 + ROWS + 1] = "";
    bool promises = false;
    if (r->trial.count == 0)
        return;
    for (size_t row = 0; row < r->trial.count; row++) {
        used[rung_named(page_cell(&r->trial, row, CHECK_RUNG))] = true;
        promises |= rung_named(page_cell(&r->trial, row, CHECK_PROMISE)) > 0;
    }
    size_t columns = 2 + r->several_devices + promises;
    for (size_t rung = 1; rung <= ROWS; rung++)
        columns += used[rung];
    memset(align, 'l', columns);
    text_add(to, "<section id=\"subjects\"><h2>Subjects</h2>\n<p>Of each rung the number of "
                 "attempts that it was kept in, or how many of them broke it.");
    text_format(to, "%s</p>\n", promises ? "" : " No subject promises any rung of the ladder.");
    html_table_begin(&t, to, align);
    html_cell(&t, "method");
    if (r->several_devices)
        html_cell(&t, "device");
    if (promises)
        html_cell(&t, "promises");
    html_cell(&t, "keeps");
    for (size_t rung = 1; rung <= ROWS; rung++)
        if (used[rung])
            html_cell(&t, "%s", promise_name[rung]);
    for (size_t row = 0; row < r->trial.count;) {
        struct trial_subject s = trial_next(r, &row);
        html_cell(&t, "%s", s.method);
        if (r->several_devices)
            html_cell(&t, "%s", s.device);
        if (promises)
            html_cell(&t, "%s", s.promise);
        html_cell(&t, "%s", s.kept);
        for (size_t rung = 1; rung <= ROWS; rung++)
            if (used[rung])
                rung_cell(&t, r, s.row[rung]);
    }
    html_table_end(&t);
    add_witnesses(to, r);
    text_add(to, "</section>\n");
}
