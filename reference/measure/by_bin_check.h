/* The exact sums of bins, once more. */
#pragma once

#include "reference/exact/by_bin.h"

/* Holds what measure_scatter goes by, bins found by a sort and summed by superaccumulators, to
 * running sums of MPFR, wide enough to be exact, to which the elements are added as they come, some
 * bins in each pass over the keys. STATUS_FAILED, with `name` and the bin, where they differ;
 * STATUS_MEMORY when memory is short. */
enum status by_bin_check(const struct by_bin *b, const struct array *a, const uint32_t *keys,
                         const char *name, struct problem *p);
