/* Shared by the methods for sums of rows: rows taken one by one. */
#pragma once

#include "kernels/method/matrix.h"
#include "kernels/method/method.h"
#include "kernels/scatter/bins.h"

/* *sum = the sum of a row in f, a value of f. x: its elements, n >= 1, in the storage's format or,
 * with the same values, in FP64. STATUS_MEMORY when memory is short. */
typedef enum status row_sum(const struct array *x, enum format f, double *sum, struct problem *p);

/* What `m`, a method of arrays, makes of each row as an array, on one thread.
 * Threads are a schedule here too. */
enum status rows_method(const struct task *t, const struct method *m, struct problem *p);
/* *value = what it makes of one row, of methods of two arrays of the row with itself. x: as above.
 */
enum status rows_value(const struct method *m, const struct array *x, enum format f, double *value,
                       struct problem *p);

/* y[0 .. outputs-1] = the outputs of a row, values of f, by one thread: one, or as many as it has
 * elements. x: its n elements, as they are stored; n may be 0. y is no part of x. */
typedef enum status row_outputs(const double *x, size_t n, enum format f, double *y,
                                struct problem *p);
enum status rows_outputs(const struct task *t, row_outputs *outputs, struct problem *p);

/* What exp, log and roots are rounded to on a GPU. */
#define ROWS_NARROW FORMAT_PAIRS_FROM_16(IN(FP16) | IN(BF16) | IN(FP32))

/* The descriptor of OPERATION/its_name from row_its_name, a row_outputs. The height is that of its
 * sums. */
#define ROWS_METHOD(its_operation, its_name, its_summary, theorem, its_height, its_bin)            \
    static enum status run_##its_name(const struct task *t, struct problem *p)                     \
    {                                                                                              \
        return rows_outputs(t, row_##its_name, p);                                                 \
    }                                                                                              \
    const struct method its_operation##_##its_name = {.name = #its_operation "/" #its_name,        \
                                                      .summary = its_summary,                      \
                                                      .operation = &operation_##its_operation,     \
                                                      .promise = PROMISE_GPU_TO_GPU,               \
                                                      .beside = 1u << PROMISE_BATCH_INVARIANT,     \
                                                      .pairs = {FORMAT_PAIRS_ALL, ROWS_NARROW},    \
                                                      .shape_read = {SHAPE_THREADS, 0},            \
                                                      .resolve = scatter_each_shape,               \
                                                      .bound = theorem,                            \
                                                      .height = its_height,                        \
                                                      .bin_height = its_bin,                       \
                                                      .cpu = run_##its_name};

/* The method OPERATION/exact, which rounds the exact values once. its_row is a row_outputs. */
#define ROWS_EXACT(its_operation, its_row)                                                         \
    static enum status run_exact(const struct task *t, struct problem *p)                          \
    {                                                                                              \
        return rows_outputs(t, its_row, p);                                                        \
    }                                                                                              \
    const struct method its_operation##_exact = {.name = #its_operation "/exact",                  \
                                                 .summary = "the exact value, rounded once",       \
                                                 .operation = &operation_##its_operation,          \
                                                 .promise = PROMISE_CORRECTLY_ROUNDED,             \
                                                 .pairs = {[DEVICE_CPU] = FORMAT_PAIRS_ALL},       \
                                                 .shape_read = {SHAPE_THREADS, 0},                 \
                                                 .resolve = scatter_each_shape,                    \
                                                 .addition = ADDITION_EXACT,                       \
                                                 .bound = THEOREM_CORRECTLY_ROUNDED,               \
                                                 .cpu = run_exact};

/* Sums each row. Threads are a schedule: each has consecutive rows. */
enum status rows_each(const struct task *t, row_sum *sum, struct problem *p);
