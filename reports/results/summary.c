#include "reports/results/summary.h"

#include <math.h>

#include "reports/results/results.h"

enum {
    FIGURES = SUMMARY_ADDED_IN - SUMMARY_MODE_SHARE,
    SCAN_FIGURES = SUMMARY_SCAN_COLUMNS - SUMMARY_ERR_ULP_RMS_MAX
};

/* The figures in the order of their columns. */
static void figures(struct summary *s, struct figure *figure[FIGURES])
{
    struct figure *const in_order[FIGURES] = {
        &s->mode_share,     &s->min,         &s->max,
        &s->mean,           &s->stddev,      &s->spread_ulp,
        &s->vs_max,         &s->vs_stddev,   &s->unseen_p95,
        &s->err_ulp_median, &s->err_ulp_max, &s->err_over_bound_max,
        &s->time_ns_median};
    memcpy(figure, in_order, sizeof in_order);
}

static void scan_figures(struct scan_summary *s, struct figure *figure[SCAN_FIGURES])
{
    struct figure *const in_order[SCAN_FIGURES] = {
        &s->err_ulp_rms_max,       &s->worst_index,          &s->decreases_max,
        &s->differing_median,      &s->differing_max,        &s->mean_rel_diff_max,
        &s->first_diff_min,        &s->run_differing_median, &s->run_differing_max,
        &s->run_mean_rel_diff_max, &s->run_first_diff_min,   &s->run_first_diff_median};
    memcpy(figure, in_order, sizeof in_order);
}

static void add_figures(struct text *t, struct figure *const *figure, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        text_add(t, ",");
        text_figure(t, *figure[i]);
    }
}

void summary_row(struct text *t, const char *const *text, const struct summary *s,
                 enum columns_of of)
{
    struct summary copy = *s;
    struct figure *figure[FIGURES], *scan_figure[SCAN_FIGURES];
    figures(&copy, figure);
    scan_figures(&copy.scan, scan_figure);
    for (size_t i = 0; i < CASE_COLUMNS; i++) {
        text_field(t, text[i]);
        text_add(t, ",");
    }
    text_unsigned(t, s->runs);
    text_add(t, ",");
    text_unsigned(t, s->distinct);
    add_figures(t, figure, FIGURES);
    results_case_added(t, text);
    results_case_behind(t, of, text);
    if (columns_of_arrays(of))
        add_figures(t, scan_figure, SCAN_FIGURES);
    text_add(t, "\n");
}

/* The same text. */
static bool same_figures(struct figure *const *a, struct figure *const *b, size_t count)
{
    bool same = true;
    for (size_t i = 0; i < count; i++) {
        double x = a[i]->value, y = b[i]->value;
        bool equal = (isnan(x) && isnan(y)) || (x == y && !signbit(x) == !signbit(y));
        same &= a[i]->known == b[i]->known && (!a[i]->known || equal);
    }
    return same;
}

bool summary_same(const struct summary *a, const struct summary *b, enum columns_of of)
{
    struct summary x = *a, y = *b;
    struct figure *of_x[FIGURES], *of_y[FIGURES], *scan_x[SCAN_FIGURES], *scan_y[SCAN_FIGURES];
    figures(&x, of_x);
    figures(&y, of_y);
    scan_figures(&x.scan, scan_x);
    scan_figures(&y.scan, scan_y);
    return x.runs == y.runs && x.distinct == y.distinct && same_figures(of_x, of_y, FIGURES) &&
           (!columns_of_arrays(of) || same_figures(scan_x, scan_y, SCAN_FIGURES));
}

static enum status parse_figures(struct figure *const *figure, size_t count,
                                 const struct csv_row *row, size_t column, enum columns_of of,
                                 struct problem *p)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < count; i++)
        status = csv_figure(row, column + i, summary_column_of(of)(column + i)->name, figure[i], p);
    return status;
}

enum status summary_parse(struct summary *s, const struct csv_row *row, enum columns_of of,
                          struct problem *p)
{
    struct figure *figure[FIGURES], *scan_figure[SCAN_FIGURES];
    figures(s, figure);
    scan_figures(&s->scan, scan_figure);
    enum status status = csv_whole(row, SUMMARY_RUNS, "runs", &s->runs, p);
    if (status == STATUS_OK)
        status = csv_whole(row, SUMMARY_DISTINCT, "distinct", &s->distinct, p);
    if (status == STATUS_OK)
        status = parse_figures(figure, FIGURES, row, SUMMARY_MODE_SHARE, of, p);
    if (status == STATUS_OK && columns_of_arrays(of))
        status = parse_figures(scan_figure, SCAN_FIGURES, row, summary_facts(of), of, p);
    return status;
}
