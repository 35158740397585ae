/* The column dictionary: what stands in results.csv, summary.csv, profile.csv, times.csv, and what
 * is derived from them, in what unit, and what it means. The headers of the files and the
 * documentation are both made from it.
 *
 * Studies of scans, of dot products and of scatter-adds have the columns that studies of sums have,
 * and behind them more. */
#pragma once

#include <stdbool.h>

#include "reports/text/text.h"

/* Version of the columns, of study.json, and of what their entries mean. */
enum { SCHEMA_VERSION = 3 };

/* What a study's results.csv and summary.csv are of: which columns they have. */
enum columns_of {
    COLUMNS_OF_SUMS,
    COLUMNS_OF_SCANS,
    COLUMNS_OF_DOTS,
    COLUMNS_OF_SCATTERS,
    COLUMNS_OF_PRODUCTS, /* of matrices */
    COLUMNS_KINDS
};

/* Are its results arrays? Then a row has facts about all outputs: err_ulp_rms and what follows it.
 */
static inline bool columns_of_arrays(enum columns_of of)
{
    return of == COLUMNS_OF_SCANS || of == COLUMNS_OF_SCATTERS || of == COLUMNS_OF_PRODUCTS;
}

struct column {
    const char *name;
    const char *unit; /* "" for a name or a pure number */
    const char *meaning;
};

typedef const struct column *column_at(size_t i);

/* The columns that a case fixes, shared by the files, in their order there. */
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
    CASE_COLUMNS,
    CASE_ADDED_IN = CASE_COLUMNS, /* behind the columns of the runs */
    CASE_RESULT_FORMAT,
    CASE_SCAN, /* from here on: of scans alone */
    CASE_OUTPUT,
    CASE_SEGMENT,
    CASE_SCAN_COLUMNS,
    CASE_PRODUCT = CASE_SCAN_COLUMNS, /* of dot products alone */
    CASE_KEYS,                        /* from here on: of scatter-adds alone */
    CASE_BINS,
    CASE_CHIP, /* from here on: of matrix products alone, which have those of scatter-adds too */
    CASE_PROMOTE,
    CASE_WORKSPACE,
    CASE_ALGORITHM,
    CASE_ALL
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
    RESULTS_ADDED_IN,
    RESULTS_RESULT_FORMAT,
    RESULTS_COLUMNS,
    RESULTS_SCAN = RESULTS_COLUMNS, /* from here on: of scans alone */
    RESULTS_OUTPUT,
    RESULTS_SEGMENT,
    RESULTS_ERR_ULP_RMS,
    RESULTS_WORST_INDEX,
    RESULTS_DIFFERING,
    RESULTS_MEAN_REL_DIFF,
    RESULTS_FIRST_DIFF,
    RESULTS_DECREASES,
    RESULTS_RUN_DIFFERING,
    RESULTS_RUN_MEAN_REL_DIFF,
    RESULTS_RUN_FIRST_DIFF,
    RESULTS_SCAN_COLUMNS
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
    SUMMARY_ADDED_IN,
    SUMMARY_RESULT_FORMAT,
    SUMMARY_COLUMNS,
    SUMMARY_SCAN = SUMMARY_COLUMNS, /* from here on: of scans alone */
    SUMMARY_OUTPUT,
    SUMMARY_SEGMENT,
    SUMMARY_ERR_ULP_RMS_MAX,
    SUMMARY_WORST_INDEX,
    SUMMARY_DECREASES_MAX,
    SUMMARY_DIFFERING_MEDIAN,
    SUMMARY_DIFFERING_MAX,
    SUMMARY_MEAN_REL_DIFF_MAX,
    SUMMARY_FIRST_DIFF_MIN,
    SUMMARY_RUN_DIFFERING_MEDIAN,
    SUMMARY_RUN_DIFFERING_MAX,
    SUMMARY_RUN_MEAN_REL_DIFF_MAX,
    SUMMARY_RUN_FIRST_DIFF_MIN,
    SUMMARY_RUN_FIRST_DIFF_MEDIAN,
    SUMMARY_SCAN_COLUMNS
};

/* profile.csv, of scans alone: a row for each of some outputs of a case's first run. */
enum profile_column {
    PROFILE_CASE_ID = RESULTS_CASE_ID, /* up to the blocks as results.csv */
    PROFILE_SCAN = RESULTS_BLOCKS + 1,
    PROFILE_OUTPUT,
    PROFILE_SEGMENT,
    PROFILE_INDEX,
    PROFILE_RESULT,
    PROFILE_RESULT_BITS,
    PROFILE_ERR_ABS,
    PROFILE_ERR_ULP,
    PROFILE_BOUND,
    PROFILE_ERR_OVER_BOUND,
    PROFILE_COLUMNS
};

