/* Layouts: how the rows of a matrix that are summed lie in the array (kernels/method/matrix.h).
 *
 *     row       row after row: sums over the rows of a row-major matrix
 *     column    element after element of all rows: sums over the columns of one
 *     batch:S   matrices of S columns, one after the other, each summed over its columns */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "reference/base/problem.h"

enum layout_kind { LAYOUT_ROW, LAYOUT_COLUMN, LAYOUT_BATCH };

struct layout {
    enum layout_kind kind;
    size_t batch;  /* S */
    char name[32]; /* canonical specification */
};

/* The most rows of a matrix, so that an element's fits in a key. */
#define LAYOUT_ROWS_MAX UINT32_MAX

/* STATUS_USAGE for what is none. */
enum status layout_parse(struct layout *l, const char *text, struct problem *p);

/* How many rows are meant by --rows: 0 stands for the largest divisor of n up to its root. */
size_t layout_rows(size_t n, size_t asked);

struct setting_axes; /* experiments/operations/setting.h */
/* The same, but 0 stands for the rows that a file says, or in layout `column` for its columns,
 * where it says so. */
size_t layout_asked(const struct setting_axes *axes, size_t asked, size_t n, enum layout_kind kind);

/* The u-th of those asked for; of none what the file says; without a file, the u-th of some that
 * differ most: about square, one row, few, as many as elements. */
size_t layout_vary(const struct setting_axes *axes, size_t n, size_t u, enum layout_kind kind);

/* *stride = what a task has. STATUS_USAGE where the rows do not divide n, or S not the rows. */
enum status layout_stride(size_t *stride, const struct layout *l, size_t n, size_t rows,
                          struct problem *p);

/* The row of each of n elements, of at most LAYOUT_ROWS_MAX. */
void layout_keys(uint32_t *to, size_t n, size_t rows, size_t stride);
