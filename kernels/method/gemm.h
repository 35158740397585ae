/* Where the matrices of a product lie in one array. Included by C and by CUDA.
 *
 * D = A B + C, A of m x k, B of k x n, C and D of m x n elements. The array holds A, then B, then
 * what C is made of. C and D are row-major and dense; A and B are row-major or column-major, and
 * their leading dimensions have `pad` elements more than they need, which no method reads. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#ifdef __CUDACC__
#define GEMM_INLINE static __host__ __device__ inline
#else
#define GEMM_INLINE static inline
#endif

enum { GEMM_PROMOTE = 128 };     /* products, as DeepSeek-V3's kernels do */
enum { GEMM_SCALE_BLOCK = 128 }; /* elements that share a scale, as there */

/* Of matrices of 8 bits, as libraries take them: D = (scale of A) (scale of B) A B + C, of numbers
 * that scales of a row, a column or a block say. All but the first two are by amax, unless they are
 * given: max|x| of what shares a scale is the format's largest number times the scale. */
enum gemm_scaling {
    GEMM_UNSCALED,
    GEMM_SCALED,
    GEMM_SCALED_BY_AMAX, /* once operands are made, they are GEMM_SCALED */
    GEMM_SCALED_OUTER,   /* one for each row of A and each column of B */
    GEMM_SCALED_BLOCKS   /* one for 128 elements of a row of A, and for 128 x 128 of B */
};

struct matrices_scales;

struct gemm_shape {
    size_t m, n, k;
    bool a_column, b_column; /* column-major */
    size_t pad;
    bool no_c;  /* C is zeros, whatever else the array holds */
    bool mixed; /* B is of the other 8-bit format; on the CPU alone, as what follows */
    bool tf32;  /* A and B, of fp32, are rounded to tf32 before */
    enum gemm_scaling scaling;
    float scale[2]; /* GEMM_SCALED: A's and B's, finite and above 0; else 0 */
    /* Scales from files: A's and B's (reference/exact/matrices.h), the caller's. NULL: they are
     * made from the data, or `scale`. */
    const struct matrices_scales *given;
};

/* The leading dimensions: elements from one row, or one column, to the next. */
GEMM_INLINE size_t gemm_lda(const struct gemm_shape *s)
{
    return (s->a_column ? s->m : s->k) + s->pad;
}

GEMM_INLINE size_t gemm_ldb(const struct gemm_shape *s)
{
    return (s->b_column ? s->k : s->n) + s->pad;
}

/* Where B, and what C is made of, begin; and where that ends, or B, where C is zeros. */
GEMM_INLINE size_t gemm_b_begins(const struct gemm_shape *s)
{
    return (s->a_column ? s->k : s->m) * gemm_lda(s);
}

GEMM_INLINE size_t gemm_c_begins(const struct gemm_shape *s)
{
    return gemm_b_begins(s) + (s->b_column ? s->n : s->k) * gemm_ldb(s);
}

GEMM_INLINE size_t gemm_elements(const struct gemm_shape *s)
{
    return gemm_c_begins(s) + (s->no_c ? 0 : s->m * s->n);
}

GEMM_INLINE size_t gemm_a_at(const struct gemm_shape *s, size_t i, size_t k)
{
    return s->a_column ? k * gemm_lda(s) + i : i * gemm_lda(s) + k;
}

GEMM_INLINE size_t gemm_b_at(const struct gemm_shape *s, size_t k, size_t j)
{
    return gemm_b_begins(s) + (s->b_column ? j * gemm_ldb(s) + k : k * gemm_ldb(s) + j);
}
