/* What bench times on one input. */
#pragma once

#include "experiments/cases/axes.h"
#include "experiments/bench/bench.h"

struct bench_plan {
    struct bench_row *row;
    size_t count;
};

/* The rows of every method of the axes with n elements of this storage format, one for each
 * accumulator, launch shape and setting; those that coincide once. Rows
 * with the same keys, or none, stand together. A vendor's routine stands before what is held
 * against it. What a device does not support is there only where methods were asked for by name.
 * bench_plan_free is due, also after failure. */
enum status bench_plan(struct bench_plan *plan, const struct axes *axes, enum device_kind device,
                       enum format storage, size_t n, struct problem *p);
void bench_plan_free(struct bench_plan *plan);
