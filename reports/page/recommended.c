/* What `recommend` found: the answer, what the next cheaper candidate breaks on, and a row and a
 * mark for each candidate. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "reference/format/format.h"
#include "reports/page/report.h"
#include "reports/text/against.h"

static const char *cell(const struct page *r, size_t i, enum recommend_column column)
{
    return page_cell(&r->recommend, i, column);
}

/* What an error is a multiple of, behind a number. What a backward error stands beside depends on
 * the operation: the study says it, but for those of older versions. */
static void add_unit(struct text *to, const struct page *r, const struct page_candidate *c)
{
    const char *beside = gathered_word(&r->g, NULL, "error_beside");
    if (strcmp(c->quantity, "rel") == 0)
        text_add(to, " of the exact value");
    else if (strcmp(c->quantity, "backward") != 0)
        text_add(to, " ulp");
    else if (*beside)
        html_format(to, " of %s", beside);
    else
        text_add(to, " (backward)");
}

/* The candidate that is `is`; r->candidates: none. */
static size_t find(const struct page *r, const char *is)
{
    size_t i = 0;
    while (i < r->candidates && strcmp(cell(r, i, RECOMMEND_IS), is) != 0)
        i++;
    return i;
}

/* --- sentences --- */

static void add_break(struct text *to, const struct page *r, size_t i)
{
    const struct page_candidate *c = &r->candidate[i];
    const char *at = cell(r, i, RECOMMEND_BROKEN_AT);
    double error = page_number(&r->recommend, i, RECOMMEND_BROKEN_ERROR),
           result = page_number(&r->recommend, i, RECOMMEND_BROKEN_RESULT),
           exact = page_number(&r->recommend, i, RECOMMEND_BROKEN_EXACT);
    struct text input = {0};
    page_input(&input, cell(r, i, RECOMMEND_BROKEN_BY));
    html_format(to, " breaks on %s", text_string(&input) ? text_string(&input) : "");
    text_free(&input);
    if (*at)
        html_format(to, ", where element (%s) is", at);
    else if (!isnan(exact))
        text_add(to, ", where the result is");
    if (!isnan(exact))
        html_format(to, " %.9g instead of exactly %.9g", result, exact);
    struct against a = text_against(error, c->limit.value, 3);
    if (isfinite(error) && c->limit.known) {
        html_format(to, ": an error of %s", a.value);
        add_unit(to, r, c);
        html_format(to, ", where %s is allowed", a.limit);
    }
}

static void say_next(struct text *to, const struct page *r)
{
    static const char *const is[][3] = {
        {"next_cheaper", "The next cheaper", "The next in the order of the table, not timed"},
        {"next_narrower", "The next narrower, though no faster here",
         "The next narrower, not timed"},
        {"next_dearer", "Not enough, though no cheaper", "Not enough"},
        {"nearest", "The nearest", "The nearest"}};
    for (size_t k = 0; k < sizeof is / sizeof *is; k++) {
        size_t i = find(r, is[k][0]);
        if (i == r->candidates)
            continue;
        text_add(to, "<li class=\"plain\">");
        html_format(to, "%s, %s,", is[k][page_candidates_timed(r) ? 1 : 2], r->candidate[i].shown);
        if (*cell(r, i, RECOMMEND_BROKEN_BY))
            add_break(to, r, i);
        else if (*cell(r, i, RECOMMEND_ASKED))
            html_format(to, " is not known to keep its bits: %s is %s", cell(r, i, RECOMMEND_ASKED),
                        cell(r, i, RECOMMEND_KEPT));
        else
            text_add(to, " did not answer");
        text_add(to, ".</li>\n");
    }
}

/* That at most so large a share of drawn arrays breaks it is still worth telling. */
#define TELLS_MOST 0.5

