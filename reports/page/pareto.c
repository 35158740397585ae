/* Error against speed: what each method of `run ladder` gives for its time. */
#include <math.h>
#include <stdlib.h>

#include "reports/page/report.h"

/* The largest error of a method on what it was timed on. */
static double error_of(const struct page *r, const struct page_time *t)
{
    struct figure most = {0};
    for (size_t i = 0; i < r->g.count; i++) {
        const struct gathered_case *c = &r->g.item[i];
        if (strcmp(c->field[CASE_METHOD], t->field[TIMES_METHOD]) == 0 &&
            strcmp(c->field[CASE_STORAGE], t->field[TIMES_STORAGE]) == 0 &&
            strcmp(c->field[CASE_ACCUMULATOR], t->field[TIMES_ACCUMULATOR]) == 0 &&
            strcmp(c->field[CASE_DEVICE], t->field[TIMES_DEVICE]) == 0 &&
            strcmp(c->field[CASE_INPUT], t->field[TIMES_INPUT]) == 0)
            gathered_raise(&most, page_err_ulp(c));
    }
    return most.known ? most.value : NAN;
}

struct lengths {
    double least, most; /* least > most: none */
};

static void add_length(struct lengths *l, double n)
{
    l->least = fmin(l->least, n);
    l->most = fmax(l->most, n);
}

static void say_length(struct text *to, double n)
{
    int exponent;
    if (n >= 1024 && frexp(n, &exponent) == 0.5)
        text_format(to, "2^%d", exponent - 1);
    else
        text_format(to, "%.0f", n);
}

static void say_these(struct text *to, const struct lengths *l)
{
    say_length(to, l->least);
    if (l->most > l->least) {
        text_add(to, " to ");
        say_length(to, l->most);
    }
}

/* At which lengths speeds and errors are, which need not be the same. */
static void say_lengths(struct text *to, const struct page *r, const char *input)
{
    struct lengths speeds = {INFINITY, 0}, errors = {INFINITY, 0};
    bool cached = false;
    for (size_t i = 0; i < r->times; i++) {
        const struct page_time *t = &r->time[i];
        if (strcmp(t->field[TIMES_INPUT], input) != 0 || !t->gb_per_s.known ||
            !isfinite(error_of(r, t)))
            continue;
        add_length(&speeds, strtod(t->field[TIMES_N], NULL));
        cached |= *t->field[TIMES_IN_CACHE] != '\0';
    }
    for (size_t i = 0; i < r->g.count; i++)
        if (strcmp(r->g.item[i].field[CASE_INPUT], input) == 0)
            add_length(&errors, r->g.item[i].n);
    if (speeds.least > speeds.most || errors.least > errors.most)
        return;
    const bool same = speeds.least == errors.least && speeds.most == errors.most;
    text_add(to, same ? "Speeds (times.csv) and errors at n = " : "Speeds (times.csv) at n = ");
    say_these(to, &speeds);
    text_add(to, cached ? ", cached" : "");
    if (!same) {
        text_add(to, ", errors (the cases of this study) at n = ");
        say_these(to, &errors);
    }
    text_add(to, ". ");
}

/* Of what was timed on an input. */
static enum status draw_pareto(struct page *r, const char *name, const char *input,
                               struct problem *p)
{
    struct look look = {.name = name,
                        .x_label = "10^9 bytes of input per second",
                        .y_label = "largest error, ulp of the exact sum",
                        .shows = SHOWS_BEST,
                        .x_name = "gb_per_s",
                        .y_name = "err_ulp",
                        .log_x = true,
                        .frontier = true,
                        .x_span = 32,
                        .decades_most = 14,
                        .top_most = 300,
                        .series_most = 12,
                        .level = 0.5,
                        .level_says = "half an ulp"};
    size_t count = 0;
    struct text heading = {0}, caption = {0};
    struct sample *sample = calloc(r->times + 1, sizeof *sample);
    text_add(&heading, "Error against speed: ");
    page_input(&heading, input);
    say_lengths(&caption, r, input);
    text_add(&caption,
             "Each point is one method: further right is faster, further down is more accurate. "
             "The grey line is the frontier: no method is both faster and more accurate than one "
             "on it. Pale grey points lie behind it; the CSV file of the picture names them, and "
             "the table of times does where there are many. Methods that take more than 32 times "
             "as long as the fastest are drawn at the left edge, exact results at 0. "
             "Half an ulp is the error of rounding once.");
    look.heading = text_string(&heading);
    look.caption = text_string(&caption);
    if (!sample || !look.heading || !look.caption) {
        free(sample);
        text_free(&heading);
        text_free(&caption);
        return problem(p, STATUS_MEMORY, "%s: out of memory for the pictures", r->folder);
    }
    for (size_t i = 0; i < r->times; i++) {
        const struct page_time *t = &r->time[i];
        double error = error_of(r, t);
        if (strcmp(t->field[TIMES_INPUT], input) != 0 || !t->gb_per_s.known || !isfinite(error))
            continue;
        sample[count++] = (struct sample){.storage = t->field[TIMES_STORAGE],
                                          .accumulator = t->field[TIMES_ACCUMULATOR],
                                          .method = t->field[TIMES_METHOD],
                                          .device = t->field[TIMES_DEVICE],
                                          .x = t->gb_per_s.value,
                                          .y = error,
                                          .bound = NAN};
    }
    enum status status = count > 1 ? page_samples(r, &look, sample, count, p) : STATUS_OK;
    free(sample);
    text_free(&heading);
    text_free(&caption);
    return status;
}

/* Of the first two inputs that were timed: `ladder` has one that is well-conditioned, and one that
 * is not. */
enum status page_pareto(struct page *r, struct problem *p)
{
    if (r->times == 0 || r->candidates > 0)
        return STATUS_OK;
    const char *first = r->time[0].field[TIMES_INPUT], *next = NULL;
    for (size_t i = 1; !next && i < r->times; i++)
        if (strcmp(r->time[i].field[TIMES_INPUT], first) != 0)
            next = r->time[i].field[TIMES_INPUT];
    enum status status = draw_pareto(r, "pareto", first, p);
    return status == STATUS_OK && next ? draw_pareto(r, "pareto_next", next, p) : status;
}
