/* A map of correct digits: inputs by accumulators, a panel for each storage format. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "reports/page/report.h"
#include "reference/format/format.h"

enum { INPUTS_MOST = 16 };

/* The method that stands for an operation, the one of most interest; NULL: the study has none. */
static const char *method_of(const struct page *r, const struct operation *o)
{
    const char *best = NULL;
    for (size_t i = 0; i < r->g.count; i++) {
        const char *method = r->g.item[i].field[CASE_METHOD];
        bool tiled = strstr(method, "/tiled") != NULL;
        if (r->g.item[i].runs > 0 && page_operation_of(r, &r->g.item[i]) == o &&
            (!best || (tiled && !strstr(best, "/tiled"))))
            best = method;
    }
    return best;
}

/* But for those that have a picture of their own. */
static size_t list_inputs(const char *input[INPUTS_MOST], const struct page *r, const char *method)
{
    size_t count = 0;
    bool conditions = page_has_conditions(r);
    for (size_t i = 0; i < r->g.count; i++) {
        size_t k = 0;
        const struct gathered_case *c = &r->g.item[i];
        bool cond = strncmp(c->field[CASE_INPUT], "cond", strlen("cond")) == 0;
        if (strcmp(c->field[CASE_METHOD], method) != 0 || !c->err_rel.known || (cond && conditions))
            continue;
        while (k < count && strcmp(input[k], c->field[CASE_INPUT]) != 0)
            k++;
        if (k == count && count < INPUTS_MOST)
            input[count++] = c->field[CASE_INPUT];
    }
    return count;
}

/* A result that is not finite has no digit right, also where the exact sum is 0, so that there is
 * no relative error. One that is the exact value, rounded, has all, also where that is 0 or
 * infinite. */
static struct figure error_of(const struct gathered_case *c)
{
    struct figure ulp = page_err_ulp(c);
    if (c->err_ulp.known && (!ulp.known || ulp.value == 0))
        return (struct figure){true, 0};
    return ulp.known && !isfinite(ulp.value) ? ulp : c->err_rel;
}

/* Correct decimal digits of the worst case; INFINITY: exact; NaN: there is none. */
static double digits_of(const struct page *r, const char *method, const char *input,
                        enum format storage, enum format accumulator)
{
    struct figure most = {0};
    for (size_t i = 0; i < r->g.count; i++) {
        const struct gathered_case *c = &r->g.item[i];
        if (strcmp(c->field[CASE_METHOD], method) == 0 &&
            strcmp(c->field[CASE_INPUT], input) == 0 &&
            strcmp(c->field[CASE_STORAGE], format_facts[storage].name) == 0 &&
            strcmp(c->field[CASE_ACCUMULATOR], format_facts[accumulator].name) == 0)
            gathered_raise(&most, error_of(c));
    }
    if (!most.known)
        return NAN;
    return most.value == 0 ? INFINITY : !(most.value < 1) ? 0 : -log10(most.value);
}

/* Writes a cell: column, row, digits, text. */
static void write_cell(struct plot *plot, size_t column, size_t row, double digits)
{
    text_format(&plot->data, "%zu %zu %.4f ", column, row, fmin(digits, 16));
    if (isinf(digits))
        text_add(&plot->data, "exact\n");
    else
        text_format(&plot->data, "%.1f\n", digits);
}

/* Writes the cells of a storage format. Returns how many accumulators there are, which it lists. */
static size_t write_cells(struct plot *plot, enum format list[ACCUMULATORS], double reach[2],
                          const struct page *r, const char *method, const char *const *input,
                          size_t inputs, enum format storage)
{
    size_t columns = 0;
    for (enum format a = 0; a < ACCUMULATORS; a++) {
        bool any = false;
        for (size_t i = 0; i < inputs; i++) {
            double digits = digits_of(r, method, input[i], storage, a);
            if (isnan(digits))
                continue;
            write_cell(plot, columns, i, digits);
            reach[0] = fmin(reach[0], digits);
            reach[1] = fmax(reach[1], digits);
            plot_cell(plot, method);
            plot_cell(plot, format_facts[storage].name);
            plot_cell(plot, format_facts[a].name);
            plot_cell(plot, input[i]);
            plot_number(plot, digits);
            plot_row_end(plot);
            any = true;
        }
        if (any)
            list[columns++] = a;
    }
    return columns;
}

static void say_reach(struct text *to, const double reach[2])
{
    if (isinf(reach[0]))
        text_add(to, "exact");
    else if (isinf(reach[1]))
        text_format(to, "%.1f correct decimal digits to exact", reach[0]);
    else
        text_format(to, "%.1f to %.1f correct decimal digits", reach[0], reach[1]);
}