/* What is known of arrays that were not tried, with what confidence. */
static void say_unseen(struct text *to, const struct page *r, size_t i)
{
    const char *drawn = cell(r, i, RECOMMEND_DRAWN);
    const double unseen = page_number(&r->recommend, i, RECOMMEND_UNSEEN),
                 count = page_number(&r->recommend, i, RECOMMEND_DRAWN);
    const json_t *confidence = json_object_get(json_object_get(r->g.study, "axes"), "confidence");
    if (isnan(count))
        return;
    text_add(to, "<li class=\"plain\">");
    if (count == 0)
        text_add(to, "No array was drawn at random (resamples, shuffles): time was up.");
    else if (!json_is_number(confidence) || isnan(unseen) || unseen > TELLS_MOST)
        html_format(to,
                    "%s array%s drawn at random (resamples, shuffles), and none broke it: too few "
                    "to say how many of such do.",
                    drawn, count == 1 ? " was" : "s were");
    else
        html_format(to,
                    "%.4g%% confident that at most %s%% of arrays like its data break it: %s %s "
                    "drawn at random (resamples, shuffles), and none did.",
                    100 * json_number_value(confidence), text_percent_at_most(unseen).value, drawn,
                    count == 1 ? "was" : "were");
    text_add(to, "</li>\n");
}

static void add_over(struct text *to, const struct page *r, size_t i, enum recommend_column column,
                     const char *before, const char *what)
{
    const double count = page_number(&r->recommend, i, column);
    if (!isnan(count))
        html_format(to, "%s%.0f %s%s", before, count, what, count == 1 ? "" : "s");
}

/* What it keeps of its bits, where that was asked. */
static void say_promise(struct text *to, const struct page *r, size_t i)
{
    const char *asked = cell(r, i, RECOMMEND_ASKED), *reason = cell(r, i, RECOMMEND_REASON);
    if (!*asked)
        return;
    text_add(to, "<li class=\"good\">");
    html_format(to, "Its bits: %s %s", asked, cell(r, i, RECOMMEND_KEPT));
    add_over(to, r, i, RECOMMEND_ATTEMPTS, " in ", "attempt");
    add_over(to, r, i, RECOMMEND_SHAPES, " over ", "launch shape");
    add_over(to, r, i, RECOMMEND_TRIED_LENGTHS, ", ", "length");
    add_over(to, r, i, RECOMMEND_INPUTS, " and ", "input");
    html_format(to, "%s%s.", *reason ? "; " : "", reason);
    text_add(to, "</li>\n");
}

static void say_evidence(struct text *to, const struct page *r, size_t i)
{
    say_unseen(to, r, i);
    say_promise(to, r, i);
}

void page_recommended_findings(struct text *to, const struct page *r)
{
    const struct page_candidate *best = NULL;
    for (size_t i = 0; i < r->candidates; i++)
        best = r->candidate[i].recommended ? &r->candidate[i] : best;
    if (r->candidates == 0)
        return;
    text_format(to, "<li class=\"%s\">", best ? "good" : "bad");
    if (!best)
        html_format(to, "None of %zu candidate%s holds the error allowed.", r->candidates,
                    text_s(r->candidates));
    else if (best->most.known && best->limit.known) {
        struct against a = text_against(best->most.value, best->limit.value, 3);
        html_format(to, "Recommended of %zu candidate%s: %s; its largest error on %s arrays is %s",
                    r->candidates, text_s(r->candidates), best->shown, best->arrays, a.value);
        add_unit(to, r, best);
        if (best->error.known && best->error.value < best->most.value)
            html_format(to, " (%s on those that all candidates were tried on)",
                        text_against(best->error.value, best->limit.value, 3).value);
        html_format(to, ", where %s is allowed.", a.limit);
    }
    text_add(to, "</li>\n");
    if (best)
        say_evidence(to, r, (size_t)(best - r->candidate));
    say_next(to, r);
}

/* --- a row for each --- */

static void error_cell(struct html_table *t, const struct page_candidate *c, struct figure error)
{
    if (error.known && c->limit.known)
        html_cell(t, "%s", text_against(error.value, c->limit.value, 3).value);
    else
        html_cell(t, "%s", "");
}

