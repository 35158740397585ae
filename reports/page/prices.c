/* What each promise costs, as a picture and in sentences: the time of what `run ladder` timed, in
 * raw reads, by promise. */
#include <math.h>
#include <stdio.h>

#include "reports/page/report.h"

enum { PRICES_MOST = 4, RUNG_TEXT = 16 };

static const char *const rung_label[PROMISES] = {"none", "run\\nto run", "GPU\\nto GPU",
                                                 "any\\norder", "correctly\\nrounded"};

static bool same_panel(const struct page_time *a, const struct page_time *b)
{
    static const enum times_column same[] = {TIMES_DEVICE, TIMES_STORAGE, TIMES_ACCUMULATOR,
                                             TIMES_INPUT, TIMES_N};
    bool is = true;
    for (size_t k = 0; k < sizeof same / sizeof *same; k++)
        is &= strcmp(a->field[same[k]], b->field[same[k]]) == 0;
    return is;
}

static bool is_timed(const struct page_time *t)
{
    return t->of_raw.known && t->of_raw.value > 0 && *t->field[TIMES_ACCUMULATOR];
}

/* As bench says it: the data fit in the cache, so that the raw read is none of the memory. */
static const char *cached(const struct page_time *t)
{
    return *t->field[TIMES_IN_CACHE] ? ", cached" : "";
}

static void write_row(struct plot *plot, const struct page_time *t, enum promise promise)
{
    static const enum times_column column[] = {TIMES_DEVICE, TIMES_STORAGE, TIMES_ACCUMULATOR,
                                               TIMES_INPUT,  TIMES_N,       TIMES_METHOD};
    for (size_t k = 0; k < sizeof column / sizeof *column; k++)
        plot_cell(plot, t->field[column[k]]);
    plot_cell(plot, promise_name[promise]);
    plot_number(plot, 1 / t->of_raw.value);
    plot_row_end(plot);
}

/* Writes what was timed with `first`. Returns the longest time in raw reads. */
static double write_times(struct plot *plot, const struct page *r, const struct page_time *first)
{
    double most = 1;
    text_add(&plot->data, "# time in raw reads, promise\n");
    for (size_t i = 0; i < r->times; i++) {
        const struct page_time *t = &r->time[i];
        if (!is_timed(t) || !same_panel(first, t))
            continue;
        enum promise promise = page_promise_of(r, t->field[TIMES_METHOD]);
        text_format(&plot->data, "%.9g %d\n", 1 / t->of_raw.value, (int)promise);
        write_row(plot, t, promise);
        most = fmax(most, 1 / t->of_raw.value);
    }
    return most;
}

/* Writes the cheapest method of each promise, its colour and its mark, and what it is called. */
static void write_cheapest(struct plot *plot, const struct page *r, const struct page_time *first)
{
    text_add(&plot->data, "# time in raw reads, promise, colour, name: the cheapest\n");
    for (enum promise rung = PROMISE_RUN_TO_RUN; rung < PROMISES; rung++) {
        const struct page_time *t = page_fastest(r, first, rung);
        if (t)
            text_format(&plot->data, "%.9g %d %zu \"%s  %.2f\"\n", 1 / t->of_raw.value, (int)rung,
                        page_ink(t->field[TIMES_METHOD]).colour, t->field[TIMES_METHOD],
                        1 / t->of_raw.value);
    }
}

/* The lowest rung and the highest that a method promises. */
static void say_prices(struct text *to, const struct page *r, const struct page_time *first)
{
    const struct page_time *lowest = page_fastest(r, first, PROMISE_RUN_TO_RUN), *highest = NULL;
    enum promise rung = PROMISES - 1;
    while (rung > PROMISE_RUN_TO_RUN && !(highest = page_fastest(r, first, rung)))
        rung--;
    if (lowest)
        text_format(to, ": run_to_run costs %.2f raw reads", 1 / lowest->of_raw.value);
    if (lowest && highest)
        text_format(to, ", %s %.2f", promise_name[rung], 1 / highest->of_raw.value);
}

static void draw_panel(struct plot *plot, const struct page *r, const struct page_time *first)
{
    struct text title = {0};
    double most = write_times(plot, r, first);
    size_t times = plot_data_end(plot);
    write_cheapest(plot, r, first);
    size_t cheapest = plot_data_end(plot);
    page_times_formats(&title, first, ", ");
    page_input(&title, first->field[TIMES_INPUT]);
    text_format(&title, ", n = %s%s", first->field[TIMES_N], cached(first));
    say_prices(&title, r, first);
    plot_panel(plot, 360, text_string(&title) ? text_string(&title) : "");
    text_add(&plot->script, "unset key\nset ytics (");
    for (enum promise rung = PROMISE_NONE; rung < PROMISES; rung++)
        text_format(&plot->script, "%s\"%s\" %d", rung ? ", " : "", rung_label[rung], (int)rung);
    text_format(&plot->script,
                ") scale 0\nset xlabel 'time, raw reads of the same data'\nunset ylabel\n"
                "set logscale x\nset xrange [0.7 : %.6g]\nset yrange [-0.5 : %d.6]\n"
                "plot '%s.dat' index %zu using 1:2 with points linecolor rgb 0xbbbbbb pointtype 7 "
                "\\\n    pointsize 0.6, \\\n"
                "    '' index %zu using 1:2:(colour[int($3)]) with points linecolor rgb variable "
                "\\\n    pointtype 13 pointsize 1.2, \\\n"
                "    '' index %zu using 1:2:4 with labels noenhanced left offset -0.5, 0.9 font "
                "'sans,12'\n",
                fmax(1.6 * most, 10), PROMISES - 1, plot->name, times, cheapest, cheapest);
    text_free(&title);
}

