/* The pictures that are curves: error against n, against the condition number, along a scan. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "reference/base/grow.h"
#include "reports/page/report.h"
#include "reports/csv/file.h"

/* Does it count among the cases of sums, dots, scans that are drawn? */
static bool has_error(const struct gathered_case *c)
{
    return c->runs > 0 && c->err_backward.known;
}

static struct sample *make_samples(const struct page *r, struct problem *p)
{
    struct sample *sample = calloc(r->g.count + 1, sizeof *sample);
    if (!sample)
        problem(p, STATUS_MEMORY, "%s: out of memory for the pictures", r->folder);
    return sample;
}

static struct sample sample_of(const struct page *r, const struct gathered_case *c)
{
    return (struct sample){.storage = c->field[CASE_STORAGE],
                           .accumulator = c->field[CASE_ACCUMULATOR],
                           .method = c->field[CASE_METHOD],
                           .device = c->field[CASE_DEVICE],
                           .x = NAN,
                           .y = NAN,
                           .bound = NAN,
                           .operation = r->operations > 1 ? page_operation_of(r, c) : NULL,
                           .chip = c->field[CASE_CHIP],
                           .promote = c->field[CASE_PROMOTE],
                           .workspace = c->field[CASE_WORKSPACE],
                           .algorithm = c->field[CASE_ALGORITHM]};
}

static double value_of(struct figure f)
{
    return f.known ? f.value : NAN;
}

/* --- error against n --- */

/* Of how many terms the outputs of an input were. */
struct lengths {
    const char *input;
    double least, most;
};

/* Of each input; NULL when memory is short. */
static struct lengths *list_lengths(const struct page *r, size_t *count)
{
    struct lengths *list = calloc(r->g.count + 1, sizeof *list);
    *count = 0;
    for (size_t i = 0; list && i < r->g.count; i++) {
        const struct gathered_case *c = &r->g.item[i];
        const double terms = page_terms(r, c).count;
        size_t k = 0;
        while (k < *count && strcmp(list[k].input, c->field[CASE_INPUT]) != 0)
            k++;
        if (k == *count)
            list[(*count)++] = (struct lengths){c->field[CASE_INPUT], terms, terms};
        list[k].least = fmin(list[k].least, terms);
        list[k].most = fmax(list[k].most, terms);
    }
    return list;
}

/* Was the case's input added at lengths of which one is four times another? */
static bool grows(const struct gathered_case *c, const struct lengths *list, size_t count)
{
    for (size_t k = 0; k < count; k++)
        if (strcmp(list[k].input, c->field[CASE_INPUT]) == 0)
            return list[k].most >= 4 * list[k].least;
    return false;
}

/* Of the panel of another? */
static bool same_panel(const struct page *r, const struct gathered_case *a,
                       const struct gathered_case *b)
{
    return strcmp(a->field[CASE_STORAGE], b->field[CASE_STORAGE]) == 0 &&
           strcmp(a->field[CASE_ACCUMULATOR], b->field[CASE_ACCUMULATOR]) == 0 &&
           (r->operations < 2 || page_operation_of(r, a) == page_operation_of(r, b));
}

/* Does the case's result overflow or underflow, or do even the best method's bounds tell so, which
 * then are beyond those of n roundings? What is drawn of it would say nothing of n. */
static bool leaves_range(const struct page *r, const struct gathered_case *c)
{
    struct figure least = {0};
    if (!(c->err_backward.value < 1))
        return true;
    for (size_t i = 0; c->bound.known && i < r->g.count; i++) {
        const struct gathered_case *d = &r->g.item[i];
        if (has_error(d) && d->n == c->n && d->bound.known &&
            !(least.known && least.value <= d->bound.value) &&
            strcmp(c->field[CASE_INPUT], d->field[CASE_INPUT]) == 0 && same_panel(r, c, d))
            least = d->bound;
    }
    return least.known &&
           least.value > 2 * page_terms(r, c).count * page_unit(c->field[CASE_ACCUMULATOR]);
}

/* Of the cases of which an error is known and whose inputs have several lengths, those of a panel
 * on inputs that stay in range; all of a panel where no input does. NULL when memory is short. */