/* Columns that some candidate has a cell in. */
static const struct {
    const char *name;
    enum recommend_column column;
    char align;
} columns[] = {{"method", RECOMMEND_METHOD, 'l'},
               {"chip", RECOMMEND_CHIP, 'l'},
               {"promoted every", RECOMMEND_PROMOTE, 'r'},
               {"added in", RECOMMEND_ADDED_IN, 'l'},
               {"result", RECOMMEND_ACCUMULATOR, 'l'},
               {"error where all were tried", RECOMMEND_ERROR, 'r'},
               {"on all its arrays", RECOMMEND_MOST, 'r'},
               {"arrays", RECOMMEND_ARRAYS, 'r'},
               {"verdict", RECOMMEND_VERDICT, 'l'},
               {"", RECOMMEND_IS, 'l'},
               {"GB/s", RECOMMEND_RATE, 'r'},
               {"breaks on", RECOMMEND_BROKEN_BY, 'l'}};
enum { COLUMNS = sizeof columns / sizeof *columns };

static void candidate_cell(struct html_table *t, const struct page *r, size_t i, size_t k)
{
    const struct page_candidate *c = &r->candidate[i];
    struct text text = {0};
    if (columns[k].column == RECOMMEND_ERROR) {
        error_cell(t, c, c->error);
    } else if (columns[k].column == RECOMMEND_MOST) {
        error_cell(t, c, c->most);
    } else if (columns[k].column == RECOMMEND_RATE && c->short_gb_per_s.known) {
        html_cell(t, "(%.3g)", c->short_gb_per_s.value);
    } else if (columns[k].column == RECOMMEND_RATE && c->gb_per_s.known) {
        html_cell(t, "%.3g", c->gb_per_s.value);
    } else if (columns[k].column == RECOMMEND_RATE) {
        html_cell(t, "%s", "");
    } else {
        page_input(&text, cell(r, i, columns[k].column));
        for (char *at = text.data; at && at < text.data + text.length; at++)
            *at = columns[k].column == RECOMMEND_IS && *at == '_' ? ' ' : *at;
        const char *is = text_string(&text) ? text.data : "";
        if (strcmp(is, "next cheaper") == 0 && !page_candidates_timed(r))
            is = "next in order";
        html_cell(t, "%s", is);
    }
    text_free(&text);
}

/* What figures in parentheses are. */
static void say_short(struct text *to, const struct page *r)
{
    const struct page_candidate *shorter = NULL;
    double most = 0;
    for (size_t i = 0; i < r->candidates; i++) {
        const struct page_candidate *c = &r->candidate[i];
        shorter = !shorter && c->short_gb_per_s.known ? c : shorter;
        most = c->gb_per_s.known ? fmax(most, c->timed_n.value) : most;
    }
    if (shorter)
        text_format(to,
                    " GB/s in parentheses: timed on fewer elements, say %.0f instead of %.0f, "
                    "which compares with none of the others.",
                    shorter->timed_n.value, most);
}

void page_recommended(struct text *to, const struct page *r)
{
    struct html_table t;
    bool used[COLUMNS] = {false};
    char align[COLUMNS + 1] = "";
    if (r->candidates == 0)
        return;
    for (size_t k = 0; k < COLUMNS; k++) {
        for (size_t i = 0; i < r->candidates; i++)
            used[k] |= *cell(r, i, columns[k].column) != '\0';
        if (used[k])
            align[strlen(align)] = columns[k].align;
    }
    text_format(to,
                "<section id=\"candidates\"><h2>Candidates</h2>\n<p>All that was tried, as "
                "recommend.csv has it. Errors: the largest on the arrays that all candidates were "
                "tried on, which the picture has, and the largest on all arrays that the one "
                "candidate was tried on; allowed is %s",
                r->candidate[0].limit.known ? short_number(r->candidate[0].limit.value).text : "");
    add_unit(to, r, &r->candidate[0]);
    text_add(to, ".");
    say_short(to, r);
    text_format(to, " The table, of %zu row%s, scrolls where it has no room, sideways too.</p>\n",
                r->candidates, text_s(r->candidates));
    html_table_begin(&t, to, align);
    for (size_t k = 0; k < COLUMNS; k++)
        if (used[k])
            html_cell(&t, "%s", columns[k].name);
    for (size_t i = 0; i < r->candidates; i++)
        for (size_t k = 0; k < COLUMNS; k++)
            if (used[k])
                candidate_cell(&t, r, i, k);
    html_table_end(&t);
    text_add(to, "</section>\n");
}

