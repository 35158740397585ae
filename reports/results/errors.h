/* Errors in a row of results.csv, computed again from its result and its exact value. */
#pragma once

#include "reports/csv/file.h"

/* Holds err_abs, err_rel, err_ulp and status to the result and exact_hex, and err_over_bound to
 * err_abs and bound: STATUS_DATA where they contradict each other. Of arrays each is of another
 * output, which the row does not have: nothing is held. `result` and exact_hex are held to the bits
 * before. */
enum status errors_check(const struct csv_row *row, struct problem *p);
