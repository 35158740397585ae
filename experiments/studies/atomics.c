/* run atomics: what is the distribution of results that depend on who comes first?
 *
 * The methods are those of Shanmugavelu et al. (arXiv 2408.05148): an atomic addition per element
 * (AO there) is sum/atomic; per block, behind a tree (SPA), sum/block_atomic; a single pass whose
 * last block finishes (SPTR, SPRG) sum/last_block; two passes, the second on the host (TPRC)
 * sum/host_finish; CUB's (CU) cub/sum. sum/warp_atomic stands between the first two,
 * sum/two_kernel finishes on the device, and newer libraries add atomically again. */
#include <math.h>

#include "experiments/studies/atomic_spread.h"
#include "experiments/studies/says.h"
#include "experiments/sweep/breaks.h"
#include "experiments/cases/experiment.h"
#include "reports/text/table.h"

/* Columns of the table of growth: the largest n; --wide shows all of them. */
enum { SIZES_SHOWN = 5, SIZES_NARROW = 3 };

static void number_cell(struct table *t, const char *format, double x)
{
    if (isnan(x))
        table_cell(t, "%s", "");
    else
        table_cell(t, format, x);
}

static const struct source *source_of(const struct atomics *a, const struct study_case *t)
{
    return &a->plan->source[t->source];
}

/* What has the same device, formats and input stands under one heading. */
static bool one_view(const struct atomics *a, const struct study_case *x,
                     const struct study_case *y)
{
    const struct source *s = source_of(a, x), *other = source_of(a, y);
    return x->device.kind == y->device.kind && x->device.index == y->device.index &&
           x->accumulator == y->accumulator && s->array.format == other->array.format &&
           strcmp(s->name, other->name) == 0;
}

/* Is it a method whose results vary, here or anywhere in the study? */
static bool varies(const struct atomics *a, const struct method *m)
{
    for (size_t i = 0; i < a->plan->case_count; i++)
        if (a->plan->cases[i].method == m && a->of_case[i].distinct > 1)
            return true;
    return false;
}

static size_t largest_n(const struct atomics *a, const struct study_case *first)
{
    size_t n = 0;
    for (size_t i = 0; i < a->plan->case_count; i++) {
        const struct study_case *t = &a->plan->cases[i];
        if (atomics_has(a, t) && one_view(a, t, first) && source_of(a, t)->array.n > n)
            n = source_of(a, t)->array.n;
    }
    return n;
}

static void case_row(struct table *table, const struct atomics *a, const struct study_case *t)
{
    const struct distribution *d = &a->of_case[t - a->plan->cases];
    table_cell(table, "%s%s", t->method->name, breaks_mark(t));
    table_count(table, t->shape.threads);
    table_count(table, t->shape.blocks);
    if (a->plan->axes->seed.count > 1)
        table_cell(table, "%llu", (unsigned long long)source_of(a, t)->seed);
    else
        table_cell(table, "%s", "");
    table_cell(table, "%s", load_name[t->load]);
    table_cell(table, "%llu", (unsigned long long)d->distinct);
    table_figure(table, "%.4g", t->summary.spread_ulp);
    table_figure(table, "%.2g", t->summary.vs_max);
    table_figure(table, "%.2f", d->skewness);
    table_figure(table, "%.2f", d->kurtosis);
    if (d->p.known)
        table_cell(table, d->p.value < 0.0095 ? "%.0e" : "%.2f", d->p.value);
    else
        table_cell(table, "%s", d->note);
}

static void draw_cases(struct text *to, const struct atomics *a, const struct study_case *first)
{
    static const char *const name[] = {"method", "threads",  "blocks",     "seed",
                                       "load",   "distinct", "spread_ulp", "vs_max",
                                       "skew",   "kurtosis", "p"};
    struct table table = {.align = "lrrrlrrRRRl"};
    size_t n = largest_n(a, first);
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        table_cell(&table, "%s", name[i]);
    for (size_t i = 0; i < a->plan->case_count; i++) {
        const struct study_case *t = &a->plan->cases[i];
        if (atomics_has(a, t) && one_view(a, t, first) && source_of(a, t)->array.n == n)
            case_row(&table, a, t);
    }
    table_draw(to, &table);
    table_free(&table);
}

