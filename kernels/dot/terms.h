/* Shared by the methods of dot products on the CPU. */
#pragma once

#include "kernels/blocks/product.h"
#include "kernels/method/method.h"

/* Some elements of both arrays, decoded. */
enum { DOT_BLOCK = 2048 };
struct dot_block {
    double x[DOT_BLOCK], y[DOT_BLOCK];
};

static inline void dot_decode(struct dot_block *b, const struct task *t, size_t begin, size_t count)
{
    array_decode(&t->of->in, begin, count, b->x);
    array_decode(&t->of->in2, begin, count, b->y);
}

/* Adds x y to a sum in f, as the task says: rounded first, or fused. */
static inline double dot_append(enum format f, enum product_kind how, double sum, double x,
                                double y)
{
    return how == PRODUCT_FUSED ? product_fused(f, sum, x, y)
                                : format_add(f, sum, product_rounded(f, x, y));
}

/* Flags of a method that can do either. */
enum { DOT_ROUNDED_OR_FUSED = 1u << PRODUCT_ROUNDED | 1u << PRODUCT_FUSED };
