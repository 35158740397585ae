/* Taking a study up again: what its results directory says is done. */
#pragma once

#include "experiments/cases/plan.h"
#include "reports/results/directory.h"

struct resumed {
    uint64_t whole;   /* bytes of results.csv to keep; 0 where there is none */
    uint64_t summary; /* bytes of summary.csv to keep */
    uint64_t profile; /* bytes of profile.csv to keep, of scans */
    size_t broken;    /* rows that broke their bound */
    char first_broken[128];
};

/* Reads results.csv and marks in the plan what is done. Rows of failed runs are taken out, so that
 * those are tried again. summary.csv is rewritten: it then has the rows of the finished cases that
 * it agrees with results.csv on; the others are to be summarised anew (summarised is false). Their
 * runs, and those of unfinished cases, stay with the case (earlier). STATUS_DATA where
 * results.csv is not this study's, or was edited. */
enum status resume_read(struct resumed *r, struct plan *plan, const struct directory *d,
                        struct problem *p);

/* Takes the rows of cases that have none in results.csv, as the plan knows by now, out of a
 * profile.csv. *whole is the number of bytes to keep, 0 where there is no such file. STATUS_DATA
 * where it is not this study's. */
enum status resume_profile(const struct plan *plan, const char *path, uint64_t *whole,
                           struct problem *p);

/* Holds the inputs that a study.json has recorded to those of the plan: generated ones when they
 * are loaded, data at once (STATUS_DATA). own: it is this directory's, so that they need not be
 * recorded again (source.recorded). */
enum status resume_inputs(struct plan *plan, const json_t *study, const char *path, bool own,
                          struct problem *p);
