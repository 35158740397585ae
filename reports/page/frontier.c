/* What `recommend` tried: error against speed, with the recommended point and the frontier. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "reference/base/grow.h"
#include "reports/page/report.h"
#include "reports/text/against.h"
#include "reference/format/format.h"
#include "reports/csv/file.h"

static enum status take(void *context, const struct csv_row *row, struct problem *p)
{
    struct page *r = context;
    if (!grow(&r->candidate, r->candidates, sizeof *r->candidate))
        return problem(p, STATUS_MEMORY, "%s: out of memory", row->path);
    struct page_candidate *c = &r->candidate[r->candidates];
    *c = (struct page_candidate){0};
    enum status status = csv_figure(row, RECOMMEND_ERROR, "error", &c->error, p);
    if (status == STATUS_OK)
        status = csv_figure(row, RECOMMEND_MOST, "largest_error", &c->most, p);
    if (status == STATUS_OK)
        status = csv_figure(row, RECOMMEND_LIMIT, "limit", &c->limit, p);
    if (status == STATUS_OK)
        status = csv_figure(row, RECOMMEND_RATE, "gb_per_s", &c->gb_per_s, p);
    if (status == STATUS_OK)
        status = csv_figure(row, RECOMMEND_TIMED_N, "timed_n", &c->timed_n, p);
    c->accumulator = format_named(row->field[RECOMMEND_ACCUMULATOR]);
    c->recommended = strcmp(row->field[RECOMMEND_IS], "recommended") == 0;
    c->frontier = strcmp(row->field[RECOMMEND_PARETO], "yes") == 0;
    snprintf(c->arrays, sizeof c->arrays, "%s", row->field[RECOMMEND_ARRAYS]);
    snprintf(c->quantity, sizeof c->quantity, "%s", row->field[RECOMMEND_QUANTITY]);
    snprintf(c->method, sizeof c->method, "%s", row->field[RECOMMEND_METHOD]);
    struct text name = {0};
    page_name(&name, row->field[RECOMMEND_METHOD], row->field[RECOMMEND_CHIP],
              row->field[RECOMMEND_PROMOTE]);
    snprintf(c->name, sizeof c->name, "%s in %s", text_string(&name) ? name.data : "",
             row->field[RECOMMEND_ACCUMULATOR]);
    text_clear(&name);
    page_short_name(&name, c->name);
    snprintf(c->shown, sizeof c->shown, "%s", text_string(&name) ? name.data : "");
    text_free(&name);
    r->candidates++;
    return status;
}

/* Rates are held against each other where they are of arrays of one length, the longest. */
static void leave_out_short(struct page *r)
{
    double most = 0;
    for (size_t i = 0; i < r->candidates; i++)
        most = fmax(most, r->candidate[i].timed_n.value);
    for (size_t i = 0; i < r->candidates; i++)
        r->candidate[i].gb_per_s.known &=
            !r->candidate[i].timed_n.known || r->candidate[i].timed_n.value == most;
}

enum status page_candidates(struct page *r, struct problem *p)
{
    enum status status =
        page_file(r, "recommend.csv", recommend_column, RECOMMEND_COLUMNS, take, r, p);
    leave_out_short(r);
    return status;
}

bool page_candidates_timed(const struct page *r)
{
    bool timed = false;
    for (size_t i = 0; i < r->candidates; i++)
        timed |= r->candidate[i].gb_per_s.known;
    return timed;
}

/* Has it a place: was it timed and measured? */
static bool has_place(const struct page_candidate *c)
{
    return c->gb_per_s.known && c->gb_per_s.value > 0 && c->error.known && !isnan(c->error.value);
}

#define MARGIN 0.03 /* of an axis, at either end */

/* Whole powers of ten below and above what has a place. */
struct frame {
    double left, right, lower, upper; /* exponents */
    size_t places;
};

