#include "reports/summary.h"

enum { FIGURES = SUMMARY_COLUMNS - SUMMARY_MODE_SHARE };

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

void summary_row(struct text *t, const char *const text[CASE_COLUMNS], const struct summary *s)
{
    struct summary copy = *s;
    struct figure *figure[FIGURES];
    figures(&copy, figure);
    for (size_t i = 0; i < CASE_COLUMNS; i++) {
        text_field(t, text[i]);
        text_add(t, ",");
    }
    text_unsigned(t, s->runs);
    text_add(t, ",");
    text_unsigned(t, s->distinct);
    for (size_t i = 0; i < FIGURES; i++) {
        text_add(t, ",");
        text_figure(t, *figure[i]);
    }
    text_add(t, "\n");
}

enum status summary_parse(struct summary *s, const struct csv_row *row, struct problem *p)
{
    struct figure *figure[FIGURES];
    figures(s, figure);
    enum status status = csv_whole(row, SUMMARY_RUNS, "runs", &s->runs, p);
    if (status == STATUS_OK)
        status = csv_whole(row, SUMMARY_DISTINCT, "distinct", &s->distinct, p);
    for (size_t i = 0; status == STATUS_OK && i < FIGURES; i++)
        status = csv_figure(row, SUMMARY_MODE_SHARE + i,
                            summary_column(SUMMARY_MODE_SHARE + i)->name, figure[i], p);
    return status;
}
