/* The fold of a grid: consecutive elements as rows of `width` columns (the last row may be
 * short). Columns are added serially, top to bottom, only the rows present; then the column
 * sums, fewer than `width` where the only row is short, are folded by halving. */
#ifndef ULPSCOPE_COLUMNS_H
#define ULPSCOPE_COLUMNS_H

#include "kernels/fold.h"
#include "kernels/order.h"

/* Overwrites v[]; count >= 1. */
static inline double fold_columns(enum format f, double *v, size_t count, size_t width)
{
    for (size_t i = width; i < count; i++)
        v[i % width] = format_add(f, v[i % width], v[i]);
    return fold_halving(f, v, count < width ? count : width);
}

static inline uint32_t order_columns(struct order *o, uint32_t *node, size_t count, size_t width)
{
    for (size_t i = width; i < count; i++)
        node[i % width] = order_add(o, node[i % width], node[i]);
    return order_halving(o, node, count < width ? count : width);
}

/* The first column has the most rows, and halving gives it a longest path. */
static inline size_t columns_height(size_t count, size_t width)
{
    return (count - 1) / width + order_balanced_height(count < width ? count : width);
}

#endif
