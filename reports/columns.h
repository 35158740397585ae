/* The column dictionary: what stands in results.csv and summary.csv, in what unit, and what it
 * means. The headers of the files and the documentation are both made from it. */
#ifndef ULPSCOPE_COLUMNS_H
#define ULPSCOPE_COLUMNS_H

#include "reports/text.h"

/* Version of the columns, of study.json, and of what their entries mean. */
enum { SCHEMA_VERSION = 1 };

struct column {
    const char *name;
    const char *unit; /* "" for a name or a pure number */
    const char *meaning;
};

/* The columns that a case fixes, shared by both files, in their order there. */
enum case_column {
    CASE_EXPERIMENT,
    CASE_ID,
    CASE_METHOD,
    CASE_PROMISE,
    CASE_DEVICE,
    CASE_STORAGE,
    CASE_ACCUMULATOR,
    CASE_INPUT,
    CASE_N,
    CASE_COND_LOG2,
    CASE_SEED,
    CASE_THREADS,
    CASE_BLOCKS,
    CASE_COLUMNS
};

/* results.csv: a row per run. */
enum results_column {
    RESULTS_EXPERIMENT,
    RESULTS_CASE_ID,
    RESULTS_RUN,
    RESULTS_METHOD, /* from here to RESULTS_BLOCKS as the case's columns, one further on */
    RESULTS_BLOCKS = RESULTS_METHOD + CASE_BLOCKS - CASE_METHOD,
    RESULTS_RESULT,
    RESULTS_RESULT_HEX,
    RESULTS_RESULT_BITS,
    RESULTS_EXACT,
    RESULTS_EXACT_HEX,
    RESULTS_ERR_ABS,
    RESULTS_ERR_REL,
    RESULTS_ERR_ULP,
    RESULTS_ERR_BACKWARD,
    RESULTS_BOUND,
    RESULTS_ERR_OVER_BOUND,
    RESULTS_TIME_NS,
    RESULTS_STATUS,
    RESULTS_COLUMNS
};

/* summary.csv: a row per finished case. */
enum summary_column {
    SUMMARY_RUNS = CASE_COLUMNS,
    SUMMARY_DISTINCT,
    SUMMARY_MODE_SHARE,
    SUMMARY_MIN,
    SUMMARY_MAX,
    SUMMARY_MEAN,
    SUMMARY_STDDEV,
    SUMMARY_SPREAD_ULP,
    SUMMARY_VS_MAX,
    SUMMARY_VS_STDDEV,
    SUMMARY_UNSEEN_P95,
    SUMMARY_ERR_ULP_MEDIAN,
    SUMMARY_ERR_ULP_MAX,
    SUMMARY_ERR_OVER_BOUND_MAX,
    SUMMARY_TIME_NS_MEDIAN,
    SUMMARY_COLUMNS
};

extern const struct column case_columns[CASE_COLUMNS];
const struct column *results_column(size_t i); /* i < RESULTS_COLUMNS */
const struct column *summary_column(size_t i); /* i < SUMMARY_COLUMNS */

/* Which field of a row of results.csv holds a column of the case. */
size_t results_case_column(size_t i); /* i < CASE_COLUMNS */

/* A file's first line, with its line break. */
void columns_header(struct text *t, const struct column *(*column)(size_t), size_t count);

#endif
