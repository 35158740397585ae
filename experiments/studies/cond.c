/* run cond: how ill-conditioned may a sum be for a method? */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "experiments/sweep/breaks.h"
#include "experiments/cases/experiment.h"
#include "experiments/studies/says.h"
#include "reports/text/table.h"

/* Columns of the table, unless it is to have all: at multiples of half the accumulator's precision,
 * so that the condition numbers u^-1, u^-2, .. are among them, and at the last. */
enum { HALVES = 10 };

/* What there is of a case. */
struct spot {
    const struct study_case *one;
    int place;        /* the condition number is 2^place */
    double bound_rel; /* the bound over |exact|: inf where the theorem says nothing, NaN where the
                         result is not finite and it was not asked */
};

struct cond {
    const struct plan *plan;
    struct spot *of_case, *spot; /* of each case of the plan; those of one table */
    size_t spots;
    int *place, *column; /* of the table's cases, ascending, each once; those with a column */
    size_t places;
    bool *drawn; /* of each case */
};

/* The cases of one table differ in the method, the input, the seed and the launch shape. */
static bool together(const struct plan *plan, const struct study_case *a,
                     const struct study_case *b)
{
    const struct array *x = &plan->source[a->source].array, *y = &plan->source[b->source].array;
    return x->format == y->format && x->n == y->n && a->accumulator == b->accumulator &&
           a->device.kind == b->device.kind && a->device.index == b->device.index;
}

/* Where there is a relative error the condition number is finite. */
static bool shown(const struct study_case *t)
{
    return t->finished && t->supported && t->cond_log2.known && t->err_rel_max.known;
}

static enum status take(void *context, const struct csv_row *row, struct problem *p)
{
    const struct cond *c = context;
    struct figure bound, exact;
    const struct study_case *t =
        plan_find(c->plan, strtoull(row->field[RESULTS_CASE_ID], NULL, 16));
    enum status status = csv_figure(row, RESULTS_BOUND, "bound", &bound, p);
    if (status == STATUS_OK)
        status = csv_figure(row, RESULTS_EXACT, "exact", &exact, p);
    if (status != STATUS_OK || !t)
        return status;
    double says_nothing = strcmp(row->field[RESULTS_STATUS], "ok") == 0 ? INFINITY : NAN;
    c->of_case[t - c->plan->cases].bound_rel =
        bound.known ? bound.value / fabs(exact.value) : says_nothing;
    return STATUS_OK;
}

