/* Elements divided by a root of their row, as RMSNorm and LayerNorm do it: by 1 / sqrt(s) once a
 * row, correctly rounded (reference/exact/elementary.h), and a product for each element. */
#pragma once

#include "kernels/rows/rows.h"

/* 1 / sqrt(square + epsilon), each operation rounded to f, epsilon too; square: a value of f. */
double divided_scale(enum exact_value of, enum format f, double square);

/* y[i] = (x[i] - mean) scale, or x[i] scale, where x[i] is rounded to f first, and each operation
 * is. */
void divided_away(const double *x, size_t n, enum format f, double mean, double scale, double *y);
void divided_plain(const double *x, size_t n, enum format f, double scale, double *y);

/* The descriptor of OPERATION/its_name from row_its_name, a row_outputs. The height is that of its
 * sums. */
#define DIVIDED_METHOD(its_operation, its_name, its_summary, theorem, its_height, its_bin)         \
    static enum status run_##its_name(const struct task *t, struct problem *p)                     \
    {                                                                                              \
        return rows_outputs(t, row_##its_name, p);                                                 \
    }                                                                                              \
    const struct method its_operation##_##its_name = {.name = #its_operation "/" #its_name,        \
                                                      .summary = its_summary,                      \
                                                      .operation = &operation_##its_operation,     \
                                                      .promise = PROMISE_GPU_TO_GPU,               \
                                                      .beside = 1u << PROMISE_BATCH_INVARIANT,     \
                                                      .pairs = {[DEVICE_CPU] = FORMAT_PAIRS_ALL},  \
                                                      .shape_read = {SHAPE_THREADS, 0},            \
                                                      .resolve = scatter_each_shape,               \
                                                      .bound = theorem,                            \
                                                      .height = its_height,                        \
                                                      .bin_height = its_bin,                       \
                                                      .cpu = run_##its_name};
