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

/* In a picture: "sum/tiled in fp32", "sum/widened in fp32 to bf16", "sum/kahan in fp32 pairs", and
 * where no format is what it adds in, "sum/exact to fp32". */
static void say_label(struct text *to, const char *added_in, const char *result)
{
    char first[32];
    snprintf(first, sizeof first, "%.*s", (int)strcspn(added_in, " "), added_in);
    const bool format = format_named(first) != FORMATS, alone = strcmp(first, added_in) == 0;
    if (format)
        text_format(to, " in %s", added_in);
    if (!format || (alone && strcmp(added_in, result) != 0))
        text_format(to, " to %s", result);
}

static void name_candidate(struct page_candidate *c, const char *const field[])
{
    const char *result = field[RECOMMEND_ACCUMULATOR], *added_in = field[RECOMMEND_ADDED_IN];
    struct text name = {0}, shown = {0};
    page_name(&name, field[RECOMMEND_METHOD], field[RECOMMEND_CHIP], field[RECOMMEND_PROMOTE]);
    page_short_name(&shown, text_string(&name) ? name.data : "");
    /* Older files do not say what was added in. */
    page_added_in(&name, ", ", *added_in ? added_in : result, result);
    snprintf(c->name, sizeof c->name, "%s", text_string(&name) ? name.data : "");
    text_clear(&name);
    text_join(&name, &shown);
    page_added_in(&name, ", ", *added_in ? added_in : result, result);
    snprintf(c->shown, sizeof c->shown, "%s", text_string(&name) ? name.data : "");
    say_label(&shown, *added_in ? added_in : result, result);
    snprintf(c->label, sizeof c->label, "%s", text_string(&shown) ? shown.data : "");
    text_free(&name);
    text_free(&shown);
}

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
    name_candidate(c, row->field);
    r->candidates++;
    return status;
}

/* Rates are held against each other where they are of arrays of one length, the longest. */
static void leave_out_short(struct page *r)
{
    double most = 0;
    for (size_t i = 0; i < r->candidates; i++)
        most = fmax(most, r->candidate[i].timed_n.value);
    for (size_t i = 0; i < r->candidates; i++) {
        struct page_candidate *c = &r->candidate[i];
        if (!c->gb_per_s.known || !c->timed_n.known || c->timed_n.value == most)
            continue;
        c->short_gb_per_s = c->gb_per_s;
        c->gb_per_s = (struct figure){0};
    }
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

/* Exponents of the axes: speeds as they are, errors in whole powers of ten; an error of 0 has a
 * place of its own below them, one that is not finite above. */
struct frame {
    double left, right, lower, upper;
    bool zero, endless; /* is there such an error? */
    size_t places;
};

static void add_error(struct frame *f, struct figure y)
{
    if (!y.known || isnan(y.value))
        return;
    f->zero |= y.value == 0;
    f->endless |= isinf(y.value);
    if (y.value > 0 && isfinite(y.value)) {
        f->lower = fmin(f->lower, floor(log10(y.value) - 0.05));
        f->upper = fmax(f->upper, ceil(log10(y.value) + 0.05));
    }
}

static struct frame frame_of(const struct page *r)
{
    struct frame f = {INFINITY, -INFINITY, INFINITY, -INFINITY, false, false, 0};
    for (size_t i = 0; i < r->candidates; i++) {
        const struct page_candidate *c = &r->candidate[i];
        if (!has_place(c))
            continue;
        f.places++;
        f.left = fmin(f.left, log10(c->gb_per_s.value));
        f.right = fmax(f.right, log10(c->gb_per_s.value));
        add_error(&f, c->error);
        add_error(&f, c->limit);
    }
    if (!isfinite(f.lower)) {
        f.lower = -1;
        f.upper = 0;
    }
    return f;
}

#define MARGIN 0.06 /* of an axis, at either end: no mark is cut */
#define STRIP  0.11 /* what has a place beyond it takes as much more */

static double height_of(const struct frame *f)
{
    return f->upper - f->lower;
}

/* Where an error stands, as an exponent. */
static double place_of(const struct frame *f, double error)
{
    if (error == 0)
        return f->lower - STRIP * height_of(f);
    return isfinite(error) ? log10(error) : f->upper + STRIP * height_of(f);
}

static void write_place(struct plot *plot, const struct page_candidate *c, const struct frame *f)
{
    text_format(&plot->data, "%.9g %.9g\n", c->gb_per_s.value,
                pow(10, place_of(f, c->error.value)));
}

/* The axes, with names for what is beyond the errors' and a line between. */
static void add_axes(struct text *script, const struct frame *f)
{
    const double beside = fmax(MARGIN * (f->right - f->left), 0.05), margin = MARGIN * height_of(f),
                 beyond = STRIP * height_of(f) + margin, left = pow(10, f->left - beside),
                 right = pow(10, f->right + beside);
    text_add(script, "set logscale xy\n");
    if (f->right - f->left < 2)
        plot_tics(script, left, right);
    else
        text_add(script, "set format x '10^{%T}'\n");
    text_format(script,
                "set format y '10^{%%T}'\nset xrange [%.6g : %.6g]\nset yrange [%.6g : %.6g]\n"
                "set ytics 1e%.0f, 1e%.0f, 1e%.0f\n",
                left, right, pow(10, f->lower - (f->zero ? beyond : margin)),
                pow(10, f->upper + (f->endless ? beyond : margin)), f->lower,
                fmax(1, ceil(height_of(f) / 8)), f->upper);
    for (int above = 0; above < 2; above++)
        if (above ? f->endless : f->zero)
            text_format(script,
                        "set ytics add ('%s' %.6g)\nset arrow from graph 0, first %.6g to graph 1, "
                        "first %.6g nohead linecolor rgb 0xaaaaaa\n",
                        above ? "inf" : "0", pow(10, place_of(f, above ? INFINITY : 0)),
                        pow(10, above ? f->upper : f->lower), pow(10, above ? f->upper : f->lower));
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
    add_points(plot, how, c->label);
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
        add_points(plot, how, r->candidate[i].label);
    }
}

