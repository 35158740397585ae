/* The rows of trial.csv, subject by subject. */
#pragma once

#include "reports/page/report.h"

enum { RUNGS = PROMISES - 1 };

/* A subject: its rows stand together, a rung each. */
struct report_subject {
    const char *method, *device, *promise, *kept;
    size_t rung;           /* that it promises: 0 none */
    size_t row[RUNGS + 1]; /* of each rung, one behind its place; 0: none */
};

/* The subject whose first row is at *row, which becomes that of the next. */
struct report_subject report_subject_next(const struct report *r, size_t *row);

/* Has the row this verdict? */
bool report_trial_is(const struct report *r, size_t row, const char *verdict);
