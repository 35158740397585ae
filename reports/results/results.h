/* Writing results.csv, a row per run; and reading what it says of scans.
 *
 * A row is put together from parts that are formatted once and used many times: what the case
 * fixes, what a distinct result fixes, what the exact sum fixes. */
#pragma once

#include "reference/base/hash.h"
#include "reports/csv/file.h"

struct results {
    struct csv_file file;
    enum columns_of of;
    /* The case's columns: before and behind the run's number, and behind the status. */
    struct text head, middle, tail;
};

enum status results_open(struct results *r, const char *path, uint64_t keep, enum columns_of of,
                         struct problem *p);
enum status results_close(struct results *r, struct problem *p);

/* The case of the rows that follow; text in the order of enum case_column, "" where a column does
 * not apply. What the file has columns for is read. */
void results_case(struct results *r, const char *const *text);

/* Appends what additions are done in and the result's format; those of the case's columns that
 * stand behind the ones of sums: each with its comma. */
void results_case_added(struct text *t, const char *const *text);
void results_case_behind(struct text *t, enum columns_of of, const char *const *text);

/* What a row says of all outputs of an array, in the order of the columns. */
struct scan_facts {
    struct figure err_ulp_rms, worst_index, differing, mean_rel_diff, first_diff, decreases,
        run_differing, run_mean_rel_diff, run_first_diff;
};

/* The parts. Each brings its commas, but for the last one's. */
void results_value(struct text *t, enum format accumulator, double value); /* result, _hex, _bits */
void results_hash(struct text *t, struct figure last, struct hash128 hash); /* the same of scans */
void results_exact(struct text *t, const char *decimal, const char *hex);   /* exact, exact_hex */
void results_errors(struct text *t, const struct measure *m);  /* err_abs .. err_over_bound */
void results_scan(struct text *t, const struct scan_facts *s); /* err_ulp_rms .. run_first_diff */

struct results_row {
    uint64_t run;
    const struct text *value, *exact, *errors, *scan; /* NULL: these columns stay empty */
    bool timed;
    uint64_t time_ns;
    enum outcome outcome;
};

/* Appends a row to the file's pending rows. */
void results_append(struct results *r, const struct results_row *row);

/* Holds a result to its bits, the exact value to all of its own, and errors to both: STATUS_DATA
 * where columns of a row contradict each other. */
enum status results_check(const struct csv_row *row, struct problem *p);
/* The same of its status: a result has another than what has none. */
enum status results_check_status(const struct csv_row *row, struct problem *p);

/* An encoding, or a hash of many: 0x and up to 32 hexadecimal digits. */
enum status results_parse_bits(struct hash128 *bits, const struct csv_row *row, struct problem *p);
/* Reads what results_hash and results_scan wrote. */
enum status results_parse_hash(struct hash128 *hash, const struct csv_row *row, struct problem *p);
enum status results_parse_scan(struct scan_facts *s, const struct csv_row *row, enum columns_of of,
                               struct problem *p);
