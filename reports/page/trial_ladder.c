/* The ladder of `run trial`, drawn: a row for each subject, a column for each rung. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "reports/page/trial.h"

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
    {"allreduce/", "sums over ranks"},
    {"reduce_scatter/", "sums over ranks"},
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
static void write_cell(struct plot *plot, const struct page *r, const struct trial_subject *s,
                       size_t rung, size_t place)
{
    static const unsigned colour[2][2] = {{0xa6cee3, 0xfdd0a2}, {0x00639b, 0xa63700}};
    size_t row = s->row[rung] - 1;
    bool kept = trial_verdict_is(r, row, "kept"), broken = trial_verdict_is(r, row, "broken"),
         promised = trial_promises(r, s, rung);
    text_format(&plot->data, "%zu %zu %u %u ", rung < PROMISES ? rung : (size_t)PROMISES, place,
                kept || broken ? colour[promised][broken] : 0xc4c4c4,
                promised && (kept || broken) ? 0xffffff : 1);
    if (broken)
        text_format(&plot->data, "%s/%s\n", page_cell(&r->trial, row, CHECK_DIFFERING),
                    page_cell(&r->trial, row, CHECK_ATTEMPTS));
    else
        text_format(&plot->data, "%s\n",
                    kept                                 ? page_cell(&r->trial, row, CHECK_ATTEMPTS)
                    : trial_verdict_is(r, row, "failed") ? "failed"
                                                         : "-");
}

static void write_rung(struct plot *plot, const struct page *r, const struct trial_subject *s,
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
static struct trial_tally tally_of(const struct page *r, const char *family)
{
    struct trial_tally tally = {0};
    for (size_t row = 0; row < r->trial.count;) {
        struct trial_subject s = trial_next(r, &row);
        char its[FAMILY_TEXT];
        family_of(its, s.method);
        if (!*family || strcmp(its, family) == 0)
            trial_count(&tally, r, &s);
    }
    return tally;
}

static bool has_beside(const struct trial_subject *s)
{
    bool has = false;
    for (size_t rung = PROMISES; rung <= ROWS; rung++)
        has |= s->row[rung] > 0;
    return has;
}

/* A subject's name without what many begin with, for which a picture has no room. */
static const char *short_name(const char *method)
{
    static const char *const begins[] = {"python:", "ulpscope.calls."};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (strncmp(method, begins[i], strlen(begins[i])) == 0)
            method += strlen(begins[i]);
    return method;
}

/* Writes the cells of a family, and their subjects' names into `names`. Returns how many. */
static size_t write_family(struct plot *plot, struct text *names, const struct page *r,
                           const char *family, bool *beside)
{
    size_t place = 0;
    for (size_t row = 0; row < r->trial.count;) {
        struct trial_subject s = trial_next(r, &row);
        struct text label = {0};
        char its[FAMILY_TEXT];
        family_of(its, s.method);
        if (strcmp(its, family) != 0 || place == SUBJECTS_MOST)
            continue;
        text_add(&label, short_name(s.method));
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
    struct trial_tally tally = tally_of(r, family);
    bool name = strpbrk(family, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != NULL; /* cuBLAS */
    text_format(&title, "%c%s: ", name ? *family : toupper((unsigned char)*family), family + 1);
    if (trial_promises_of(&tally) == 0)
        text_add(&title, "no promises");
    else
        text_format(&title, "%zu of %zu promises kept", trial_kept_of(&tally),
                    trial_promises_of(&tally));
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
        "\"any\\norder\" 3, \"correctly\\nrounded\" 4%s) scale 0 font 'sans,%d'\n"
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
        beside ? ", \"any batch\\nor ranks\" 5" : "", beside ? 9 : 11, 1 - above / height,
        below / height, beside ? "5.5" : "4.5", subjects - 1, plot->name, block, block);
    text_free(&names);
}

/* Lists the families, those with a broken promise first. Returns how many there are. */
static size_t list_families(char family[LADDERS_MOST][FAMILY_TEXT], const struct page *r)
{
    size_t count = 0;
    for (int sound = 0; sound < 2; sound++)
        for (size_t row = 0; row < r->trial.count && count < LADDERS_MOST;) {
            struct trial_subject s = trial_next(r, &row);
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