enum status page_prices(struct page *r, struct problem *p)
{
    struct plot plot;
    bool any_cached = false;
    plot_begin(&plot, "prices", "device,storage,accumulator,input,n,method,promise,raw_reads");
    for (size_t i = 0; i < r->times && plot.panels < PRICES_MOST; i++) {
        size_t k = 0;
        while (k < i && !(is_timed(&r->time[k]) && same_panel(&r->time[k], &r->time[i])))
            k++;
        if (k == i && is_timed(&r->time[i]) && page_fastest(r, &r->time[i], PROMISE_RUN_TO_RUN)) {
            draw_panel(&plot, r, &r->time[i]);
            any_cached |= *cached(&r->time[i]) != '\0';
        }
    }
    static const char cache[] =
        " Cached: the data fit in the cache, where the instructions of the raw read's loop, not "
        "the memory, limit it; a larger --timed tells how near to the speed of memory a method is.";
    struct text caption = {0};
    text_format(
        &caption,
        "Each point is one method, in the row of the promise that it makes. Its place from left to "
        "right is its time as a multiple of a raw read, a loop that only reads the data: 1 is as "
        "fast as reading. The named point of a row is the cheapest method with that promise or a "
        "stronger one; grey points are the other methods, named in the table of times and in the "
        "CSV file of the picture.%s",
        any_cached ? cache : "");
    enum status status =
        text_string(&caption)
            ? plot_end(&plot, r, "What each promise costs", caption.data, p)
            : problem(p, STATUS_MEMORY, "%s: out of memory for the pictures", r->folder);
    text_free(&caption);
    return status;
}

/* --- What methods cost, in sentences: what was timed beside a raw read --- */

static void say_speed(struct text *to, const struct page *r)
{
    const struct page_time *best = NULL;
    for (size_t i = 0; i < r->times; i++)
        if (r->time[i].of_raw.known && (!best || r->time[i].of_raw.value > best->of_raw.value))
            best = &r->time[i];
    if (!best)
        return;
    text_add(to, "<li class=\"plain\">");
    html_format(to, "Fastest beside a raw read of the same data: %s, ", best->field[TIMES_METHOD]);
    page_time_formats(to, best, ", at ");
    html_format(to, "%s GB/s, %.2f of the raw read%s.",
                short_number(best->gb_per_s.known ? best->gb_per_s.value : 0).text,
                best->of_raw.value, cached(best));
    text_add(to, "</li>\n");
}

enum promise page_promise_of(const struct page *r, const char *method)
{
    for (size_t i = 0; i < r->g.count; i++)
        if (strcmp(r->g.item[i].field[CASE_METHOD], method) == 0)
            return r->g.item[i].promise;
    return PROMISE_NONE;
}

const struct page_time *page_fastest(const struct page *r, const struct page_time *like,
                                     enum promise rung)
{
    static const enum times_column same[] = {TIMES_DEVICE, TIMES_STORAGE, TIMES_ACCUMULATOR,
                                             TIMES_INPUT, TIMES_N};
    const struct page_time *best = NULL, *first = like;
    for (size_t i = 0; i < r->times; i++) {
        const struct page_time *t = &r->time[i];
        bool asked = t->of_raw.known && t->of_raw.value > 0 &&
                     page_promise_of(r, t->field[TIMES_METHOD]) != PROMISE_NONE;
        first = first || !asked ? first : t;
        for (size_t k = 0; asked && k < sizeof same / sizeof *same; k++)
            asked = strcmp(t->field[same[k]], first->field[same[k]]) == 0;
        if (asked && page_promise_of(r, t->field[TIMES_METHOD]) >= rung &&
            (!best || t->of_raw.value > best->of_raw.value))
            best = t;
    }
    return best;
}

static void say_costs(struct text *to, const struct page *r)
{
    const struct page_time *first = page_fastest(r, NULL, PROMISE_RUN_TO_RUN);
    if (!first)
        return;
    text_add(to, "<li class=\"plain\">");
    html_format(to, "What each promise costs, in raw reads of the same data (%s, ",
                first->field[TIMES_INPUT]);
    page_times_formats(to, first, "");
    text_format(to, "%s):", cached(first));
    for (enum promise rung = PROMISE_RUN_TO_RUN; rung < PROMISES; rung++) {
        const struct page_time *t = page_fastest(r, NULL, rung);
        if (t)
            html_format(to, "%s %s %.2f (%s)", rung == PROMISE_RUN_TO_RUN ? "" : ",",
                        promise_name[rung], 1 / t->of_raw.value, t->field[TIMES_METHOD]);
    }
    text_add(to, ".");
    text_add(to, "</li>\n");
}

void page_cost_findings(struct text *to, const struct page *r)
{
    if (r->candidates == 0) /* else its formats are not one pair */
        say_costs(to, r);
    say_speed(to, r);
}