static struct frame frame_of(const struct page *r)
{
    struct frame f = {INFINITY, -INFINITY, INFINITY, -INFINITY, 0};
    for (size_t i = 0; i < r->candidates; i++) {
        const struct page_candidate *c = &r->candidate[i];
        if (!has_place(c))
            continue;
        f.places++;
        f.left = fmin(f.left, floor(log10(c->gb_per_s.value)));
        f.right = fmax(f.right, ceil(log10(c->gb_per_s.value) + 1e-9));
        for (int limit = 0; limit < 2; limit++) {
            struct figure y = limit ? c->limit : c->error;
            if (y.known && y.value > 0 && isfinite(y.value)) {
                f.lower = fmin(f.lower, floor(log10(y.value)) - 1);
                f.upper = fmax(f.upper, ceil(log10(y.value) + 0.05));
            }
        }
    }
    if (!isfinite(f.lower)) {
        f.lower = -1;
        f.upper = 1;
    }
    f.upper = fmin(f.upper, f.lower + 24);
    return f;
}

static void write_place(struct plot *plot, const struct page_candidate *c, const struct frame *f)
{
    text_format(&plot->data, "%.9g %.9g\n", c->gb_per_s.value,
                fmin(fmax(c->error.value, pow(10, f->lower)), pow(10, f->upper)));
}

static bool on_frontier(const struct page_candidate *c)
{
    return c->frontier;
}

static bool behind(const struct page_candidate *c)
{
    return !c->frontier;
}

static bool is_recommended(const struct page_candidate *c)
{
    return c->recommended;
}

/* Writes the candidates that are meant, in the order of recommend.csv. Returns how many. */
static size_t write_places(struct plot *plot, const struct page *r, const struct frame *f,
                           bool (*meant)(const struct page_candidate *))
{
    size_t count = 0;
    for (size_t i = 0; i < r->candidates; i++)
        if (has_place(&r->candidate[i]) && meant(&r->candidate[i])) {
            write_place(plot, &r->candidate[i], f);
            count++;
        }
    return count;
}

static void add_points(struct plot *plot, const char *how, const char *title)
{
    text_format(&plot->script, ", \\\n    '%s.dat' index %zu using 1:2 %s title ", plot->name,
                plot_data_end(plot), how);
    plot_quote(&plot->script, title);
}

enum { MARKS = 13 }; /* of plot.c's preamble */

/* The k-th candidate of the frontier, with its name: in its method's colour, with a mark of its
 * own.
 */
static void add_named(struct plot *plot, const struct page_candidate *c, const struct frame *f,
                      size_t k)
{
    char how[128];
    snprintf(how, sizeof how,
             "with points linecolor rgb colour[%zu] pointtype mark[%zu] pointsize 1.1",
             page_ink(c->method).colour, k % MARKS + 1);
    write_place(plot, c, f);
    add_points(plot, how, c->shown);
}

/* Those that others beat: in grey, few of them by name. */
static void add_behind(struct plot *plot, const struct page *r, const struct frame *f,
                       size_t others)
{
    char how[96], title[64];
    snprintf(title, sizeof title, "%zu others: the table below", others);
    if (others > OTHERS_NAMED && write_places(plot, r, f, behind) > 0)
        add_points(plot, "with points pointtype 7 pointsize 0.5 linecolor rgb 0xbbbbbb", title);
    for (size_t i = 0, k = 0; others <= OTHERS_NAMED && i < r->candidates; i++) {
        if (!has_place(&r->candidate[i]) || !behind(&r->candidate[i]))
            continue;
        snprintf(how, sizeof how,
                 "with points pointtype hollow[%zu] pointsize 0.9 linecolor rgb 0xbbbbbb",
                 k++ % MARKS + 1);
        write_place(plot, &r->candidate[i], f);
        add_points(plot, how, r->candidate[i].shown);
    }
}

void page_say_recommended(struct text *to, const struct page *r)
{
    const struct page_candidate *c = NULL;
    for (size_t i = 0; !c && i < r->candidates; i++)
        if (r->candidate[i].recommended)
            c = &r->candidate[i];
    if (c && c->most.known && c->limit.known) {
        struct against a = text_against(c->most.value, c->limit.value, 2);
        text_format(to, "%s is the %s whose error is allowed: %s, of %s", c->shown,
                    page_candidates_timed(r) ? "cheapest" : "first", a.value, a.limit);
    } else
        text_add(to, "No candidate's error is allowed on all arrays");
}