/* --- a mark for each, where nothing was timed: in their stated order --- */

enum { SHOWN_MOST = 40, LABEL_MOST = 42 };

/* The axis of errors, as exponents: whole powers of ten, and places for 0 and what is not finite
 * beyond them. */
struct span {
    double left, right, zero, endless;
    bool has_zero, has_endless;
};

static struct span span_of(const struct page *r, size_t shown)
{
    struct span s = {INFINITY, -INFINITY, 0, 0, false, false};
    for (size_t i = 0; i < shown; i++)
        for (int limit = 0; limit < 2; limit++) {
            const struct figure e = limit ? r->candidate[i].limit : r->candidate[i].error;
            s.has_zero |= e.known && e.value == 0;
            s.has_endless |= e.known && !limit && !isfinite(e.value);
            if (e.known && e.value > 0 && isfinite(e.value)) {
                s.left = fmin(s.left, floor(log10(e.value) - 0.05));
                s.right = fmax(s.right, ceil(log10(e.value) + 0.05));
            }
        }
    if (!isfinite(s.left))
        s.left = -1, s.right = 0;
    s.zero = s.left - 0.1 * (s.right - s.left);
    s.endless = s.right + 0.1 * (s.right - s.left);
    return s;
}

static double place_of(const struct span *s, double error)
{
    return pow(10, error == 0 ? s->zero : isfinite(error) ? log10(error) : s->endless);
}

static void add_axis(struct text *script, const struct span *s)
{
    const double margin = 0.06 * (s->right - s->left),
                 step = fmax(1, ceil((s->right - s->left) / 4));
    text_format(script,
                "set logscale x\nset format x '10^{%%T}'\nset xrange [%.6g : %.6g]\n"
                "set xlabel \"largest error\\n \"\nset xtics 1e%.0f, 1e%.0f, 1e%.0f\n",
                pow(10, (s->has_zero ? s->zero : s->left) - margin),
                pow(10, (s->has_endless ? s->endless : s->right) + margin),
                s->left + (s->has_zero ? step : 0), step, s->right - (s->has_endless ? 1 : 0));
    for (int endless = 0; endless < 2; endless++)
        if (endless ? s->has_endless : s->has_zero)
            text_format(script,
                        "set xtics add ('%s' %.6g)\nset arrow from %.6g, graph 0 to %.6g, graph 1 "
                        "nohead linecolor rgb 0xaaaaaa\n",
                        endless ? "inf" : "0", pow(10, endless ? s->endless : s->zero),
                        pow(10, endless ? s->right : s->left),
                        pow(10, endless ? s->right : s->left));
}

