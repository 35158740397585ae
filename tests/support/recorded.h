/* Results recorded on GPUs, held against the CPU twins. */
#pragma once

#include <stddef.h>

#include "tests/support/holds.h"

struct recorded {
    size_t compared;   /* rows */
    size_t cases;      /* they belong to: each was computed once */
    size_t too_large;  /* rows left out for their n */
    size_t no_promise; /* rows left out: no promise, or no twin on the CPU */
    size_t different;
    char first[WHY]; /* the first row that differs */
};

/* Adds the rows of a results.csv or of a profile.csv to the tally. Rows of a GPU with a result,
 * whose method makes a promise and has a CPU side, are computed again: from the generated input
 * that they name, or from the file of that name in tests/data, with the launch shape where the
 * order depends on it. Of a scan, a row of results.csv is held to the hash of the outputs, and one
 * of profile.csv to the output of its index. */
enum status recorded_compare(struct recorded *r, const char *path, struct problem *p);