static void draw(struct plot *plot, const struct page *r, const struct frame *f)
{
    const struct page_candidate *first = &r->candidate[0];
    static const char *const unit[] = {"rel",      "largest error / |exact sum|",
                                       "backward", "largest error / sum|x|",
                                       "ulp",      "largest error, ulp"};
    const char *label = "largest error";
    for (size_t i = 0; i < sizeof unit / sizeof *unit; i += 2)
        label = strcmp(first->quantity, unit[i]) == 0 ? unit[i + 1] : label;
    size_t named = 0, others = 0;
    for (size_t i = 0; i < r->candidates; i++) {
        named += has_place(&r->candidate[i]) && on_frontier(&r->candidate[i]);
        others += has_place(&r->candidate[i]) && !on_frontier(&r->candidate[i]);
    }
    /* No mark on an edge is cut. */
    double beside = MARGIN * (f->right - f->left), above = MARGIN * (f->upper - f->lower);
    struct text title = {0};
    page_say_recommended(&title, r);
    plot_panel(plot, 440 + 20 * (double)(named + (others <= OTHERS_NAMED ? others : 0)),
               text_string(&title) ? text_string(&title) : "");
    text_free(&title);
    text_format(&plot->script,
                "set logscale xy\nset format xy '10^{%%T}'\nset xrange [%.6g : %.6g]\n"
                "set yrange [%.6g : %.6g]\nset xlabel \"10^9 bytes of input per second\\n \"\n"
                "set ylabel '%s'\nplot %.9g with lines linecolor rgb 0x888888 dashtype 3 title "
                "'the error allowed'",
                pow(10, f->left - beside), pow(10, f->right + beside), pow(10, f->lower - above),
                pow(10, f->upper + above), label, first->limit.known ? first->limit.value : 0);
    add_behind(plot, r, f, others);
    if (write_places(plot, r, f, on_frontier) > 0)
        add_points(plot, "smooth unique with fsteps linecolor rgb 0x888888 linewidth 1",
                   "the frontier");
    for (size_t i = 0, k = 0; i < r->candidates; i++)
        if (has_place(&r->candidate[i]) && on_frontier(&r->candidate[i]))
            add_named(plot, &r->candidate[i], f, k++);
    if (write_places(plot, r, f, is_recommended) > 0)
        add_points(plot, "with points pointtype 6 pointsize 2 linewidth 2 linecolor rgb 0x000000",
                   "recommended");
    text_add(&plot->script, "\n");
}

/* What is drawn of every candidate, as it was measured. */
static void write_rows(struct plot *plot, const struct page *r)
{
    for (size_t i = 0; i < r->candidates; i++) {
        const struct page_candidate *c = &r->candidate[i];
        plot_cell(plot, c->name);
        plot_number(plot, c->gb_per_s.known ? c->gb_per_s.value : NAN);
        plot_number(plot, c->error.known ? c->error.value : NAN);
        plot_cell(plot, c->frontier ? "yes" : "no");
        plot_cell(plot, c->recommended ? "yes" : "no");
        plot_row_end(plot);
    }
}

enum status page_frontier(struct page *r, struct problem *p)
{
    struct plot plot;
    struct frame f = frame_of(r);
    plot_begin(&plot, "frontier", "candidate,gb_per_s,error,frontier,recommended");
    write_rows(&plot, r);
    if (f.places > 0)
        draw(&plot, r, &f);
    return plot_end(
        &plot, r, "What was tried, and what is recommended",
        "Each point is one method in one accumulator: further right is faster, further "
        "down is more accurate, by the largest error on the arrays that all candidates "
        "were tried on. Points above the dotted line exceed the error allowed. The grey "
        "line is the frontier: no candidate is both faster and more accurate than one "
        "on it. Pale grey points lie behind it and are named in the table of "
        "candidates. Exact results are drawn on the lower edge, results that are not "
        "finite on the upper edge; candidates that were not timed are not drawn.",
        p);
}
