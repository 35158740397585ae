/* Rows of trial.csv that contradict themselves. */
#pragma once

#include "reports/csv/file.h"

/* Holds a verdict to its numbers of attempts, these to those of each kind, and the highest rung
 * that is kept to the verdict: STATUS_DATA where a row contradicts itself. */
enum status verdicts_check(const struct csv_row *row, struct problem *p);
