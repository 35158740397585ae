/* What `run gemm` says of scales that were made from the data, or read from files: lines above its
 * table, and scales.csv, with each of them. */
#pragma once

#include "experiments/cases/experiment.h"

/* A line for each input and shape that asks for them. */
enum status gemm_scales_says(struct text *to, const struct plan *plan, struct problem *p);

/* scales.csv, where the plan asks for them: an experiment's `derive`, and its `derived`. */
enum status gemm_scales_write(const struct plan *plan, const char *out, struct problem *p);
extern const struct derived_file gemm_scales_files[];
