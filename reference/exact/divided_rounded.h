/* Exact values of elements that are divided by a root, rounded once: what rmsnorm/exact and
 * layernorm/exact give. */
#pragma once

#include "reference/base/problem.h"
#include "reference/exact/value.h"

/* y[i] = the exact value of element i of x, both of n doubles, rounded once to f. An enclosure of
 * few bits decides most; the reference decides the others: the bits are the reference's.
 * STATUS_MEMORY when memory is short, STATUS_FAILED should MPFR ever round an exact number. */
enum status divided_rounded(enum exact_value of, const double *x, size_t n, enum format f,
                            double *y, struct problem *p);
