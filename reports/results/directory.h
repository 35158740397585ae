/* A results directory: study.json, results.csv, summary.csv, of scans profile.csv too, where
 * methods are timed times.csv, of `run atomics` atomics.csv and growth.csv, of `run
 * gemm` with scales made from the data scales.csv, of `run
 * trial` study.json and trial.csv alone, of `run steps` study.json and steps.csv, and one writer at
 * a time. */
#pragma once

#include "reports/results/study.h"

struct directory {
    int lock; /* held while open */
    char *path, *study, *results, *summary, *profile, *times, *atomics, *growth, *scales, *trial,
        *steps;
};

/* Makes the directory, its parents too, where it is not there, and locks it. STATUS_DATA where it
 * cannot be, is no directory, or another process has it. */
enum status directory_open(struct directory *d, const char *path, struct problem *p);

/* Readies it for `study`. *resumed tells whether it holds that study already; it then replaces the
 * entries of `study` by those found (inputs, when it was started, ...). Where it holds another
 * study, or results without one, that is STATUS_USAGE or STATUS_DATA and nothing is touched,
 * unless `force` starts over. */
enum status directory_claim(struct directory *d, json_t *study, bool force, bool *resumed,
                            struct problem *p);

/* The same, but nothing is written or removed: for a study that is written beside the one that is
 * there, each file in its file_part, and then takes its place. */
enum status directory_look(const struct directory *d, json_t *study, bool force, bool *resumed,
                           struct problem *p);
/* Puts files in the place of those of their names, from their parts, and removes the others that a
 * study may have; study.json is left, to be written last. */
enum status directory_replace(const struct directory *d, const char *const *file, size_t count,
                              struct problem *p);

void directory_close(struct directory *d);
