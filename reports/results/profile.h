/* Writing profile.csv: the errors along a scan, a row for each of some outputs of a case's first
 * run.
 */
#pragma once

#include "reference/measure/scan.h"
#include "reports/csv/file.h"

enum status profile_open(struct csv_file *f, const char *path, uint64_t keep, struct problem *p);

/* Appends the points of a measure to the file's pending rows; text as for results_case. */
void profile_append(struct csv_file *f, const char *const text[CASE_SCAN_COLUMNS],
                    enum format output, const struct scan_measure *m);
