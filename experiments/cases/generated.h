/* One generated array, as the command line asks for it. */
#pragma once

#include "experiments/inputs/input.h"
#include "experiments/options/options.h"

struct generated {
    char name[INPUT_TEXT]; /* canonical specification */
    uint64_t seed;
    double cond; /* 0 where none was asked for */
    struct array array;
};

/* Generates `specification` with --n (which must be there), --seed (1), --storage (fp64) and
 * --cond (the family's default). `pairs`: of an input of two arrays both, one behind the other, 2 n
 * elements; else such an input is refused. free(array.data) is due on success. */
enum status generated_make(struct generated *g, const char *specification, bool pairs,
                           const struct arguments *a, struct problem *p);