/* times.csv, and what `bench` writes: a row for each method or yardstick timed. Columns are only
 * ever appended. */
enum times_column {
    TIMES_DEVICE,
    TIMES_METHOD,
    TIMES_STORAGE,
    TIMES_ACCUMULATOR,
    TIMES_INPUT,
    TIMES_N,
    TIMES_THREADS,
    TIMES_BLOCKS,
    TIMES_TIME,
    TIMES_TIME_LEAST,
    TIMES_RATE,
    TIMES_OF_RAW,
    TIMES_OF_VENDOR,
    TIMES_REPETITIONS,
    TIMES_RUNS,
    TIMES_IN_CACHE,
    TIMES_NOTE,
    TIMES_SCAN,
    TIMES_OUTPUT,
    TIMES_SEGMENT,
    TIMES_ROUND,
    TIMES_COPY,
    TIMES_OF_COPY,
    TIMES_MEMORY,
    TIMES_CASE_ID,
    TIMES_ADDED_IN,
    TIMES_RESULT_FORMAT,
    TIMES_COLUMNS,
    /* Of `bench` alone. */
    BENCH_KEYS = TIMES_COLUMNS,
    BENCH_BINS,
    BENCH_ELEMENTS,
    BENCH_TIME_LOW, /* from here on they stand at the end */
    BENCH_TIME_HIGH,
    BENCH_COLUMNS
};

/* atomics.csv, of `run atomics`: a row for each case, with the distribution of its results. */
enum atomics_column {
    ATOMICS_LOAD = CASE_COLUMNS,
    ATOMICS_RUNS,
    ATOMICS_DISTINCT,
    ATOMICS_SPREAD,
    ATOMICS_SPREAD_ULP,
    ATOMICS_VS_MAX,
    ATOMICS_VS_STDDEV,
    ATOMICS_SKEWNESS,
    ATOMICS_KURTOSIS,
    ATOMICS_K2,
    ATOMICS_P_NORMAL,
    ATOMICS_NOTE,
    ATOMICS_ADDED_IN, /* from here on: empty in files of older versions */
    ATOMICS_RESULT_FORMAT,
    ATOMICS_COLUMNS
};

/* growth.csv, of `run atomics`: a row for each figure of a method on an input, whatever n. */
enum growth_column {
    GROWTH_EXPERIMENT,
    GROWTH_METHOD,
    GROWTH_PROMISE,
    GROWTH_DEVICE,
    GROWTH_STORAGE,
    GROWTH_ACCUMULATOR,
    GROWTH_INPUT,
    GROWTH_LOAD,
    GROWTH_FIGURE,
    GROWTH_N_MIN,
    GROWTH_N_MAX,
    GROWTH_POINTS,
    GROWTH_LEFT_OUT,
    GROWTH_EXPONENT,
    GROWTH_STANDARD_ERROR,
    GROWTH_FACTOR,
    GROWTH_R_SQUARED,
    GROWTH_ADDED_IN, /* likewise */
    GROWTH_RESULT_FORMAT,
    GROWTH_COLUMNS
};

/* What `check` writes, and trial.csv of `run trial`: a row for each rung of a subject. */
enum check_column {
    CHECK_METHOD,
    CHECK_ON,
    CHECK_PROMISE,
    CHECK_HELD_TO,
    CHECK_KEEPS,
    CHECK_RUNG,
    CHECK_VERDICT,
    CHECK_ATTEMPTS,
    CHECK_DIFFERING,
    CHECK_DISTINCT,
    CHECK_DISTINCT_COUNTS,
    CHECK_UNSEEN_P95,
    CHECK_TRIED,
    CHECK_BROKEN_BY,
    CHECK_STORAGE,
    CHECK_ACCUMULATOR,
    CHECK_INPUT,
    CHECK_N,
    CHECK_SEED,
    CHECK_SCAN,
    CHECK_KEYS,
    CHECK_BINS,
    CHECK_INDEX,
    CHECK_BITS,
    CHECK_IS,
    CHECK_OTHER_BITS,
    CHECK_OTHER_IS,
    CHECK_COMMAND,
    CHECK_NOTE,
    CHECK_COLUMNS_OLD, /* from here on: empty in files of older versions */
    CHECK_REASON_IS = CHECK_COLUMNS_OLD,
    CHECK_NOT_TRIED_KINDS,
    CHECK_OVER_SHAPES,
    CHECK_OVER_LENGTHS,
    CHECK_OVER_INPUTS,
    CHECK_ADDED_IN,
    CHECK_RESULT_FORMAT,
    CHECK_PROMISED,
    CHECK_OVER_BATCHES,
    CHECK_ROWS_KINDS,
    CHECK_DIFFERED,
    CHECK_EXCEEDING,
    CHECK_COLUMNS
};

