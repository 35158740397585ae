/* `ulpscope reveal --ranks P`: the order of each element of an all-reduce. */
#pragma once

#include "experiments/options/options.h"
#include "experiments/reveal/method.h"

/* The orders of a case's outputs, or of two cases' that stand beside each other: c has one or two.
 */
enum status reveal_all_outputs(const struct arguments *a, const struct reveal_case *c, size_t cases,
                               uint64_t ranks, struct problem *p);