static bool *choose(const struct page *r, const struct lengths *list, size_t inputs)
{
    bool *may = calloc(3 * r->g.count + 1, sizeof *may), *out = may + r->g.count,
         *drawn = out + r->g.count;
    const struct gathered_case *c = r->g.item;
    for (size_t i = 0; may && i < r->g.count; i++) {
        may[i] = has_error(&c[i]) && grows(&c[i], list, inputs);
        out[i] = may[i] && leaves_range(r, &c[i]);
    }
    for (size_t i = 0; may && i < r->g.count; i++) {
        drawn[i] = may[i];
        for (size_t k = 0; drawn[i] && k < r->g.count; k++)
            drawn[i] = !(out[k] && strcmp(c[i].field[CASE_INPUT], c[k].field[CASE_INPUT]) == 0 &&
                         same_panel(r, &c[i], &c[k]));
    }
    for (size_t i = 0; may && i < r->g.count; i++) {
        bool any = !may[i];
        for (size_t k = 0; !any && k < r->g.count; k++)
            any = drawn[k] && same_panel(r, &c[i], &c[k]);
        out[i] = !any;
    }
    for (size_t i = 0; may && i < r->g.count; i++)
        may[i] = drawn[i] || out[i];
    return may;
}

enum status page_growth(struct page *r, struct problem *p)
{
    static const struct look look = {
        .name = "growth",
        .heading = "Error against length",
        .caption =
            "The largest error over all inputs that have several lengths, all seeds and runs, in "
            "units of u &middot; sum|x| (u: half the distance from 1 to the accumulator's next "
            "number). Solid lines with marks: measured. Grey, where they pass through the picture: "
            "the root of the axis' number (dotted), about what rounding errors of random sign come "
            "to, and that number itself (dashes and dots), the most that so many additions of "
            "exact terms in the accumulator can err. Inputs on which a result overflows, or "
            "products underflow, are left out.",
        .x_label = "n, elements",
        .y_label = "error / (u sum|x|)",
        .unit = "u sum|x|",
        .x_name = "n",
        .y_name = "err_backward_over_u",
        .log_x = true,
        .lines = true,
        .bounds = true,
        .bounds_whole = true,
        .nested = true,
        .decades_most = 9,
        .top_most = 300,
        .series_most = 8};
    size_t count = 0, inputs;
    struct look terms = look;
    struct lengths *list = list_lengths(r, &inputs);
    struct sample *sample = list ? make_samples(r, p) : NULL;
    bool *drawn = sample ? choose(r, list, inputs) : NULL;
    for (size_t i = 0; sample && drawn && i < r->g.count; i++) {
        const struct gathered_case *c = &r->g.item[i];
        double u = page_unit(c->field[CASE_ACCUMULATOR]);
        if (!drawn[i])
            continue;
        sample[count] = sample_of(r, c);
        const struct page_terms of = page_terms(r, c);
        if (count == 0) {
            terms.heading = of.heading;
            terms.x_label = of.label;
            terms.x_name = of.name;
            terms.grows = of.symbol;
            terms.x_before = of.before;
            terms.x_after = of.after;
        }
        sample[count].x = of.count;
        sample[count].y = c->err_backward.value / u;
        sample[count++].bound = value_of(c->bound) / u;
    }
    enum status status =
        sample && drawn ? STATUS_OK : problem(p, STATUS_MEMORY, "%s: out of memory", r->folder);
    if (count > 0)
        status = page_samples(r, &terms, sample, count, p);
    free(list);
    free(drawn);
    free(sample);
    return status;
}

/* --- error against condition number --- */

static bool conditioned(const struct gathered_case *c)
{
    return c->runs > 0 && c->err_rel.known && c->cond_log2.known && isfinite(c->cond_log2.value) &&
           strncmp(c->field[CASE_INPUT], "cond", strlen("cond")) == 0;
}

bool page_has_conditions(const struct page *r)
{
    double least = INFINITY, most = 0;
    for (size_t i = 0; i < r->g.count; i++)
        if (conditioned(&r->g.item[i])) {
            least = fmin(least, r->g.item[i].cond_log2.value);
            most = fmax(most, r->g.item[i].cond_log2.value);
        }
    return most >= least + 10;
}

enum status page_cond(struct page *r, struct problem *p)
{
    static const struct look look = {
        .name = "cond",
        .heading = "Error against condition number",
        .caption =
            "Marks: the largest relative error over all lengths, seeds and runs, against the "
            "condition number sum|x| / |sum x|, which says how much cancels. Where the marks of a "
            "method cross 1 is its cliff: beyond it no digit is right; cliff_log2 in the CSV file "
            "is "
            "the first condition number tried there. Errors above 1000 are not drawn.",
        .x_label = "log2 of the condition number",
        .y_label = "error / |exact sum|",
        .shows = SHOWS_CLIFF,
        .x_name = "cond_log2",
        .y_name = "err_rel",
        .bounds = true,
        .nested = true,
        .decades_most = 30,
        .top_most = 3.6, /* no mark at drawn_most is cut */
        .drawn_most = 1000,
        .series_most = 8,
        .level = 1,
        .level_says = "no digit is right"};
    size_t count = 0;
    if (!page_has_conditions(r))
        return STATUS_OK;
    struct sample *sample = make_samples(r, p);
    for (size_t i = 0; sample && i < r->g.count; i++) {
        const struct gathered_case *c = &r->g.item[i];
        if (!conditioned(c))
            continue;
        sample[count] = sample_of(r, c);
        sample[count].x = round(c->cond_log2.value);
        sample[count].y = c->err_rel.value;
        sample[count++].bound = value_of(c->bound) * exp2(c->cond_log2.value);
    }
    enum status status = sample ? page_samples(r, &look, sample, count, p) : STATUS_MEMORY;
    free(sample);
    return status;
}

