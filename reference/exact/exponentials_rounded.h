/* Exact values of exponentials, rounded once: what softmax/exact and its like give. */
#pragma once

#include "reference/base/problem.h"
#include "reference/exact/value.h"

/* y = the exact value of a row, `of` it, x of n doubles, rounded once to f; where each element has
 * a value, all n of them. An enclosure in double decides most for fp16, bf16 and fp32, and one by
 * MPFR of few bits for fp64; the reference decides the others: the bits are the reference's.
 * STATUS_MEMORY when memory is short. */
enum status exponentials_rounded(enum exact_value of, const double *x, size_t n, enum format f,
                                 double *y, struct problem *p);
