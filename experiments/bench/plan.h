/* What bench times on one input. */
#pragma once

#include "experiments/cases/axes.h"
#include "experiments/bench/bench.h"

struct bench_plan {
    struct bench_row *row;
    size_t count, capacity;
};

/* The rows of every method of the axes with n elements of this storage format, one for each
 * accumulator, launch shape and, of scans, --scan, --output and --segment, of matrices --rows and
 * --layout, of compactions --keep; those that coincide
 * once. A vendor's routine stands before what is held against it. What a device does not support is
 * there only where methods were asked for by name. bench_plan_free is due, also after failure. */
enum status bench_plan(struct bench_plan *plan, const struct axes *axes, enum device_kind device,
                       enum format storage, size_t n, struct problem *p);
/* The same of the methods that take keys, which bench_plan leaves out. */
enum status bench_plan_keys(struct bench_plan *plan, const struct axes *axes,
                            enum device_kind device, enum format storage, size_t n,
                            struct problem *p);
void bench_plan_free(struct bench_plan *plan);
