/* summary.csv, a row per finished case. */
#pragma once

#include "reports/csv/file.h"

/* The statistics of a scan alone. */
struct scan_summary {
    struct figure err_ulp_rms_max, worst_index, decreases_max, differing_median, differing_max,
        mean_rel_diff_max, first_diff_min, run_differing_median, run_differing_max,
        run_mean_rel_diff_max, run_first_diff_min, run_first_diff_median;
};

/* The statistics of a case, as the column dictionary defines them. */
struct summary {
    uint64_t runs, distinct;
    struct figure mode_share, min, max, mean, stddev, spread_ulp, vs_max, vs_stddev, unseen_p95,
        err_ulp_median, err_ulp_max, err_over_bound_max, time_ns_median;
    struct scan_summary scan;
};

/* Appends a row, with its line break; text as for results_case. */
void summary_row(struct text *t, const char *const *text, const struct summary *s,
                 enum columns_of of);

/* Have they the same row? */
bool summary_same(const struct summary *a, const struct summary *b, enum columns_of of);

/* Reads the statistics of a row. */
enum status summary_parse(struct summary *s, const struct csv_row *row, enum columns_of of,
                          struct problem *p);