/* The last of the lengths at which there is any figure, ascending. */
static size_t sizes_of(double n[SIZES_SHOWN], const struct atomics *a,
                       const struct study_case *first)
{
    size_t count = 0;
    for (double below = INFINITY; count < (table_wide() ? SIZES_SHOWN : SIZES_NARROW); count++) {
        double most = -1;
        for (size_t i = 0; i < a->groups; i++)
            for (size_t k = 0; one_view(a, a->group[i].first, first) && k < a->group[i].points; k++)
                if (a->group[i].n[k] < below && a->group[i].n[k] > most)
                    most = a->group[i].n[k];
        if (most < 0)
            break;
        n[count] = below = most;
    }
    for (size_t i = 0; i < count / 2; i++) {
        double swapped = n[i];
        n[i] = n[count - 1 - i];
        n[count - 1 - i] = swapped;
    }
    return count;
}

static void growth_row(struct table *table, const struct atomics_group *g, enum grown grown,
                       const double *n, size_t sizes)
{
    const struct growth *growth = &g->growth[grown];
    table_cell(table, "%s", g->first->method->name);
    table_cell(table, "%s", load_name[g->first->load]);
    table_cell(table, "%s", grown_name[grown]);
    for (size_t i = 0; i < sizes; i++) {
        double figure = NAN;
        for (size_t k = 0; k < g->points; k++)
            figure = g->n[k] == n[i] ? g->largest[grown][k] : figure;
        number_cell(table, "%.2g", figure);
    }
    table_figure(table, "%.2f", growth->exponent);
    table_figure(table, "%.2f", growth->standard_error);
    table_figure(table, "%.3f", growth->r_squared);
    table_cell(table, "%zu", growth->points);
}

static void draw_growth(struct text *to, const struct atomics *a, const struct study_case *first)
{
    double n[SIZES_SHOWN];
    size_t sizes = sizes_of(n, a, first), rows = 0;
    char align[SIZES_SHOWN + 8] = "lll";
    memset(align + 3, 'r', sizes + 4);
    align[sizes + 6] = 'R';
    struct table table = {.align = align};
    table_cell(&table, "method");
    table_cell(&table, "load");
    table_cell(&table, "largest");
    for (size_t i = 0; i < sizes; i++)
        table_cell(&table, "n = %.4g", n[i]);
    table_cell(&table, "exponent");
    table_cell(&table, "+-");
    table_cell(&table, "R^2");
    table_cell(&table, "points");
    for (size_t i = 0; i < a->groups; i++)
        for (int k = 0; k < GROWNS; k++)
            if (one_view(a, a->group[i].first, first) && varies(a, a->group[i].first->method)) {
                growth_row(&table, &a->group[i], k, n, sizes);
                rows++;
            }
    if (rows > 0 && sizes > 1) {
        text_add(to, "\n");
        table_draw(to, &table);
    }
    table_free(&table);
}

static void draw_view(struct text *to, const struct atomics *a, const struct study_case *first)
{
    char device[DEVICE_TEXT];
    device_name(first->device, device);
    text_format(to, "\n%s, %s/%s, %s, %llu runs of each case; the distribution at n = %zu\n",
                device, format_facts[source_of(a, first)->array.format].name,
                format_facts[first->accumulator].name, source_of(a, first)->name,
                (unsigned long long)a->plan->axes->runs[first->device.kind], largest_n(a, first));
    draw_cases(to, a, first);
    draw_growth(to, a, first);
}

static bool seen_before(const struct atomics *a, size_t number)
{
    for (size_t i = 0; i < number; i++)
        if (atomics_has(a, &a->plan->cases[i]) &&
            one_view(a, &a->plan->cases[i], &a->plan->cases[number]))
            return true;
    return false;
}

