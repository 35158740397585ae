/* The ladder of `run trial`, drawn: a row for each subject, a column for each rung. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "reports/page/trial.h"

/* --- Subjects against the rungs of the ladder: a map of what `run trial` found --- */

enum { SUBJECTS_MOST = 40, FAMILY_TEXT = 80, LADDERS_MOST = 16, LABEL_FITS = 22, LABEL_MOST = 28 };

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
    {"cublaslt/", "cuBLAS"},
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

/* Which panel a method stands in: functions of a library of arrays in one that is called after it;
 * other subjects that are not ours are all alike. */
static void family_of(char family[FAMILY_TEXT], const struct page *r, const char *method)
{
    const json_t *facts = trial_library_of(r, method);
    if (facts) {
        const char *mode = trial_fact(facts, "mode");
        snprintf(family, FAMILY_TEXT, "%s %s%s%s", trial_fact(facts, "array"),
                 trial_fact(facts, "version"), *mode ? ", " : "", mode);
        for (char *at = family; *at; at++)
            *at = *at == '@' ? ' ' : *at;
        return;
    }
    size_t length = strcspn(method, "/") + 1;
    bool ours = method_named(method) || strncmp(method, "cub/", 4) == 0 ||
                strncmp(method, "thrust/", 7) == 0 || strncmp(method, "cublas/", 7) == 0 ||
                strncmp(method, "cublaslt/", 9) == 0;
    snprintf(family, FAMILY_TEXT, "%.*s", ours ? (int)length : 14,
             ours ? method : "Other subjects");
    for (size_t i = 0; ours && i < sizeof shared / sizeof *shared; i++)
        if (strncmp(method, shared[i].begins, strlen(shared[i].begins)) == 0)
            snprintf(family, FAMILY_TEXT, "%s", shared[i].panel);
}

/* What a cell shows. */
enum shows_cell { CELL_KEPT, CELL_BROKEN, CELL_BELOW, CELL_UNTRIED, CELL_FAILED, CELL_NONE };

static enum shows_cell cell_of(const struct page *r, size_t row)
{
    return row == 0                                               ? CELL_NONE
           : trial_verdict_is(r, row - 1, "kept")                 ? CELL_KEPT
           : trial_verdict_is(r, row - 1, "failed")               ? CELL_FAILED
           : !trial_verdict_is(r, row - 1, "broken")              ? CELL_UNTRIED
           : page_number(&r->trial, row - 1, CHECK_DIFFERING) > 0 ? CELL_BROKEN
                                                                  : CELL_BELOW;
}

/* Colours of the cell, not promised and promised, and what is written in it. The colour-blind tell
 * them apart, too, and each has words of its own. */
