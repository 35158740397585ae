/* How the rows of a matrix lie in an array. Included by C and by CUDA.
 *
 * There are `rows` rows of `length` elements. `stride` divides rows: the rows come in batches of so
 * many, and element k of row r is element matrix_at(..) of the array:
 *
 *   stride 1        row-major order: each row is consecutive
 *   stride = rows   column-major order: element k of all rows, then element k + 1 of all rows.
 * These are also the sums of the columns of a row-major matrix, whose rows they cross between as
 * many matrices of `stride` columns, one after the other, each summed over its columns: batches */
#pragma once

#include <stddef.h>

#ifdef __CUDACC__
#define MATRIX_INLINE static __host__ __device__ inline
#else
#define MATRIX_INLINE static inline
#endif

MATRIX_INLINE size_t matrix_length(size_t n, size_t rows)
{
    return rows > 0 ? n / rows : 0;
}

MATRIX_INLINE size_t matrix_at(size_t row, size_t k, size_t length, size_t stride)
{
    return (row / stride * length + k) * stride + row % stride;
}

/* The row that element i of the array is in. */
MATRIX_INLINE size_t matrix_row(size_t i, size_t length, size_t stride)
{
    return i / (length * stride) * stride + i % stride;
}
