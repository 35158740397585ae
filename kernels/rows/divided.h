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