void page_say_recommended(struct text *to, const struct page *r)
{
    const struct page_candidate *c = NULL;
    for (size_t i = 0; !c && i < r->candidates; i++)
        if (r->candidate[i].recommended)
            c = &r->candidate[i];
    if (c && c->error.known && c->most.known && c->limit.known) {
        struct against a = text_against(c->error.value, c->limit.value, 2),
                       most = text_against(c->most.value, c->limit.value, 2);
        text_format(to, "%s: the %s whose error is allowed (at most %s), ", c->shown,
                    page_candidates_timed(r) ? "cheapest" : "first",
                    strlen(a.limit) > strlen(most.limit) ? a.limit : most.limit);
        text_format(to, "%s on the arrays that all were tried on", a.value);
        if (c->most.value > c->error.value)
            text_format(to, ", %s on all of its own", most.value);
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
    struct text title = {0};
    page_say_recommended(&title, r);
    plot_panel(plot, 440 + 20 * (double)(named + (others <= OTHERS_NAMED ? others : 0)),
               text_string(&title) ? text_string(&title) : "");
    text_free(&title);
    add_axes(&plot->script, f);
    text_format(&plot->script,
                "set xlabel \"10^9 bytes of input per second\\n \"\nset ylabel '%s'\n"
                "plot %.9g with lines linecolor rgb 0x888888 dashtype 3 title 'the error allowed'",
                label, pow(10, place_of(f, first->limit.known ? first->limit.value : 0)));
    add_behind(plot, r, f, others);
    if (named > 1 && write_places(plot, r, f, on_frontier) > 0)
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

/* What is not drawn, and why. */
static void say_caption(struct text *to, const struct page *r, const struct frame *f)
{
    size_t untimed = 0, shorter = 0;
    for (size_t i = 0; i < r->candidates; i++) {
        shorter += r->candidate[i].short_gb_per_s.known;
        untimed += !r->candidate[i].gb_per_s.known && !r->candidate[i].short_gb_per_s.known;
    }
    text_add(to, "Each point is one method: further right is faster, further down is more "
                 "accurate, by the largest error on the arrays that all candidates were tried on. "
                 "In fp32: added in fp32; to bf16: the result is rounded to bf16. Points above the "
                 "dotted line exceed the error allowed. The grey line is the frontier: no "
                 "candidate is both faster and more accurate than one on it. Pale grey points lie "
                 "behind it and are named in the table of candidates.");
    if (f->zero)
        text_add(to, " Below the axis, at 0: exact results.");
    if (f->endless)
        text_add(to, " Above the axis, at inf: results that are not finite.");
    if (shorter > 0)
        text_format(to,
                    " Not drawn: %zu candidate%s timed on fewer elements, which compares with "
                    "none of these; the table has %s speed in parentheses.",
                    shorter, shorter == 1 ? "" : "s", shorter == 1 ? "its" : "their");
    if (untimed > 0)
        text_format(to, " Not timed, and not drawn: %zu candidate%s.", untimed,
                    untimed == 1 ? "" : "s");
}

enum status page_frontier(struct page *r, struct problem *p)
{
    struct plot plot;
    struct frame f = frame_of(r);
    plot_begin(&plot, "frontier", "candidate,gb_per_s,error,frontier,recommended");
    write_rows(&plot, r);
    if (f.places > 0)
        draw(&plot, r, &f);
    struct text caption = {0};
    say_caption(&caption, r, &f);
    enum status status =
        text_string(&caption)
            ? plot_end(&plot, r, "What was tried, and what is recommended", caption.data, p)
            : problem(p, STATUS_MEMORY, "%s: out of memory for the pictures", r->folder);
    text_free(&caption);
    return status;
}
