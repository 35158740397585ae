/* The folds of kernels/method/order.h on values: doubles that carry the accumulator's format f.
 * They overwrite v[]; the result is returned. count >= 1. */
#pragma once

#include "reference/format/format.h"

static inline double fold_serial(enum format f, double *v, size_t count)
{
    for (size_t i = 1; i < count; i++)
        v[0] = format_add(f, v[0], v[i]);
    return v[0];
}

static inline double fold_adjacent(enum format f, double *v, size_t count)
{
    for (size_t stride = 1; stride < count; stride *= 2)
        for (size_t i = 0; i + stride < count; i += 2 * stride)
            v[i] = format_add(f, v[i], v[i + stride]);
    return v[0];
}

static inline double fold_halving(enum format f, double *v, size_t count)
{
    size_t stride = 1;
    while (stride < count)
        stride *= 2;
    for (; stride > 0; stride /= 2)
        for (size_t i = 0; i < stride && i + stride < count; i++)
            v[i] = format_add(f, v[i], v[i + stride]);
    return v[0];
}
