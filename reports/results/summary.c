#include "reports/results/summary.h"

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