static void draw(struct plot *plot, const struct page *r)
{
    size_t shown = r->candidates < SHOWN_MOST ? r->candidates : SHOWN_MOST, block[3], marks[3];
    struct text names = {0}, title = {0};
    const struct span s = span_of(r, shown);
    const double limit = place_of(&s, r->candidate[0].limit.value);
    for (int kind = 0; kind < 3; kind++) { /* holds, breaks, recommended; a block that has none is
                                              no block to gnuplot */
        marks[kind] = 0;
        for (size_t i = 0; i < shown; i++) {
            const struct page_candidate *c = &r->candidate[i];
            bool holds = strcmp(cell(r, i, RECOMMEND_VERDICT), "holds") == 0;
            if (!c->error.known || !(kind == 2 ? c->recommended : holds == (kind == 0)))
                continue;
            if (marks[kind]++ == 0)
                text_format(&plot->data, "# error, place: %s\n",
                            kind == 0   ? "within the limit"
                            : kind == 1 ? "beyond it"
                                        : "recommended");
            text_format(&plot->data, "%.9g %zu %zu\n", place_of(&s, c->error.value), i,
                        page_ink(c->method).colour);
        }
        block[kind] = marks[kind] > 0 ? plot_data_end(plot) : 0;
    }
    for (size_t i = 0; i < shown; i++) {
        text_add(&names, i ? ", " : "");
        const char *label = r->candidate[i].label;
        bool python = strncmp(label, "python:", strlen("python:")) == 0;
        plot_axis_name(&names, label + (python ? strlen("python:") : 0), LABEL_MOST);
        text_format(&names, " %zu", i);
    }
    page_say_recommended(&title, r);
    plot_panel(plot, 175 + fmax(22 * (double)shown, 125),
               text_string(&title) ? text_string(&title) : "");
    add_axis(&plot->script, &s);
    text_format(
        &plot->script,
        "set yrange [%zu.7 : -0.7]\n"
        "set ytics scale 0 noenhanced font 'sans,9.5' (%s)\nset lmargin at screen 0.55\n"
        "set rmargin at screen 0.955\nset key font 'sans,11'\n"
        "set arrow from %.9g, graph 0 to %.9g, graph 1 nohead linecolor rgb 0x888888 "
        "dashtype 3\nplot keyentry with lines linecolor rgb 0x888888 dashtype 3 title 'allowed'",
        shown - 1, text_string(&names) ? text_string(&names) : "", limit, limit);
    static const char *const how[] = {"pointtype 7 pointsize 0.8", "pointtype 6 pointsize 0.8",
                                      "pointtype 6 pointsize 1.7 linewidth 2"},
                             *const says[] = {"holds", "breaks", "recommended"};
    for (size_t kind = 0; kind < 3; kind++)
        if (marks[kind] > 0)
            text_format(&plot->script,
                        ", \\\n    '%s.dat' index %zu using 1:2%s with points %s linecolor rgb %s "
                        "title '%s'",
                        plot->name, block[kind], kind < 2 ? ":(colour[int($3)])" : "", how[kind],
                        kind < 2 ? "variable" : "0x000000", says[kind]);
    text_add(&plot->script, "\n");
    text_free(&names);
    text_free(&title);
}

enum status page_candidates_by_cost(struct page *r, struct problem *p)
{
    struct plot plot;
    bool any = false;
    for (size_t i = 0; i < r->candidates; i++)
        any |= r->candidate[i].error.known;
    if (page_candidates_timed(r) || !any)
        return STATUS_OK;
    plot_begin(&plot, "costs", "candidate,error,limit,verdict,recommended");
    for (size_t i = 0; i < r->candidates; i++) {
        const struct page_candidate *c = &r->candidate[i];
        plot_cell(&plot, c->name);
        plot_number(&plot, c->error.known ? c->error.value : NAN);
        plot_number(&plot, c->limit.known ? c->limit.value : NAN);
        plot_cell(&plot, cell(r, i, RECOMMEND_VERDICT));
        plot_cell(&plot, c->recommended ? "yes" : "no");
        plot_row_end(&plot);
    }
    draw(&plot, r);
    struct text caption = {0};
    text_add(&caption, "The largest error of each on the arrays that all were tried on (in fp32: "
                       "added in fp32; to bf16: the result is rounded to bf16), in the order that "
                       "is stated for what is not timed, equals as the command lists them; no "
                       "speed was measured. "
                       "Left of the dotted line is allowed. Filled: held on every array; hollow: "
                       "broke on one. Left of the axis, at 0: exact results; right of it, at inf: "
                       "results that are not finite.");
    if (r->candidates > SHOWN_MOST)
        text_format(&caption, " The first %d of %zu; all are in the table below.", SHOWN_MOST,
                    r->candidates);
    enum status status =
        text_string(&caption)
            ? plot_end(&plot, r, "Candidates, not timed", caption.data, p)
            : problem(p, STATUS_MEMORY, "%s: out of memory for the pictures", r->folder);
    text_free(&caption);
    return status;
}
