/* The tree of dot/tiled over the squares of elements that are changed first, on the CPU. */
#pragma once

#include "kernels/method/method.h"

/* Makes of elements, as they are stored, what is squared: values of the accumulator f, or the
 * elements times a power of two, exactly (or, where that is a subnormal double, nearly). */
typedef void squares_change(enum format f, double *x, size_t count, const void *by);

/* *sum = the sum in t->accumulator of the squares, each rounded once before it is added; of nothing
 * +0. The task's second array and products are not read. */
enum status squares_sum(const struct task *t, squares_change *change, const void *by, double *sum,
                        struct problem *p);
