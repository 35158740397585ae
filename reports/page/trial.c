/* What `run trial` found: which subjects keep which rung of the ladder, and what broke the others.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "reports/page/report.h"

enum { RUNGS = PROMISES - 1, ROWS = PROMISES_ALL - 1 };

/* A subject: its rows stand together, a rung each. */
struct subject {
    const char *method, *device, *promise, *kept;
    size_t rung;          /* that it promises: 0 none */
    size_t row[ROWS + 1]; /* of each rung, and beside the ladder, one behind its place; 0: none */
};

static size_t rung_named(const char *name)
{
    size_t rung = promise_named(name);
    return rung == PROMISES ? 0 : rung;
}

/* Has the row this verdict? */
static bool verdict_is(const struct page *r, size_t row, const char *verdict)
{
    return strcmp(page_cell(&r->trial, row, CHECK_VERDICT), verdict) == 0;
}

/* The subject whose first row is at *row, which becomes that of the next. */
static struct subject subject_next(const struct page *r, size_t *row)
{
    struct subject s = {.method = page_cell(&r->trial, *row, CHECK_METHOD),
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

/* Does it promise this? A column that older files do not have says so beside the ladder. */
static bool promises(const struct page *r, const struct subject *s, size_t rung)
{
    return rung < PROMISES
               ? rung <= s->rung
               : s->row[rung] &&
                     strcmp(page_cell(&r->trial, s->row[rung] - 1, CHECK_PROMISED), "1") == 0;
}

/* The first rung that it promises and that is broken; 0: none. */
static size_t broken_rung(const struct page *r, const struct subject *s)
{
    for (size_t rung = 1; rung <= ROWS; rung++)
        if (promises(r, s, rung) && s->row[rung] && verdict_is(r, s->row[rung] - 1, "broken"))
            return rung;
    return 0;
}

/* --- sentences --- */

static void say_broken(struct text *to, const struct page *r, const struct subject *s, size_t rung)
{
    const struct page_rows *t = &r->trial;
    size_t row = s->row[rung] - 1;
    html_format(
        to,
        "%s promises %s and does not keep it: %s of %s attempts gave other bits. %s added in "
        "%s, %s, n = %s: %s (%s), %s (%s).",
        s->method, promise_name[rung], page_cell(t, row, CHECK_DIFFERING),
        page_cell(t, row, CHECK_ATTEMPTS), page_cell(t, row, CHECK_STORAGE),
        page_cell(t, row, CHECK_ACCUMULATOR), page_cell(t, row, CHECK_INPUT),
        page_cell(t, row, CHECK_N), page_cell(t, row, CHECK_BITS), page_cell(t, row, CHECK_IS),
        page_cell(t, row, CHECK_OTHER_BITS), page_cell(t, row, CHECK_OTHER_IS));
}

struct tally {
    size_t subjects, broken, failed, above;
    size_t nothing, in_part; /* that promise nothing; of whose promise a part is not tried */
    const char *first_in_part, *part;
    double attempts, least; /* of promised rungs that are kept; the least of one */
    const char *first_above, *kept_above, *promise_above, *least_of, *least_rung, *first_failed,
        *note;
};

/* The first rung that it promises and that is neither kept nor broken; 0: none. */
static size_t untried_rung(const struct page *r, const struct subject *s)
{
    for (size_t rung = 1; rung <= ROWS; rung++)
        if (promises(r, s, rung) && (!s->row[rung] || !(verdict_is(r, s->row[rung] - 1, "kept") ||
                                                        verdict_is(r, s->row[rung] - 1, "broken"))))
            return rung;
    return 0;
}

/* Promises that were kept, all of their rungs, of how many. */
static size_t promises_of(const struct tally *t)
{
    return t->subjects - t->nothing;
}
static size_t kept_of(const struct tally *t)
{
    return promises_of(t) - t->broken - t->failed - t->in_part;
}

static void count_subject(struct tally *t, const struct page *r, const struct subject *s)
{
    const bool whole = broken_rung(r, s) == 0 && untried_rung(r, s) == 0;
    bool failed = false;
    size_t promised = 0;
    t->subjects++;
    for (size_t rung = 1; rung <= ROWS; rung++)
        promised += promises(r, s, rung);
    for (size_t rung = 1; rung <= ROWS; rung++) {
        if (!s->row[rung])
            continue;
        size_t row = s->row[rung] - 1;
        double attempts = page_number(&r->trial, row, CHECK_ATTEMPTS);
        if (verdict_is(r, row, "failed")) {
            t->first_failed = t->first_failed ? t->first_failed : s->method;
            t->note = t->note ? t->note : page_cell(&r->trial, row, CHECK_NOTE);
            failed = true;
        }
        if (!promises(r, s, rung) || !whole || isnan(attempts))
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

static void say_kept(struct text *to, const struct tally *t)
{
    if (t->least_of) {
        text_add(to, "<li class=\"good\">");
        html_format(
            to,
            "%zu of %zu promises are kept, in %.0f attempts to break them. Least tried: %s of "
            "%s, %.0f attempts, 95%% confident that fewer than %.2g%% of such runs differ.",
            kept_of(t), promises_of(t), t->attempts, t->least_rung, t->least_of, t->least,
            100 * (1 - pow(0.05, 1 / t->least)));
        text_add(to, "</li>\n");
    }
    if (t->in_part) {
        text_add(to, "<li class=\"plain\">");
        html_format(to, "%zu of %zu promises %s not tried as far as promised; the first: %s of %s.",
                    t->in_part, promises_of(t), t->in_part == 1 ? "was" : "were", t->part,
                    t->first_in_part);
        text_add(to, "</li>\n");
    }
    if (t->nothing) {
        text_add(to, "<li class=\"plain\">");
        html_format(to, "%zu subject%s nothing.", t->nothing,
                    t->nothing == 1 ? " promises" : "s promise");
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

void page_trial_findings(struct text *to, const struct page *r)
{
    struct tally tally = {0};
    for (size_t row = 0; row < r->trial.count;) {
        struct subject s = subject_next(r, &row);
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

static void rung_cell(struct html_table *t, const struct page *r, size_t row)
{
    if (row == 0)
        html_cell(t, "%s", "");
    else if (verdict_is(r, row - 1, "broken") &&
             page_number(&r->trial, row - 1, CHECK_DIFFERING) == 0)
        html_cell(t, "broken below");
    else if (verdict_is(r, row - 1, "broken"))
        html_cell(t, "broken %s/%s", page_cell(&r->trial, row - 1, CHECK_DIFFERING),
                  page_cell(&r->trial, row - 1, CHECK_ATTEMPTS));
    else if (verdict_is(r, row - 1, "kept"))
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
        struct subject s = subject_next(r, &row);
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

/* --- Subjects against the rungs of the ladder: a map of what `run trial` found --- */

enum { SUBJECTS_MOST = 40, FAMILY_TEXT = 40, LADDERS_MOST = 16 };

/* Families that share a panel, by the names of methods up to the slash; what
 * begins so does too. Others have one of their own. */
static const struct {
    const char *begins, *panel;
} shared[] = {
    {"sum/", "sums"},
    {"scan/", "scans"},
    {"dot/", "dot products"},
    {"cub/", "CUB"},
    {"thrust/", "Thrust"},
    {"cublas/", "cuBLAS"},
    {"norm/", "norms, means and variances"},
    {"asum/", "norms, means and variances"},
    {"mean/", "norms, means and variances"},
    {"variance/", "norms, means and variances"},
    {"product/", "products and extrema"},
    {"minimum", "products and extrema"},
    {"maximum", "products and extrema"},
    {"argm", "products and extrema"},
    {"scatter/", "scatter-adds, rows and moves"},
    {"rows/", "scatter-adds, rows and moves"},
    {"transpose/", "scatter-adds, rows and moves"},
    {"compact/", "scatter-adds, rows and moves"},
    {"gemm/", "matrix products"},
    {"allreduce/", "all-reduces"},
};

/* Which panel a method stands in; subjects that are not ours are all alike. */
static void family_of(char family[FAMILY_TEXT], const char *method)
{
    size_t length = strcspn(method, "/") + 1;
    bool ours = method_named(method) || strncmp(method, "cub/", 4) == 0 ||
                strncmp(method, "thrust/", 7) == 0 || strncmp(method, "cublas/", 7) == 0;
    snprintf(family, FAMILY_TEXT, "%.*s", ours ? (int)length : 14,
             ours ? method : "Other subjects");
    for (size_t i = 0; ours && i < sizeof shared / sizeof *shared; i++)
        if (strncmp(method, shared[i].begins, strlen(shared[i].begins)) == 0)
            snprintf(family, FAMILY_TEXT, "%s", shared[i].panel);
}

/* Colour of the cell, and of what is written in it. */
static void write_cell(struct plot *plot, const struct page *r, const struct subject *s,
                       size_t rung, size_t place)
{
    static const unsigned colour[2][2] = {{0xa6cee3, 0xfdd0a2}, {0x00639b, 0xa63700}};
    size_t row = s->row[rung] - 1;
    bool kept = verdict_is(r, row, "kept"), broken = verdict_is(r, row, "broken"),
         promised = promises(r, s, rung);
    text_format(&plot->data, "%zu %zu %u %u ", rung < PROMISES ? rung : (size_t)PROMISES, place,
                kept || broken ? colour[promised][broken] : 0xc4c4c4,
                promised && (kept || broken) ? 0xffffff : 1);
    if (broken)
        text_format(&plot->data, "%s/%s\n", page_cell(&r->trial, row, CHECK_DIFFERING),
                    page_cell(&r->trial, row, CHECK_ATTEMPTS));
    else
        text_format(&plot->data, "%s\n",
                    kept                           ? page_cell(&r->trial, row, CHECK_ATTEMPTS)
                    : verdict_is(r, row, "failed") ? "failed"
                                                   : "-");
}

static void write_rung(struct plot *plot, const struct page *r, const struct subject *s,
                       size_t rung)
{
    static const enum check_column column[] = {CHECK_METHOD,  CHECK_ON,      CHECK_PROMISE,
                                               CHECK_RUNG,    CHECK_VERDICT, CHECK_DIFFERING,
                                               CHECK_ATTEMPTS};
    if (!s->row[rung])
        return;
    for (size_t i = 0; i < sizeof column / sizeof *column; i++)
        plot_cell(plot, page_cell(&r->trial, s->row[rung] - 1, column[i]));
    plot_row_end(plot);
}

/* Of a family; "": of all. */
static struct tally tally_of(const struct page *r, const char *family)
{
    struct tally tally = {0};
    for (size_t row = 0; row < r->trial.count;) {
        struct subject s = subject_next(r, &row);
        char its[FAMILY_TEXT];
        family_of(its, s.method);
        if (!*family || strcmp(its, family) == 0)
            count_subject(&tally, r, &s);
    }
    return tally;
}

static bool has_beside(const struct subject *s)
{
    bool has = false;
    for (size_t rung = PROMISES; rung <= ROWS; rung++)
        has |= s->row[rung] > 0;
    return has;
}

/* Writes the cells of a family, and their subjects' names into `names`. Returns how many. */
static size_t write_family(struct plot *plot, struct text *names, const struct page *r,
                           const char *family, bool *beside)
{
    size_t place = 0;
    for (size_t row = 0; row < r->trial.count;) {
        struct subject s = subject_next(r, &row);
        struct text label = {0};
        char its[FAMILY_TEXT];
        family_of(its, s.method);
        if (strcmp(its, family) != 0 || place == SUBJECTS_MOST)
            continue;
        text_add(&label, s.method);
        if (r->several_devices)
            text_format(&label, ", %s", s.device);
        for (size_t rung = 1; rung <= ROWS; rung++)
            write_rung(plot, r, &s, rung);
        text_add(names, place ? ", " : "");
        plot_label(names, text_string(&label) ? text_string(&label) : "", 22);
        text_format(names, " %zu", place);
        for (size_t rung = 1; rung <= ROWS; rung++)
            if (s.row[rung])
                write_cell(plot, r, &s, rung, place);
        *beside |= has_beside(&s);
        text_free(&label);
        place++;
    }
    return place;
}

static void draw_family(struct plot *plot, const struct page *r, const char *family)
{
    struct text names = {0}, title = {0};
    text_format(&plot->data, "# %s: rung, subject, colours of cell and text, attempts\n", family);
    bool beside = false; /* a fifth column */
    size_t subjects = write_family(plot, &names, r, family, &beside), block = plot_data_end(plot);
    struct tally tally = tally_of(r, family);
    bool name = strpbrk(family, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != NULL; /* cuBLAS */
    text_format(&title, "%c%s: ", name ? *family : toupper((unsigned char)*family), family + 1);
    if (promises_of(&tally) == 0)
        text_add(&title, "no promises");
    else
        text_format(&title, "%zu of %zu promises kept", kept_of(&tally), promises_of(&tally));
    if (tally.broken)
        text_format(&title, ", %zu broken", tally.broken);
    if (tally.in_part)
        text_format(&title, ", %zu not tried in full", tally.in_part);
    const double above = 10, below = 70, height = above + 22 * (double)subjects + below;
    plot_panel(plot, height, text_string(&title) ? text_string(&title) : "");
    text_free(&title);
    text_add(&plot->script, "unset key\nunset grid\nset ytics (");
    text_join(&plot->script, &names);
    text_format(
        &plot->script,
        ") noenhanced scale 0 font 'sans,11'\nset xtics (\"run\\nto run\" 1, \"GPU\\nto GPU\" 2, "
        "\"any\\norder\" 3, \"correctly\\nrounded\" 4%s) scale 0 font 'sans,11'\n"
        "set lmargin at screen 0.4\nset rmargin at screen 0.99\nset tmargin at screen %.4f\n"
        "set bmargin at screen %.4f\n"
        "set xlabel 'dark: promised. blue: held in N attempts. orange: k of N differed' offset "
        "screen -0.2, character -0.6 \\\n"
        "    font 'sans,11'\nset xrange [0.5 : "
        "%s]\n"
        "set yrange [%zu.5 : -0.5]\n"
        "plot '%s.dat' index %zu using 1:2:(0.49):(0.45):3 with boxxyerror fillstyle solid \\\n"
        "    noborder linecolor rgb variable, \\\n"
        "    '' index %zu using 1:2:(stringcolumn(5)):4 with labels textcolor rgb variable \\\n"
        "    font 'sans,10'\n",
        beside ? ", \"any batch,\\nany ranks\" 5" : "", 1 - above / height, below / height,
        beside ? "5.5" : "4.5", subjects - 1, plot->name, block, block);
    text_free(&names);
}

/* Lists the families, those with a broken promise first. Returns how many there are. */
static size_t list_families(char family[LADDERS_MOST][FAMILY_TEXT], const struct page *r)
{
    size_t count = 0;
    for (int sound = 0; sound < 2; sound++)
        for (size_t row = 0; row < r->trial.count && count < LADDERS_MOST;) {
            struct subject s = subject_next(r, &row);
            char its[FAMILY_TEXT];
            size_t i = 0;
            family_of(its, s.method);
            while (i < count && strcmp(family[i], its) != 0)
                i++;
            if (i == count && (tally_of(r, its).broken == 0) == sound)
                memcpy(family[count++], its, sizeof its);
        }
    return count;
}

enum status page_trial(struct page *r, struct problem *p)
{
    struct plot plot;
    char family[LADDERS_MOST][FAMILY_TEXT];
    size_t families = list_families(family, r);
    plot_begin(&plot, "ladder", "method,device,promise,rung,verdict,differing,attempts");
    for (size_t i = 0; i < families; i++)
        draw_family(&plot, r, family[i]);
    return plot_end(
        &plot, r, "Promises, kept and broken",
        "Rows are subjects, columns the rungs of the ladder: the same bits run after run; in every "
        "launch shape and on every device; for every order of the elements; the exact sum, rounded "
        "once. Dark: promised. Pale: not promised. Blue: held in N attempts. Orange: k/N attempts "
        "differed; dark orange is a broken promise. 0/N: none of these differed, but a rung to the "
        "left "
        "is broken, and with it this one.",
        p);
}
