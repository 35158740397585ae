/* Results recorded on other devices: results.csv files as `run` writes them. */
#pragma once

#include "experiments/check/check.h"
#include "reference/base/hash.h"

/* The first run of a case, on a GPU, of a generated input of at most 2^20 elements without
 * segments. */
struct check_recorded_row {
    char *method;
    char folder[64]; /* that it stands in */
    struct check_case at;
    struct keys *keys;     /* at.keys, or NULL */
    struct hash128 digest; /* as a run's (kernels/gpu/gpu.h) */
};

struct check_recorded {
    struct check_recorded_row *row;
    size_t rows;
};

/* Reads what DIR/NAME/results.csv of all folders have of these methods, by their names; of all
 * where `methods` is 0. STATUS_DATA where there is no such directory or a file cannot be read.
 * check_recorded_free is due on success. */
enum status check_recorded_read(struct check_recorded **recorded, const char *dir,
                                const struct method *const *method, size_t methods,
                                struct problem *p);
void check_recorded_free(struct check_recorded *recorded); /* NULL is fine */
