/* What bench tells: tables or JSON on standard output, and a CSV file. */
#pragma once

#include <jansson.h>

#include "experiments/bench/table.h"
#include "reports/csv/file.h"

struct bench_report {
    bool json;
    json_t *rows;
    struct bench_table table;
    struct csv_file csv;
    bool to_csv;
};

/* csv: a path, or NULL. bench_report_close is due, also after failure. */
enum status bench_report_open(struct bench_report *r, bool json, const char *csv,
                              struct problem *p);

/* In the CSV file it stands at once. */
enum status bench_report_add(struct bench_report *r, const struct bench_input *in,
                             const struct bench_row *row, struct problem *p);

/* Appends the row of a CSV file: of a times.csv, where case_id is "" or that of the case that was
 * timed; of bench, where it is NULL. */
void bench_report_row(struct text *to, const struct bench_input *in, const struct bench_row *row,
                      const char *case_id);

/* Prints the tables or JSON, of as much as was measured, and frees everything. */
enum status bench_report_close(struct bench_report *r, struct problem *p);