static int ascending(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* Gathers the cases of the table that a case stands in, and their condition numbers. */
static void gather(struct cond *c, const struct study_case *first)
{
    size_t kept = 0;
    c->spots = 0;
    for (size_t i = 0; i < c->plan->case_count; i++) {
        const struct study_case *t = &c->plan->cases[i];
        if (!shown(t) || !together(c->plan, first, t))
            continue;
        c->drawn[i] = true;
        c->place[c->spots] = (int)lround(t->cond_log2.value);
        c->spot[c->spots] = (struct spot){t, c->place[c->spots], c->of_case[i].bound_rel};
        c->spots++;
    }
    qsort(c->place, c->spots, sizeof *c->place, ascending);
    for (size_t i = 0; i < c->spots; i++)
        if (kept == 0 || c->place[kept - 1] != c->place[i])
            c->place[kept++] = c->place[i];
    c->places = kept;
}

/* The largest relative error of a method's cases at a condition number, or their largest bound;
 * -1 where there is none, NaN where any is. */
static double largest(const struct cond *c, const struct method *m, int place, bool of_bound)
{
    double most = -1;
    for (size_t i = 0; i < c->spots; i++) {
        const struct spot *s = &c->spot[i];
        if (s->one->method != m || s->place != place)
            continue;
        double x = of_bound ? s->bound_rel : s->one->err_rel_max.value;
        most = figure_worse(x, most) ? x : most;
    }
    return most;
}

static void digits_cell(struct table *to, double err_rel)
{
    if (isnan(err_rel))
        table_cell(to, "nan");
    else if (err_rel < 0)
        table_cell(to, "%s", "");
    else if (err_rel == 0)
        table_cell(to, "exact");
    else
        table_cell(to, "%.1f", err_rel >= 1 ? 0 : -log10(err_rel));
}

/* The least of the condition numbers at which the error, or the bound, is as large as the sum;
 * `places` where it never is. Then *x is the error there: NaN where it has none. */
static size_t cliff(double *x, const struct cond *c, const struct method *m, bool of_bound)
{
    size_t i = 0;
    *x = 0;
    for (; i < c->places; i++) {
        *x = largest(c, m, c->place[i], of_bound);
        if (*x >= 1 || isnan(*x))
            break;
    }
    return i;
}

static void cliff_cell(struct table *to, const struct cond *c, const struct method *m,
                       bool of_bound)
{
    double x;
    size_t i = cliff(&x, c, m, of_bound);
    if (i == c->places)
        table_cell(to, ">2^%d", c->place[c->places - 1]);
    else if (isnan(x) && of_bound)
        table_cell(to, "%s", "");
    else
        table_cell(to, "2^%d", c->place[i]);
}

/* Which of the places have a column; how many. */
static size_t columns_of(const struct cond *c, enum format accumulator)
{
    size_t columns = 0;
    int *column = c->column;
    double half = format_facts[accumulator].precision / 2.0;
    if (table_wide())
        memcpy(column, c->place, c->places * sizeof *column);
    for (int i = 0; !table_wide() && i <= HALVES + 1; i++) {
        size_t at = 0;
        double wanted = i <= HALVES ? i * half : c->place[c->places - 1];
        for (size_t k = 1; k < c->places; k++)
            if (fabs(c->place[k] - wanted) < fabs(c->place[at] - wanted))
                at = k;
        if (columns == 0 || column[columns - 1] < c->place[at])
            column[columns++] = c->place[at];
    }
    return table_wide() ? c->places : columns;
}

static void cond_of(struct text *to, const struct plan *plan, const struct study_case *first)
{
    char device[DEVICE_TEXT];
    const struct array *a = &plan->source[first->source].array;
    device_name(first->device, device);
    text_format(to, "%s/%s, n = %zu", format_facts[a->format].name,
                format_facts[first->accumulator].name, a->n);
    if (plan->axes->devices > 1)
        text_format(to, ", %s", device);
}

static bool has_cases(const struct cond *c, const struct method *m)
{
    for (size_t i = 0; i < c->spots; i++)
        if (c->spot[i].one->method == m)
            return true;
    return false;
}

/* A method, and how many others share its cliff. */
struct shared {
    const struct method *one;
    size_t place, others;
};

static void keep(struct shared *s, const struct method *m, size_t place, bool better)
{
    if (!s->one || better)
        *s = (struct shared){m, place, 0};
    else if (place == s->place)
        s->others++;
}

/* "sum/sum2 and 2 others"; returns whether it is more than one. */
static bool add_shared(struct text *line, const struct shared *s)
{
    text_visible(line, s->one->name);
    if (s->others > 0)
        text_format(line, " and %zu other%s", s->others, s->others == 1 ? "" : "s");
    return s->others > 0;
}

/* Which methods are the first to have no digit right, and which the last. */
static void cliffs_line(struct text *to, struct cond *c, const struct study_case *at)
{
    const struct axes *axes = c->plan->axes;
    struct shared first = {0}, last = {0};
    struct text line = {0};
    const int largest_tried = c->place[c->places - 1];
    for (size_t i = 0; i < axes->methods; i++) {
        double x;
        if (!has_cases(c, axes->method[i]))
            continue;
        size_t place = cliff(&x, c, axes->method[i], false);
        keep(&first, axes->method[i], place, place < first.place);
        keep(&last, axes->method[i], place, place > last.place);
    }
    cond_of(&line, c->plan, at);
    text_add(&line, ": ");
    if (first.place == c->places) {
        text_visible(&line, first.others == 0 ? first.one->name : "every method");
        text_format(&line, " keeps digits up to a condition number of 2^%d, the largest tried",
                    largest_tried);
    } else {
        bool several = add_shared(&line, &first);
        text_format(&line, " ha%s no digit right from a condition number of 2^%d on",
                    several ? "ve" : "s", c->place[first.place]);
    }
    if (last.place == c->places && first.place < c->places) {
        text_add(&line, "; ");
        bool several = add_shared(&line, &last);
        text_format(&line, " keep%s some up to 2^%d, the largest tried", several ? "" : "s",
                    largest_tried);
    } else if (last.place > first.place) {
        text_add(&line, "; the last to lose all: ");
        add_shared(&line, &last);
        text_format(&line, ", at 2^%d", c->place[last.place]);
    }
    says_line(to, &line);
}

static void draw_table(struct text *to, struct cond *c, const struct study_case *first)
{
    const struct axes *axes = c->plan->axes;
    size_t columns = columns_of(c, first->accumulator);
    char *align = calloc(columns + 4, 1);
    if (!align) {
        to->failed = true;
        return;
    }
    memcpy(align, "lrr", 3);
    memset(align + 3, 'R', columns);
    char some[96];
    snprintf(some, sizeof some,
             "columns are some of the %zu condition numbers tried; --wide has all", c->places);
    struct table table = {.align = align, .some = columns < c->places ? some : NULL};
    cond_of(to, c->plan, first);
    text_add(to, "\n");
    table_cell(&table, "method");
    table_cell(&table, "cliff");
    table_cell(&table, "theory");
    for (size_t i = 0; i < columns; i++)
        table_cell(&table, "2^%d", c->column[i]);
    for (size_t i = 0; i < axes->methods; i++) {
        const struct method *m = axes->method[i];
        if (!has_cases(c, m))
            continue;
        table_cell(&table, "%s%s", m->name, breaks_mark_method(c->plan, m));
        cliff_cell(&table, c, m, false);
        cliff_cell(&table, c, m, true);
        for (size_t k = 0; k < columns; k++)
            digits_cell(&table, largest(c, m, c->column[k], false));
    }
    table_draw(to, &table);
    text_add(to, "\n");
    table_free(&table);
    free(align);
}

static void for_each_table(struct text *to, struct cond *c,
                           void (*add)(struct text *, struct cond *, const struct study_case *))
{
    memset(c->drawn, 0, c->plan->case_count * sizeof *c->drawn);
    for (size_t i = 0; i < c->plan->case_count; i++)
        if (!c->drawn[i] && shown(&c->plan->cases[i])) {
            gather(c, &c->plan->cases[i]);
            add(to, c, &c->plan->cases[i]);
        }
}

static enum status draw(struct text *to, const struct plan *plan, const char *out,
                        struct problem *p)
{
    size_t room = plan->case_count + 1;
    struct cond c = {.plan = plan,
                     .of_case = calloc(room, sizeof *c.of_case),
                     .spot = calloc(room, sizeof *c.spot),
                     .place = calloc(room, sizeof *c.place),
                     .column = calloc(room, sizeof *c.column),
                     .drawn = calloc(room, sizeof *c.drawn)};
    enum status status =
        c.of_case && c.spot && c.place && c.column && c.drawn
            ? csv_read_in(out, "results.csv", results_column, RESULTS_COLUMNS, take, &c, p)
            : problem(p, STATUS_MEMORY, "out of memory for the table");
    if (status == STATUS_OK)
        for_each_table(to, &c, cliffs_line);
    text_add(to, "\n");
    says_legend(to, "Correct decimal digits by condition number sum|x| / |sum x|, worst case. "
                    "cliff: the least condition number tried with none, the error being as large "
                    "as the sum; theory: the least tried at which the method's bound is as large, "
                    "so that it promises no digit; >: beyond all that were tried.");
    text_add(to, "\n");
    if (status == STATUS_OK)
        for_each_table(to, &c, draw_table);
    free(c.of_case);
    free(c.spot);
    free(c.place);
    free(c.column);
    free(c.drawn);
    return status;
}

/* The input's sum is the smallest normal number of fp16, so that there is room for condition
 * numbers up to 2^29 there, where u^-2 is 2^22. For fp64 they go on beyond u^-5. */
#define CONDS "1..2^48x4,2^52..2^144x16,2^152..2^288x256,2^320..2^608x2^32"

const struct experiment experiment_cond = {
    .name = "cond",
    .summary = "error against condition number: from which on a method has no digit right",
    .operation = {&operation_sum},
    .axes =
        {
            [DEVICE_CPU] = {.formats = FORMATS_USUAL,
                            .input = "cond:sum=2^-14",
                            .n = "2^12",
                            .cond = CONDS,
                            .runs = 1},
            [DEVICE_CUDA] = {.formats = FORMATS_USUAL,
                             .input = "cond:sum=2^-14",
                             .n = "2^12",
                             .cond = CONDS,
                             .runs = 1},
        },
    .table = draw,
};
