/* Subjects against the rungs of the ladder: a map of what `run trial` found. */
#include <ctype.h>
#include <stdio.h>

#include "reports/page/trial.h"

enum { SUBJECTS_MOST = 40, FAMILY_TEXT = 40, LADDERS_MOST = 16 };

/* Families that share a panel, by the names of methods up to the slash; what
 * begins so does too. Others have one of their own. */
static const struct {
    const char *begins, *panel;
} shared[] = {
    {"norm/", "norms, means and variances"},
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
static void write_cell(struct plot *plot, const struct report *r, const struct report_subject *s,
                       size_t rung, size_t place)
{
    static const unsigned colour[2][2] = {{0xa6cee3, 0xfdd0a2}, {0x0072b2, 0xb03a00}};
    size_t row = s->row[rung] - 1;
    bool kept = report_trial_is(r, row, "kept"), broken = report_trial_is(r, row, "broken"),
         promised = rung <= s->rung;
    text_format(&plot->data, "%zu %zu %u %u ", rung, place,
                kept || broken ? colour[promised][broken] : 0xbbbbbb,
                promised && (kept || broken) ? 0xffffff : 1);
    if (broken)
        text_format(&plot->data, "%s/%s\n", report_cell(&r->trial, row, CHECK_DIFFERING),
                    report_cell(&r->trial, row, CHECK_ATTEMPTS));
    else
        text_format(&plot->data, "%s\n",
                    kept ? report_cell(&r->trial, row, CHECK_ATTEMPTS)
                    : report_trial_is(r, row, "failed") ? "failed"
                                                        : "-");
}

/* Writes the cells of a family, and their subjects' names into `names`. Returns how many. */
static size_t write_family(struct plot *plot, struct text *names, const struct report *r,
                           const char *family)
{
    size_t place = 0;
    for (size_t row = 0; row < r->trial.count;) {
        struct report_subject s = report_subject_next(r, &row);
        struct text label = {0};
        char its[FAMILY_TEXT];
        family_of(its, s.method);
        if (strcmp(its, family) != 0 || place == SUBJECTS_MOST)
            continue;
        text_add(&label, s.method);
        if (r->several_devices)
            text_format(&label, ", %s", s.device);
        text_add(names, place ? ", " : "");
        plot_label(names, text_string(&label) ? text_string(&label) : "", 26);
        text_format(names, " %zu", place);
        for (size_t rung = 1; rung <= RUNGS; rung++)
            if (s.row[rung])
                write_cell(plot, r, &s, rung, place);
        text_free(&label);
        place++;
    }
    return place;
}

static void draw_family(struct plot *plot, const struct report *r, const char *family)
{
    struct text names = {0};
    char title[80];
    text_format(&plot->data, "# %s: rung, subject, colours of cell and text, attempts\n", family);
    size_t subjects = write_family(plot, &names, r, family), block = plot_data_end(plot);
    bool named = family[strlen(family) - 1] == '/';
    snprintf(title, sizeof title, "%s%s: promises, kept and broken", named ? "Subjects of " : "",
             family);
    title[0] = (char)toupper((unsigned char)title[0]);
    plot_panel(plot, 90 + 21 * (double)subjects, title);
    text_add(&plot->script, "unset key\nunset grid\nset ytics (");
    text_join(&plot->script, &names);
    text_format(
        &plot->script,
        ") noenhanced scale 0 font 'sans,10'\nset xtics (\"run\\nto run\" 1, \"GPU\\nto GPU\" 2, "
        "\"any\\norder\" 3, \"correctly\\nrounded\" 4) scale 0 font 'sans,10'\n"
        "set lmargin at screen 0.4\nset rmargin at screen 0.99\nset bmargin 3.5\nset xrange [0.5 : "
        "4.5]\n"
        "set yrange [%zu.5 : -0.5]\n"
        "plot '%s.dat' index %zu using 1:2:(0.49):(0.45):3 with boxxyerror fillstyle solid \\\n"
        "    noborder linecolor rgb variable, \\\n"
        "    '' index %zu using 1:2:(stringcolumn(5)):4 with labels textcolor rgb variable \\\n"
        "    font 'sans,10'\n",
        subjects - 1, plot->name, block, block);
    text_free(&names);
}

enum status report_trial(struct report *r, struct problem *p)
{
    struct plot plot;
    char family[LADDERS_MOST][FAMILY_TEXT];
    plot_begin(&plot, "ladder");
    for (size_t row = 0; row < r->trial.count;) {
        struct report_subject s = report_subject_next(r, &row);
        char its[FAMILY_TEXT];
        size_t i = 0;
        family_of(its, s.method);
        while (i < plot.panels && strcmp(family[i], its) != 0)
            i++;
        if (i < plot.panels || i == LADDERS_MOST)
            continue;
        memcpy(family[i], its, sizeof its);
        draw_family(&plot, r, its);
    }
    return plot_end(
        &plot, r, "Promises, kept and broken",
        "A row is a subject, a column a rung of the ladder of promises: the same bits "
        "run after run; in every launch shape and on every device; for every order of "
        "the elements; the exact sum, rounded once. Dark cells were promised, pale ones "
        "were not. Blue: kept, in so many attempts to break it. Orange: broken, by so "
        "many of so many attempts (before and behind the slash); a dark orange one is "
        "a broken promise.",
        p);
}
