/* A results directory: study.json, results.csv, summary.csv, of scans profile.csv too, where
 * methods are timed times.csv, of `run atomics` atomics.csv and growth.csv, of `run
 * trial` study.json and trial.csv alone, and one writer at a
 * time. */
#ifndef ULPSCOPE_DIRECTORY_H
#define ULPSCOPE_DIRECTORY_H

#include "reports/study.h"

struct directory {
    int lock; /* held while open */
    char *path, *study, *results, *summary, *profile, *times, *atomics, *growth, *trial;
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

void directory_close(struct directory *d);

#endif
