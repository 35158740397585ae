/* The scales of the elements of A or B. Included by C and by CUDA. */
#pragma once

#include <stddef.h>

#ifdef __CUDACC__
#define SCALES_INLINE static __host__ __device__ inline
#else
#define SCALES_INLINE static inline
#endif

/* What the elements of A, or of B, are multiplied by: numbers of fp32, of elements with 29 digits
 * at most, so that a scaled element is a double. `lines` rows of A, or columns of B, and `terms` of
 * the k share one; there are `along` of them along k. */
struct matrices_scales {
    const float *of; /* NULL: elements are not scaled */
    size_t lines, terms, along;
};

/* That of product k in a row of A, or a column of B. */
SCALES_INLINE double matrices_scale(const struct matrices_scales *s, size_t line, size_t k)
{
    return s->of ? s->of[line / s->lines * s->along + k / s->terms] : 1;
}
