/* Tiles of A and B in shared memory, and a thread's part of them: a block of 16 x 16 threads has
 * one of 16 columns of A and one of 16 rows of B, and each thread reads 4, or, in fp32, 8 lines of
 * either.
 *
 * Factors are converted, exactly, to the type T that they are multiplied in. Beyond the end of a
 * slice A is -0 and B +0: their product is -0, which changes no sum. */
#pragma once

#include "kernels/blocks/product.cuh"
#include "kernels/gemm/elements.cuh"

namespace gemm
{

constexpr int DEPTH = 16, SIDE_THREADS = 16, THREADS = SIDE_THREADS * SIDE_THREADS;

/* How many rows (and how many columns) of the tile a thread computes, in groups of four neighbours.
 */
template <typename T> constexpr int each = same_type<T, float> ? 8 : 4;
template <typename T> constexpr int side = SIDE_THREADS *each<T>;

template <typename T> struct alignas(sizeof(T) == 2 ? 8 : 16) quad {
    T of[4];
};

/* Rows of four more banks than there are, which also keeps quads aligned. */
template <typename T> struct tile {
    T of[DEPTH][side<T> + 16 / sizeof(T)];
};

/* Is S ever multiplied in T? */
template <typename T, typename S>
constexpr bool read_as = same_type<T, S> || sizeof(S) == 1 || same_type<T, double> ||
                         (same_type<T, float> && sizeof(S) == 2);

/* Which of a tile's elements is number r of a thread: side by side in memory for its lanes. */
template <typename T> __device__ inline int place(const struct factor &f, int r, int *depth)
{
    const int e = (int)threadIdx.x + THREADS * r;
    *depth = f.next == 1 ? e % DEPTH : e / side<T>;
    return f.next == 1 ? e / DEPTH : e % side<T>;
}

template <typename T, typename S>
__device__ inline void fetch_from(T (&to)[each<T>], const struct factor &f, size_t first, size_t k,
                                  size_t end, T none)
{
    if constexpr (read_as<T, S>) {
        const S *from = (const S *)f.data;
#pragma unroll
        for (int r = 0; r < each<T>; r++) {
            int depth;
            const size_t i = first + place<T>(f, r, &depth), at = k + depth;
            to[r] = i < f.many && at < end ? convert<T>(from[i * f.step + at * f.next]) : none;
        }
    }
}

template <typename T>
__device__ inline void fetch(T (&to)[each<T>], const struct factor &f, size_t first, size_t k,
                             size_t end, T none)
{
    switch (f.format) {
    case FP16:
        return fetch_from<T, __half>(to, f, first, k, end, none);
    case BF16:
        return fetch_from<T, __nv_bfloat16>(to, f, first, k, end, none);
    case FP32:
        return fetch_from<T, float>(to, f, first, k, end, none);
    case FP64:
        return fetch_from<T, double>(to, f, first, k, end, none);
    case E4M3:
        return fetch_from<T, __nv_fp8_e4m3>(to, f, first, k, end, none);
    case E5M2:
        return fetch_from<T, __nv_fp8_e5m2>(to, f, first, k, end, none);
    }
}

template <typename T>
__device__ inline void keep(struct tile<T> &to, const T (&from)[each<T>], const struct factor &f)
{
#pragma unroll
    for (int r = 0; r < each<T>; r++) {
        int depth;
        const int i = place<T>(f, r, &depth);
        to.of[depth][i] = from[r];
    }
}

/* Where element r of a thread of number `at` on that side lies within the tile. */
__device__ inline int own(int r, int at)
{
    return r / 4 * 4 * SIDE_THREADS + 4 * at + r % 4;
}

template <typename T> __device__ inline void take(T (&to)[each<T>], const T *row, int at)
{
#pragma unroll
    for (int r = 0; r < each<T>; r += 4) {
        const quad<T> four = *(const quad<T> *)(row + own(r, at));
#pragma unroll
        for (int q = 0; q < 4; q++)
            to[r + q] = four.of[q];
    }
}

} // namespace gemm