static void write_cell(struct plot *plot, const struct page *r, const struct trial_subject *s,
                       size_t rung, size_t place)
{
    static const unsigned colour[][2] = {[CELL_KEPT] = {0xa6cee3, 0x00639b},
                                         [CELL_BROKEN] = {0xfdd0a2, 0xa63700},
                                         [CELL_BELOW] = {0xffee99, 0x4b2e00},
                                         [CELL_UNTRIED] = {0xc4c4c4, 0xc4c4c4},
                                         [CELL_FAILED] = {0xc4c4c4, 0xc4c4c4}};
    const size_t row = s->row[rung] - 1;
    const enum shows_cell shows = cell_of(r, row + 1);
    const bool promised = trial_promises(r, s, rung), tried = shows < CELL_UNTRIED;
    const char *attempts = page_cell(&r->trial, row, CHECK_ATTEMPTS);
    text_format(&plot->data, "%zu %zu %u %u ", rung < PROMISES ? rung : (size_t)PROMISES, place,
                colour[shows][promised], promised && tried ? 0xffffff : 1);
    if (shows == CELL_BROKEN)
        text_format(&plot->data, "%s/%s\n", page_cell(&r->trial, row, CHECK_DIFFERING), attempts);
    else if (shows == CELL_KEPT)
        text_format(&plot->data, "%s%s\n", attempts,
                    *page_cell(&r->trial, row, CHECK_REASON_IS) ? "*" : "");
    else
        text_format(&plot->data, "%s\n",
                    shows == CELL_BELOW    ? "below"
                    : shows == CELL_FAILED ? "failed"
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
        family_of(its, r, s.method);
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

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Is this among words with @ between? */
static bool has_word(const char *words, const char *word, size_t length)
{
    for (const char *at = words; *at;) {
        size_t its = strcspn(at, "@");
        if (its == length && strncmp(at, word, length) == 0)
            return true;
        at += its + (at[its] == '@');
    }
    return false;
}

/* A subject's name without what its panel's title says of all: the library, its version and mode,
 * or so many bytes of its beginning. */
static void short_name(struct text *to, const struct page *r, const char *method, size_t all)
{
    static const char python[] = "python:";
    const json_t *facts = trial_library_of(r, method);
    const char *library = trial_fact(facts, "array"), *mode = trial_fact(facts, "mode");
    method += begins(method, python) ? strlen(python) : 0;
    if (!facts) {
        text_add(to, method + all);
        return;
    }
    if (begins(method, trial_calls))
        method += strlen(trial_calls);
    else if (begins(method, library) && method[strlen(library)] == '.')
        method += strlen(library) + 1;
    text_append(to, method, strcspn(method, "@"));
    for (const char *at = strchr(method, '@'); at; at = strchr(at + 1, '@')) {
        const char *word = at + 1;
        size_t length = strcspn(word, "@");
        if (!has_word(library, word, length) && !has_word(mode, word, length))
            text_append(to, at, length + 1);
    }
}

/* How long the longest name of a family is, but for `all` bytes that all begin with. */
static size_t longest_name(const struct page *r, const char *family, size_t all)
{
    size_t longest = 0;
    for (size_t row = 0; row < r->trial.count;) {
        struct trial_subject s = trial_next(r, &row);
        struct text name = {0};
        char its[FAMILY_TEXT];
        family_of(its, r, s.method);
        if (strcmp(its, family) == 0)
            short_name(&name, r, s.method, all);
        longest = name.length > longest ? name.length : longest;
        text_free(&name);
    }
    return longest;
}

/* How many bytes, up to a slash, all names of a family begin with: "cub/". */
static size_t all_begin_with(const struct page *r, const char *family)
{
    const char *first = NULL;
    size_t length = 0;
    for (size_t row = 0; row < r->trial.count;) {
        struct trial_subject s = trial_next(r, &row);
        char its[FAMILY_TEXT];
        family_of(its, r, s.method);
        if (strcmp(its, family) != 0)
            continue;
        first = first ? first : s.method;
        length = strcspn(first, "/") + 1;
        if (length > strlen(first) || strncmp(first, s.method, length) != 0)
            return 0;
    }
    return length;
}

/* Writes the cells of a family, and their subjects' names into `names`. Returns how many. */
static size_t write_family(struct plot *plot, struct text *names, const struct page *r,
                           const char *family, size_t all, bool *beside)
{
    size_t place = 0;
    for (size_t row = 0; row < r->trial.count;) {
        struct trial_subject s = trial_next(r, &row);
        struct text label = {0};
        char its[FAMILY_TEXT];
        family_of(its, r, s.method);
        if (strcmp(its, family) != 0 || place == SUBJECTS_MOST)
            continue;
        short_name(&label, r, s.method, all);
        if (r->several_devices)
            text_format(&label, ", %s", s.device);
        for (size_t rung = 1; rung <= ROWS; rung++)
            write_rung(plot, r, &s, rung);
        text_add(names, place ? ", " : "");
        plot_axis_name(names, text_string(&label) ? text_string(&label) : "", LABEL_MOST);
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

/* What is seen: of promises how many are kept; of what promises nothing, whose bits differ. */
static void say_title(struct text *to, const struct trial_tally *t)
{
    const size_t promises = trial_promises_of(t);
    if (promises > 0)
        text_format(to, "%zu of %zu promises kept", trial_kept_of(t), promises);
    if (t->broken)
        text_format(to, ", %zu broken", t->broken);
    if (t->in_part)
        text_format(to, ", %zu not tried in full", t->in_part);
    if (t->nothing > 0)
        text_format(to, "%s%zu of %zu that promise%s nothing gave other bits run after run",
                    promises > 0 ? "; " : "", t->loose, t->nothing, t->nothing == 1 ? "s" : "");
    if (t->nothing > t->loose + t->steady)
        text_format(to, ", %zu not tried often enough", t->nothing - t->loose - t->steady);
    if (t->untried > 0)
        text_format(to, "%s%zu not tried", promises + t->nothing > 0 ? "; " : "", t->untried);
    if (t->failed > 0)
        text_format(to, "%s%zu failed", promises + t->nothing + t->untried > 0 ? "; " : "",
                    t->failed);
}

/* Which kinds of cells there are, of a family; "": of all. */
struct cells {
    bool any[CELL_NONE + 1], promised, promised_broken, beside;
    bool in_part;      /* kept, as far as it was tried */
    bool above_broken; /* a kept one to the right of one that some attempts broke */
};

static struct cells cells_of(const struct page *r, const char *family)
{
    struct cells c = {0};
    for (size_t row = 0; row < r->trial.count;) {
        struct trial_subject s = trial_next(r, &row);
        char its[FAMILY_TEXT];
        bool broken = false;
        family_of(its, r, s.method);
        for (size_t rung = 1; (!*family || strcmp(its, family) == 0) && rung <= ROWS; rung++) {
            enum shows_cell shows = cell_of(r, s.row[rung]);
            if (rung == PROMISES || (rung > PROMISES && shows == CELL_NONE))
                continue;
            c.any[shows] = true;
            c.beside |= rung > PROMISES;
            c.in_part |=
                shows == CELL_KEPT && *page_cell(&r->trial, s.row[rung] - 1, CHECK_REASON_IS);
            c.promised |= trial_promises(r, &s, rung);
            c.promised_broken |= shows == CELL_BROKEN && trial_promises(r, &s, rung);
            c.above_broken |= rung < PROMISES && shows == CELL_KEPT && broken;
            broken |= shows == CELL_BROKEN;
        }
    }
    return c;
}

/* Has any subject nothing to promise beside the ladder? */
static bool blank_beside(const struct page *r)
{
    for (size_t row = 0; row < r->trial.count;) {
        struct trial_subject s = trial_next(r, &row);
        if (!has_beside(&s))
            return true;
    }
    return false;
}

/* The colours of a panel, for gnuplot. */
static void say_legend(struct text *to, const struct cells *c)
{
    text_format(to, "%sblue: held in N attempts. orange: k of N differed",
                c->promised ? "dark: promised. " : "");
    if (c->any[CELL_BELOW] || c->any[CELL_UNTRIED])
        text_format(to, "\\n%s%s%s", c->any[CELL_BELOW] ? "yellow: broken below" : "",
                    c->any[CELL_BELOW] && c->any[CELL_UNTRIED] ? ". " : "",
                    c->any[CELL_UNTRIED] ? "grey: not tried" : "");
    if (c->in_part)
        text_add(to, "\\nN*: held as far as it could be tried");
}

static void draw_family(struct plot *plot, const struct page *r, const char *family)
{
    struct text names = {0}, title = {0};
    text_format(&plot->data, "# %s: rung, subject, colours of cell and text, attempts\n", family);
    bool beside = false; /* a fifth column */
    const size_t slash = all_begin_with(r, family),
                 all = longest_name(r, family, 0) > LABEL_MOST ? slash : 0,
                 longest = longest_name(r, family, all);
    /* Names have the room that they need. */
    const double left =
        0.4 + 0.012 * fmin(fmax((double)longest - LABEL_FITS, 0), LABEL_MOST - LABEL_FITS);
    size_t subjects = write_family(plot, &names, r, family, all, &beside),
           block = plot_data_end(plot);
    struct trial_tally tally = tally_of(r, family);
    bool name = strpbrk(family, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") || strchr(family, '.'); /* cuBLAS */
    text_format(&title, "%c%s: ", name ? *family : toupper((unsigned char)*family), family + 1);
    say_title(&title, &tally);
    struct text legend = {0};
    const struct cells cells = cells_of(r, family);
    say_legend(&legend, &cells);
    const double above = 10, below = cells.in_part ? 100 : 84,
                 height = above + 22 * (double)subjects + below;
    plot_panel(plot, height, text_string(&title) ? text_string(&title) : "");
    text_free(&title);
    text_add(&plot->script, "unset key\nunset grid\nset ytics (");
    text_join(&plot->script, &names);
    text_format(
        &plot->script,
        ") noenhanced scale 0 font 'sans,11'\nset xtics (\"run\\nto run\" 1, \"GPU\\nto GPU\" 2, "
        "\"any\\norder\" 3, \"correctly\\nrounded\" 4%s) scale 0 font 'sans,%d'\n"
        "set lmargin at screen %.3f\nset rmargin at screen 0.99\nset tmargin at screen %.4f\n"
        "set bmargin at screen %.4f\n"
        "set xlabel \"%s\" offset screen -0.2, character -0.6 \\\n"
        "    font 'sans,11'\nset xrange [0.5 : "
        "%s]\n"
        "set yrange [%zu.5 : -0.5]\n"
        "plot '%s.dat' index %zu using 1:2:(0.49):(0.45):3 with boxxyerror fillstyle solid \\\n"
        "    noborder linecolor rgb variable, \\\n"
        "    '' index %zu using 1:2:(stringcolumn(5)):4 with labels textcolor rgb variable \\\n"
        "    font 'sans,10'\n",
        beside ? ", \"any batch\\nor ranks\" 5" : "", beside ? 9 : 11, left, 1 - above / height,
        below / height, text_string(&legend) ? text_string(&legend) : "", beside ? "5.5" : "4.5",
        subjects - 1, plot->name, block, block);
    text_free(&legend);
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
            family_of(its, r, s.method);
            while (i < count && strcmp(family[i], its) != 0)
                i++;
            if (i == count && (tally_of(r, its).broken == 0) == sound)
                memcpy(family[count++], its, sizeof its);
        }
    return count;
}

/* What the rungs that are kept leave open, each reason once: "on this CPU: no other device runs it
 * (gpu_to_gpu)". */
static void say_reasons(struct text *to, const struct page *r)
{
    struct text said = {0};
    for (size_t row = 0; row < r->trial.count; row++) {
        const char *reason = page_cell(&r->trial, row, CHECK_REASON_IS),
                   *rung = page_cell(&r->trial, row, CHECK_RUNG);
        for (const char *at = reason; trial_verdict_is(r, row, "kept") && *at;) {
            struct text one = {0};
            size_t length = strcspn(at, ";");
            text_format(&one, "\n%.*s (%s)\n", (int)length, at, rung);
            const char *is = text_string(&one), *all = text_string(&said);
            if (is && all && !strstr(all, is)) {
                html_format(to, "%s%.*s",
                            *all ? "; " : " N*: held, as far as this goes: ", (int)one.length - 2,
                            is + 1);
                text_join(&said, &one);
            }
            text_free(&one);
            at += length;
            at += strspn(at, "; ");
        }
    }
    text_add(to, said.length > 0 ? "." : "");
    text_free(&said);
}

/* How it is to be read: of cells, what there is. */
static void say_caption(struct text *to, const struct page *r)
{
    const struct cells c = cells_of(r, "");
    text_add(to, "Rows are subjects, columns the rungs of the ladder: the same bits run after run; "
                 "in every launch shape and on every device; for every order of the elements; the "
                 "exact sum, rounded once");
    text_add(to, c.beside ? "; beside it, the same bits in any batch or with any ranks." : ".");
    text_add(to, c.promised ? " Dark: promised. Pale: not promised." : "");
    text_add(to, c.any[CELL_KEPT] ? " Blue: held in N attempts." : "");
    say_reasons(to, r);
    text_add(to, c.any[CELL_BROKEN] ? " Orange: k/N attempts differed" : "");
    text_add(to, c.promised_broken ? "; dark orange is a broken promise" : "");
    text_add(to, c.any[CELL_BROKEN] ? "." : "");
    if (c.any[CELL_BELOW])
        text_add(to, " Yellow, below: broken below; no attempt at this rung differed, if any was "
                     "made, but a rung to the left is broken, and with it this one.");
    if (c.above_broken)
        text_add(to, " Blue to the right of orange: each result is right for the order of its "
                     "elements, and another order has another, as the place of an extremum.");
    if (c.any[CELL_UNTRIED])
        text_add(to, " Grey, -: not tried, not often enough, or not on enough devices; trial.csv "
                     "has the reason.");
    if (c.any[CELL_FAILED])
        text_add(to, " Grey, failed: the subject failed.");
    if (c.beside && blank_beside(r))
        text_add(to, " Blank: its operation has no batch and no ranks.");
}

enum status page_trial(struct page *r, struct problem *p)
{
    struct plot plot;
    char family[LADDERS_MOST][FAMILY_TEXT];
    size_t families = list_families(family, r);
    plot_begin(&plot, "ladder", "method,device,promise,rung,verdict,differing,attempts");
    for (size_t i = 0; i < families; i++)
        draw_family(&plot, r, family[i]);
    struct text caption = {0};
    say_caption(&caption, r);
    enum status status = text_string(&caption)
                             ? plot_end(&plot, r, "Promises, kept and broken", caption.data, p)
                             : problem(p, STATUS_MEMORY, "%s: out of memory", r->folder);
    text_free(&caption);
    return status;
}
