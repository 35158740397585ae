/* summary.csv, gathered by case, of a study whose rows were not kept. */
#include "reports/results/gathered.h"

static enum status take(void *context, const struct csv_row *row, struct problem *p)
{
    struct gathered *g = context;
    struct gathered_case *c = NULL;
    uint64_t distinct = 0;
    enum status status = gathered_case_of(g, row, summary_case_column, &c, p);
    if (status == STATUS_OK)
        status = csv_whole(row, SUMMARY_RUNS, "runs", &c->runs, p);
    if (status == STATUS_OK && c->runs > 0)
        status = csv_whole(row, SUMMARY_DISTINCT, "distinct", &distinct, p);
    if (status == STATUS_OK)
        status = csv_figure(row, SUMMARY_ERR_ULP_MAX, "err_ulp_max", &c->err_ulp, p);
    if (status == STATUS_OK)
        status = csv_figure(row, SUMMARY_ERR_OVER_BOUND_MAX, "err_over_bound_max",
                            &c->err_over_bound, p);
    if (status == STATUS_OK)
        c->distinct = distinct;
    return status;
}

enum status gathered_summary(struct gathered *g, struct problem *p)
{
    static const struct gathered_file file = {"summary.csv", summary_columns, summary_column_of,
                                              take};
    return gathered_file(g, &file, p);
}
