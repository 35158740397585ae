/* How split-K products cut the k products of an element, in C and CUDA alike. */
#pragma once

#include <stddef.h>

/* Slices of the k products, `asked` at most: all of one length but the last, which may be shorter.
 */
struct gemm_slices {
    size_t count, length;
};
static inline struct gemm_slices gemm_slices(size_t k, size_t asked)
{
    const size_t length = k / asked + (k % asked != 0);
    const struct gemm_slices slices = {length ? (k - 1) / length + 1 : 0, length};
    return slices;
}