/* steps.csv, of `run steps`: a row for some of the steps of each weight. */
enum steps_column {
    STEPS_METHOD,
    STEPS_STORAGE,
    STEPS_ACCUMULATOR,
    STEPS_INPUT,
    STEPS_N,
    STEPS_START,
    STEPS_SEED,
    STEPS_STEP,
    STEPS_WEIGHT,
    STEPS_REST,
    STEPS_EXACT,
    STEPS_EXACT_HEX,
    STEPS_ERR_ABS,
    STEPS_ERR_REL,
    STEPS_ERR_ULP,
    STEPS_BOUND,
    STEPS_OVER_BOUND,
    STEPS_STILL_FROM,
    STEPS_PREDICTED,
    STEPS_STATUS,
    STEPS_COLUMNS
};

/* scales.csv, of `run gemm`: a row for each scale that was made from the data. */
enum scales_column {
    SCALES_STORAGE,
    SCALES_INPUT,
    SCALES_N,
    SCALES_SEED,
    SCALES_SHAPE,
    SCALES_MATRIX,
    SCALES_LINE,
    SCALES_LINES,
    SCALES_FIRST_K,
    SCALES_TERMS,
    SCALES_SCALE,
    SCALES_SCALE_HEX,
    SCALES_COLUMNS
};

/* What `compare` writes: a row for each pair of cases. A column of the second directory stands
 * behind that of the first. */
enum compare_column {
    COMPARE_METHOD,
    COMPARE_PROMISE,
    COMPARE_VERDICT,
    COMPARE_BROKEN,
    COMPARE_STORAGE,
    COMPARE_ACCUMULATOR,
    COMPARE_INPUT,
    COMPARE_N,
    COMPARE_SEED,
    COMPARE_SCAN,
    COMPARE_OUTPUT,
    COMPARE_SEGMENT,
    COMPARE_PRODUCT,
    COMPARE_KEYS,
    COMPARE_BINS,
    COMPARE_CASE_ID_A,
    COMPARE_DEVICE_A = COMPARE_CASE_ID_A + 2,
    COMPARE_THREADS_A = COMPARE_DEVICE_A + 2,
    COMPARE_BLOCKS_A = COMPARE_THREADS_A + 2,
    COMPARE_STATUS_A = COMPARE_BLOCKS_A + 2,
    COMPARE_RUNS_A = COMPARE_STATUS_A + 2,
    COMPARE_DISTINCT_A = COMPARE_RUNS_A + 2,
    COMPARE_SHARED = COMPARE_DISTINCT_A + 2,
    COMPARE_RESULT_A,
    COMPARE_BITS_A = COMPARE_RESULT_A + 2,
    COMPARE_ERR_ULP_A = COMPARE_BITS_A + 2,
    COMPARE_ERR_OVER_BOUND_A = COMPARE_ERR_ULP_A + 2,
    COMPARE_ADDED_IN = COMPARE_ERR_OVER_BOUND_A + 2,
    COMPARE_RESULT_FORMAT,
    COMPARE_CHIP,
    COMPARE_PROMOTE,
    COMPARE_WORKSPACE,
    COMPARE_ALGORITHM,
    COMPARE_COLUMNS
};

