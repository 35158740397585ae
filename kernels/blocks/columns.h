/* The fold of a grid: consecutive elements as rows of `width` columns (the last row may be
 * short). Columns are added serially, top to bottom, only the rows present; then the column
 * sums, fewer than `width` where the only row is short, are folded by halving. */
#pragma once

#include "kernels/method/fold.h"
#include "kernels/method/order.h"

/* Adds rows to the first one alone; returns how many columns there are. */
static inline size_t fold_rows(enum format f, double *v, size_t count, size_t width)
{
    for (size_t row = width; row < count; row += width)
        for (size_t c = 0; c < width && row + c < count; c++)
            v[c] = format_add(f, v[c], v[row + c]);
    return count < width ? count : width;
}

static inline size_t order_rows(struct order *o, uint32_t *node, size_t count, size_t width)
{
    for (size_t row = width; row < count; row += width)
        for (size_t c = 0; c < width && row + c < count; c++)
            node[c] = order_add(o, node[c], node[row + c]);
    return count < width ? count : width;
}

/* Overwrites v[]; count >= 1. */
static inline double fold_columns(enum format f, double *v, size_t count, size_t width)
{
    return fold_halving(f, v, fold_rows(f, v, count, width));
}

static inline uint32_t order_columns(struct order *o, uint32_t *node, size_t count, size_t width)
{
    return order_halving(o, node, order_rows(o, node, count, width));
}

/* The first column has the most rows, and halving gives it a longest path. */
static inline size_t columns_height(size_t count, size_t width)
{
    return (count - 1) / width + order_balanced_height(count < width ? count : width);
}