/* Is the method exact wherever its data are in this format? A map would show one colour. */
static bool all_exact(const struct page *r, const char *method, const char *const *input,
                      size_t inputs, enum format storage)
{
    bool any = false;
    for (enum format a = 0; a < ACCUMULATORS; a++)
        for (size_t i = 0; i < inputs; i++) {
            double digits = digits_of(r, method, input[i], storage, a);
            any |= isinf(digits);
            if (isfinite(digits))
                return false;
        }
    return any;
}

static void draw_storage(struct plot *plot, const struct page *r, const char *method,
                         const char *const *input, size_t inputs, enum format storage)
{
    struct text title = {0};
    text_format(&plot->data, "# %s, %s: accumulator, input, digits, as text\n", method,
                format_facts[storage].name);
    enum format list[ACCUMULATORS];
    double reach[] = {INFINITY, -INFINITY};
    size_t columns = write_cells(plot, list, reach, r, method, input, inputs, storage);
    if (columns == 0)
        return;
    size_t block = plot_data_end(plot);
    text_format(&title, "%s, data in %s: ", method, format_facts[storage].name);
    say_reach(&title, reach);
    plot_panel(plot, 120 + 28 * (double)inputs, text_string(&title) ? text_string(&title) : "");
    text_format(&plot->script, "unset key\nunset grid\nunset logscale\nset xtics (");
    for (size_t i = 0; i < columns; i++)
        text_format(&plot->script, "%s'%s' %zu", i ? ", " : "", format_facts[list[i]].name, i);
    text_add(&plot->script, ") scale 0\nset ytics (");
    for (size_t i = 0; i < inputs; i++) {
        text_add(&plot->script, i ? ", " : "");
        plot_axis_name(&plot->script, input[i], 24);
        text_format(&plot->script, " %zu", i);
    }
    text_format(
        &plot->script,
        ") scale 0 noenhanced font 'sans,12'\nset lmargin at screen 0.4\nset rmargin at screen "
        "0.97\nset "
        "xrange [-0.5 : "
        "%zu.5]\nset yrange [%zu.5 : -0.5]\n"
        "set xlabel 'accumulator'\nunset ylabel\nset cbrange [0 : 16]\n"
        "unset colorbox\nset palette defined (0 '#440154', 4 '#3b528b', 8 '#21918c', \\\n"
        "    12 '#5ec962', 16 '#fde725')\n"
        "plot '%s.dat' index %zu using 1:2:(0.48):(0.46):3 with boxxyerror fillstyle solid \\\n"
        "    noborder linecolor palette, \\\n"
        "    '' index %zu using 1:2:(stringcolumn(4)):"
        "($3 > 8 ? 0x000001 : 0xffffff) with labels textcolor rgb variable font 'sans,12'\n",
        columns - 1, inputs - 1, plot->name, block, block);
    text_free(&title);
}

static void draw_method(struct plot *plot, const struct page *r, const char *method)
{
    const char *input[INPUTS_MOST];
    size_t inputs = list_inputs(input, r, method);
    for (enum format storage = 0; inputs > 1 && storage < FORMATS; storage++)
        if (plot->panels < sizeof plot->title / sizeof *plot->title &&
            !all_exact(r, method, input, inputs, storage))
            draw_storage(plot, r, method, input, inputs, storage);
}

/* Is there one pair of formats alone? */
static bool one_pair(const struct page *r)
{
    for (size_t i = 1; i < r->g.count; i++)
        if (strcmp(r->g.item[i].field[CASE_STORAGE], r->g.item[0].field[CASE_STORAGE]) != 0 ||
            strcmp(r->g.item[i].field[CASE_ACCUMULATOR], r->g.item[0].field[CASE_ACCUMULATOR]) != 0)
            return false;
    return true;
}

/* A study of several operations has a map of each; of subjects that the registry does not know, one
 * stands for all. A map of one column compares nothing: it is drawn where it is the only picture.
 */
enum status page_heat(struct page *r, struct problem *p)
{
    struct plot plot;
    if (r->drawn > 0 && one_pair(r))
        return STATUS_OK;
    plot_begin(&plot, "heat", "method,storage,accumulator,input,digits");
    for (size_t i = 0; operations[i]; i++) {
        const char *method = method_of(r, operations[i]);
        if (method)
            draw_method(&plot, r, method);
    }
    const char *foreign = method_of(r, NULL);
    if (foreign && plot.panels == 0)
        draw_method(&plot, r, foreign);
    return plot_end(
        &plot, r, "Correct digits by input and accumulator",
        "Correct decimal digits of one method of each operation, in the worst case over all "
        "lengths, seeds and runs. exact: all of them; 0.0: not even the size is right. A blank "
        "was not run, or has no relative error (the exact sum is 0). Methods that are exact in all "
        "cases of a storage format have no map.",
        p);
}
