/* Shared by the methods for sums of rows: rows taken one by one. */
#pragma once

#include "kernels/method/matrix.h"
#include "kernels/method/method.h"

/* *sum = the sum of a row in f, a value of f. x: its elements, n >= 1, in the storage's format or,
 * with the same values, in FP64. STATUS_MEMORY when memory is short. */
typedef enum status row_sum(const struct array *x, enum format f, double *sum, struct problem *p);

/* What `m`, a method of arrays, makes of each row as an array, on one thread.
 * Threads are a schedule here too. */
enum status rows_method(const struct task *t, const struct method *m, struct problem *p);

/* y[0 .. outputs-1] = the outputs of a row, values of f, by one thread: one, or as many as it has
 * elements. x: its n elements, as they are stored; n may be 0. y is no part of x. */
typedef enum status row_outputs(const double *x, size_t n, enum format f, double *y,
                                struct problem *p);
enum status rows_outputs(const struct task *t, row_outputs *outputs, struct problem *p);

/* Sums each row. Threads are a schedule: each has consecutive rows. */
enum status rows_each(const struct task *t, row_sum *sum, struct problem *p);