/* recommend.csv: a row for each candidate, in the order of cost. */
enum recommend_column {
    RECOMMEND_METHOD,
    RECOMMEND_PROMISE,
    RECOMMEND_DEVICE,
    RECOMMEND_STORAGE,
    RECOMMEND_ACCUMULATOR,
    RECOMMEND_INPUT,
    RECOMMEND_N,
    RECOMMEND_VERDICT,
    RECOMMEND_IS,
    RECOMMEND_PARETO,
    RECOMMEND_QUANTITY,
    RECOMMEND_LIMIT,
    RECOMMEND_ERROR,
    RECOMMEND_WORST,
    RECOMMEND_DATA_ERROR,
    RECOMMEND_MOST,
    RECOMMEND_BOUND,
    RECOMMEND_ARRAYS,
    RECOMMEND_DRAWN,
    RECOMMEND_UNSEEN,
    RECOMMEND_BROKEN_BY,
    RECOMMEND_BROKEN_ERROR,
    RECOMMEND_BROKEN_CASE,
    RECOMMEND_RATE,
    RECOMMEND_OF_RAW,
    RECOMMEND_HOLDS_TO,
    RECOMMEND_BREAKS_AT,
    RECOMMEND_THEOREM_TO,
    RECOMMEND_LIKELY_TO,
    RECOMMEND_STAGNATES,
    RECOMMEND_OVERFLOWS,
    RECOMMEND_NOTE,
    RECOMMEND_COLUMNS_FIRST, /* what a recommend.csv of the first version has */
    RECOMMEND_DRAWN_HELD = RECOMMEND_COLUMNS_FIRST,
    RECOMMEND_LENGTHS,
    RECOMMEND_BROKEN_ON,
    RECOMMEND_ASKED,
    RECOMMEND_KEPT,
    RECOMMEND_ATTEMPTS,
    RECOMMEND_DIFFERING,
    RECOMMEND_SHAPES,
    RECOMMEND_TRIED_LENGTHS,
    RECOMMEND_INPUTS,
    RECOMMEND_REASON,
    RECOMMEND_TIMED_N,
    RECOMMEND_ADDED_IN,
    RECOMMEND_RESULT_FORMAT,
    RECOMMEND_SHAPE,
    RECOMMEND_CHIP,
    RECOMMEND_PROMOTE,
    RECOMMEND_BLOCKS,
    RECOMMEND_BROKEN_AT,
    RECOMMEND_BROKEN_RESULT,
    RECOMMEND_BROKEN_EXACT,
    RECOMMEND_COLUMNS
};
const struct column *recommend_column(size_t i); /* i < RECOMMEND_COLUMNS */

extern const struct column case_columns[CASE_ALL];
const struct column *results_column(size_t i); /* i < RESULTS_SCAN_COLUMNS */
const struct column *summary_column(size_t i); /* i < SUMMARY_SCAN_COLUMNS */
const struct column *profile_column(size_t i); /* i < PROFILE_COLUMNS */
const struct column *times_column(size_t i);   /* i < BENCH_COLUMNS */
const struct column *bench_column(size_t i);   /* i < BENCH_COLUMNS, as they stand in its file, */
size_t bench_place(size_t i); /* where times_column has them: what came later stands last */
const struct column *atomics_column(size_t i); /* i < ATOMICS_COLUMNS */
const struct column *growth_column(size_t i);  /* i < GROWTH_COLUMNS */
const struct column *check_column(size_t i);   /* i < CHECK_COLUMNS */
const struct column *steps_column(size_t i);   /* i < STEPS_COLUMNS */
const struct column *scales_column(size_t i);  /* i < SCALES_COLUMNS */
const struct column *compare_column(size_t i); /* i < COMPARE_COLUMNS */

/* Which columns of the case a kind of study has beside those of sums: *begin .. *end-1. */
void columns_case_behind(enum columns_of of, size_t *begin, size_t *end);
bool columns_case_has(enum columns_of of, size_t i); /* i < CASE_ALL */

/* The schema version that it came with, in whichever file: files of an older one lack it. */
int column_since(const struct column *column);

/* How many of the columns files of a schema version have. */
size_t columns_until(int version, column_at *column, size_t count);

/* Where the facts about all outputs begin in a row of results.csv, and those of summary.csv. */
size_t results_facts(enum columns_of of), summary_facts(enum columns_of of);

/* The columns of a study's files, and how many they are. What is of dot products or of scatter-adds
 * alone comes behind all that studies of sums have. */
column_at *results_column_of(enum columns_of of), *summary_column_of(enum columns_of of);
size_t results_columns(enum columns_of of);
size_t summary_columns(enum columns_of of);

/* Which field of a row of results.csv, and of summary.csv, holds a column of the case. */
size_t results_case_column(size_t i); /* i < CASE_ALL */
size_t summary_case_column(size_t i);

/* A file's first line, with its line break. */
void columns_header(struct text *t, const struct column *(*column)(size_t), size_t count);