/* How a method's spread grows, over its groups of three lengths or more. */
static void growth_lines(struct text *to, const struct atomics *a)
{
    struct text line = {0};
    size_t names = 0;
    for (size_t k = 0; k < a->plan->axes->methods; k++) {
        const struct method *m = a->plan->axes->method[k];
        double least = INFINITY, most = -INFINITY;
        for (size_t i = 0; i < a->groups; i++) {
            const struct growth *g = &a->group[i].growth[GROWN_SPREAD];
            if (a->group[i].first->method != m || !g->exponent.known || g->points < 3)
                continue;
            least = fmin(least, g->exponent.value);
            most = fmax(most, g->exponent.value);
        }
        if (least > most || !says_next(&line, &names, "spread grows as a power of n: "))
            continue;
        text_visible(&line, m->name);
        text_format(&line, most - least < 0.05 ? " %.1f" : " %.1f to %.1f", least, most);
    }
    says_rest(&line, names);
    if (names > 0)
        says_line(to, &line);
    text_free(&line);
}

static enum status draw(struct text *to, const struct plan *plan, const char *out,
                        struct problem *p)
{
    struct atomics a;
    enum status status = atomics_read(&a, plan, out, p);
    says_repeats(to, plan);
    if (status == STATUS_OK)
        growth_lines(to, &a);
    text_add(to, "\n");
    says_legend(to, "spread_ulp: largest result - least, in ulps of the exact sum. vs_max: the "
                    "largest |1 - |result / that of sum/tiled||. skew, kurtosis (excess): 0 for a "
                    "normal distribution; p: the probability of as much of them by chance. Then "
                    "how the largest of any launch shape and seed grows: as n to the power of the "
                    "exponent, +- its standard error.");
    for (size_t i = 0; status == STATUS_OK && i < plan->case_count; i++)
        if (atomics_has(&a, &plan->cases[i]) && !seen_before(&a, i))
            draw_view(to, &a, &plan->cases[i]);
    text_add(to, "\n");
    atomics_free(&a);
    return status;
}

static enum status derive(const struct plan *plan, const char *out, struct problem *p)
{
    struct atomics a;
    enum status status = atomics_read(&a, plan, out, p);
    if (status == STATUS_OK)
        status = atomics_write(&a, out, p);
    atomics_free(&a);
    return status;
}

static bool atomics_name(size_t column)
{
    return column < CASE_N || column == ATOMICS_LOAD || column == ATOMICS_NOTE;
}

static bool growth_name(size_t column)
{
    return column < GROWTH_N_MIN;
}

static const struct derived_file files[] = {
    {"atomics", "the distribution of each case", atomics_column, ATOMICS_COLUMNS, atomics_name,
     NULL},
    {"growth", "how spreads grow with n", growth_column, GROWTH_COLUMNS, growth_name, NULL},
    {0}};

const struct experiment experiment_atomics = {
    .name = "atomics",
    .summary =
        "the distribution of results that depend on who comes first, and how it grows with n",
    .operation = {&operation_sum},
    .method = "sum/atomic,sum/warp_atomic,sum/block_atomic,sum/last_block,sum/two_kernel,"
              "sum/host_finish,cub/sum,cub/sum_not_guaranteed,thrust/sum",
    .axes =
        {
            [DEVICE_CPU] = {.formats = "fp32/fp32,fp64/fp64",
                            .input = "uniform:scale=10,normal",
                            .n = "100,1000,1e4,1e5",
                            .threads = "0,16",
                            .load = "idle,busy",
                            .runs = 100},
            [DEVICE_CUDA] = {.formats = "fp32/fp32,fp64/fp64",
                             .input = "uniform:scale=10,normal",
                             .n = "100,1000,1e4,1e5,1e6",
                             .threads = "128,512",
                             .load = "idle,busy",
                             .runs = 1000},
        },
    .table = draw,
    .derive = derive,
    .derived = files,
};