/* --- error along a scan --- */

struct outputs {
    struct page *r;
    struct sample *sample;
    size_t count;
    const char *input; /* whose are drawn */
    double n;          /* the largest of it */
};

/* Is it of the input on which a scan errs most, one of its longest scans? */
static bool is_drawn(const struct outputs *o, const struct gathered_case *c)
{
    return c->n >= o->n && strcmp(c->field[CASE_INPUT], o->input) == 0;
}

static bool add_output(struct outputs *o, const struct gathered_case *c, double index, double ulp)
{
    if (!grow(&o->sample, o->count, sizeof *o->sample))
        return false;
    o->sample[o->count] = sample_of(o->r, c);
    o->sample[o->count].x = index + 1;
    o->sample[o->count++].y = ulp < 0.1 ? 0 : ulp;
    return true;
}

/* profile.csv has some outputs: the worst of all need not be one of them. */
static enum status add_worst(struct outputs *o, struct problem *p)
{
    const struct page *r = o->r;
    for (size_t i = 0; i < r->g.count; i++) {
        const struct gathered_case *c = &r->g.item[i];
        if (is_drawn(o, c) && c->err_ulp.known && c->worst_index.known &&
            !add_output(o, c, c->worst_index.value, c->err_ulp.value))
            return problem(p, STATUS_MEMORY, "%s: out of memory", r->folder);
    }
    return STATUS_OK;
}

static enum status take_output(void *context, const struct csv_row *row, struct problem *p)
{
    struct outputs *o = context;
    struct figure index, ulp;
    const struct gathered_case *c = gathered_named(&o->r->g, row->field[PROFILE_CASE_ID]);
    enum status status = csv_figure(row, PROFILE_INDEX, "index", &index, p);
    if (status == STATUS_OK)
        status = csv_figure(row, PROFILE_ERR_ULP, "err_ulp", &ulp, p);
    if (status != STATUS_OK || !c || !ulp.known || !index.known || !is_drawn(o, c))
        return status;
    return add_output(o, c, index.value, ulp.value)
               ? STATUS_OK
               : problem(p, STATUS_MEMORY, "%s: out of memory", row->path);
}

enum status page_drift(struct page *r, struct problem *p)
{
    static const struct look look = {
        .name = "drift",
        .heading = "Error along a scan",
        .caption =
            "The largest error so far along the longest scans of the input on which one errs most, "
            "in ulps of each exact prefix sum, against the number of the output: of the outputs in "
            "profile.csv, which are some of the first run's, and of the worst output of all runs, "
            "so that each curve ends at the largest error of its method. Outputs less than 0.1 ulp "
            "off stand just above the lower edge; those that are not finite have no mark.",
        .x_label = "number of the output, from 1",
        .y_label = "error, ulp of the exact prefix",
        .unit = "ulp",
        .x_name = "output",
        .y_name = "err_ulp_so_far",
        .log_x = true,
        .lines = true,
        .so_far = true,
        .decades_most = 9,
        .top_most = 300,
        .series_most = 8,
        .level = 0.5,
        .level_says = "half an ulp"};
    struct outputs o = {.r = r};
    if (r->g.of != COLUMNS_OF_SCANS)
        return STATUS_OK;
    struct figure worst = {0};
    for (size_t i = 0; i < r->g.count; i++) {
        struct figure error = page_err_ulp(&r->g.item[i]);
        if (!o.input || (error.known && (!worst.known || figure_worse(error.value, worst.value)))) {
            o.input = r->g.item[i].field[CASE_INPUT];
            worst = error;
        }
    }
    for (size_t i = 0; i < r->g.count; i++)
        if (strcmp(r->g.item[i].field[CASE_INPUT], o.input) == 0)
            o.n = fmax(o.n, r->g.item[i].n);
    enum status status =
        page_file(r, "profile.csv", profile_column, PROFILE_COLUMNS, take_output, &o, p);
    if (status == STATUS_OK && o.count > 0)
        status = add_worst(&o, p);
    if (status == STATUS_OK && o.count > 0)
        status = page_samples(r, &look, o.sample, o.count, p);
    free(o.sample);
    return status;
}
