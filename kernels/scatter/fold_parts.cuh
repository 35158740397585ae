/* Bins of many parts of an array, a row of them for each part, folded to one row: neighbours first,
 * as fold_adjacent (kernels/method/fold.h) does. */
#pragma once

#include "kernels/device/device.cuh"

namespace
{

/* Rows that a thread folds, a power of two; threads to a block. */
constexpr unsigned fold_rows = 64, fold_threads = 128;

template <unsigned size, typename A>
__device__ inline A fold_adjacent(const A *row, size_t bins, size_t present)
{
    if constexpr (size == 1)
        return present > 0 ? *row : minus_zero<A>();
    else
        return add(fold_adjacent<size / 2>(row, bins, present),
                   fold_adjacent<size / 2>(row + size / 2 * bins, bins,
                                           present > size / 2 ? present - size / 2 : 0));
}

/* Bin by bin: row g of `to` is the fold of the rows fold_rows g, fold_rows g + 1, ... of `from`. */
template <typename A>
__global__ __launch_bounds__(fold_threads) void fold_neighbours(const A *from, size_t rows,
                                                                size_t bins, A *to)
{
    size_t i = (size_t)blockIdx.x * fold_threads + threadIdx.x, first = i / bins * fold_rows;
    if (first < rows)
        to[i] = fold_adjacent<fold_rows>(from + first * bins + i % bins, bins, rows - first);
}

/* Rows that all levels take, but for the last, which is one. */
inline size_t fold_rows_needed(size_t rows)
{
    size_t needed = 0;
    for (; rows > 1; rows = groups_of(rows, fold_rows))
        needed += rows;
    return needed;
}

/* Where the rows are to lie: the levels follow each other in `place`, the last is `out`. */
template <typename A> A *first_rows(A *place, size_t rows, A *out)
{
    return rows > 1 ? place : out;
}

template <typename A>
int fold_parts(A *place, size_t rows, size_t bins, A *out, cudaStream_t stream)
{
    for (size_t groups; rows > 1; rows = groups) {
        groups = groups_of(rows, fold_rows);
        A *to = groups > 1 ? place + rows * bins : out;
        fold_neighbours<<<grid_for(groups_of(groups * bins, fold_threads)), fold_threads, 0,
                          stream>>>(place, rows, bins, to);
        place = to;
    }
    return cudaGetLastError();
}

} // namespace
