/* Writing results.csv, a row per run.
 *
 * A row is put together from parts that are formatted once and used many times: what the case
 * fixes, what a distinct result fixes, what the exact sum fixes. */
#ifndef ULPSCOPE_RESULTS_H
#define ULPSCOPE_RESULTS_H

#include "reports/csv_file.h"

struct results {
    struct csv_file file;
    struct text head, middle; /* the case's columns, before and behind the run's number */
};

enum status results_open(struct results *r, const char *path, uint64_t keep, struct problem *p);
enum status results_close(struct results *r, struct problem *p);

/* The case of the rows that follow; text in the order of enum case_column, "" where a column does
 * not apply. */
void results_case(struct results *r, const char *const text[CASE_COLUMNS]);

/* The parts. Each brings its commas, but for the last one's. */
void results_value(struct text *t, enum format accumulator, double value); /* result, _hex, _bits */
void results_exact(struct text *t, const char *decimal, const char *hex);  /* exact, exact_hex */
void results_errors(struct text *t, const struct measure *m); /* err_abs .. err_over_bound */

struct results_row {
    uint64_t run;
    const struct text *value, *exact, *errors; /* NULL: these columns stay empty */
    bool timed;
    uint64_t time_ns;
    enum outcome outcome;
};

/* Appends a row to the file's pending rows. */
void results_append(struct results *r, const struct results_row *row);

#endif
