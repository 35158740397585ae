/* Methods that are right but for one thing, each declared like the method that it was made from.
 * The checks must catch every one. */
#pragma once

#include "tests/support/holds.h"

struct mutant {
    const char *fault;
    const char *of;                                       /* the method that is broken */
    void (*break_it)(struct method *m);                   /* m is a copy of it */
    bool (*check)(const struct method *m, char why[WHY]); /* must return false */
};
/* Of sums, of those that carry their errors, of those of any order, of scans, of what is correctly
 * rounded. */
extern const struct mutant mutants[], piece_mutants[], binned_mutants[], scan_mutants[],
    rounded_mutants[];
extern const size_t mutant_count, piece_mutant_count, binned_mutant_count, scan_mutant_count,
    rounded_mutant_count;

/* Runs the method, of one result, in double, and rounds that again. */
enum status mutant_rounds_twice(const char *name, const struct task *t, struct problem *p);
