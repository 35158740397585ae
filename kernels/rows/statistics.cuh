/* Statistics of rows on a GPU: a thread walks a row from its first element to its last, or a block
 * folds it in the tree of sum/tiled. Which of them, and in which order, a method's CPU side says.
 *
 * A method W<A> of the accumulator A has
 *   static constexpr bool each;      has every element a result, or every row?
 *   static void row(x, y, e)         for a row that one thread walks; or
 *   static void row(x, y, e, b)      for a row that all threads of a block fold
 * x: the row's elements as they are stored; y: where results go; e: what the host gives all rows,
 * the epsilon of norms. */
#pragma once

#include "kernels/blocks/tiled.h"
#include "kernels/device/two_sum.cuh"
#include "kernels/method/matrix.h"

namespace statistics
{

template <typename S> struct elements {
    const S *at;
    size_t n, stride;
    template <typename A> __device__ A as(size_t k) const { return convert<A>(at[k * stride]); }
    __device__ S operator[](size_t k) const { return at[k * stride]; }
};

template <typename A> struct results {
    A *at;
    size_t stride;
    __device__ void put(size_t k, A y) const { at[k * stride] = y; }
};

/* What is folded beside numbers has such a join of its own. */
template <typename A> __device__ inline void join(A &a, const A &b)
{
    a = add(a, b);
}

template <typename A> struct two_sums {
    A sum, squares;
};
template <typename A> __device__ inline void join(two_sums<A> &a, const two_sums<A> &b)
{
    a.sum = add(a.sum, b.sum);
    a.squares = add(a.squares, b.squares);
}

constexpr size_t widest_part = 24; /* bytes of all that is folded */

/* A block of TILE_COLUMNS threads, all of which call it alike. */
struct block {
    void *shared; /* TILE_COLUMNS parts */
    void *level;  /* the block's own: parts of tiles, of all levels */

    /* Of n >= 1 leaves: leaf(i) is the i-th. Every thread gets the root. */
    template <typename P, typename Leaf> __device__ P fold(size_t n, const Leaf &leaf) const
    {
        P *from = NULL, *to = (P *)level;
        for (size_t count = n;;
             from = to, to += groups_of(count, TILE), count = groups_of(count, TILE)) {
            size_t tiles = groups_of(count, TILE);
            for (size_t tile = 0; tile < tiles; tile++) {
                P sum = from ? of_tile<P>(count, tile, [=](size_t i) { return from[i]; })
                             : of_tile<P>(count, tile, leaf);
                if (tiles == 1)
                    return sum;
                if (threadIdx.x == 0)
                    to[tile] = sum;
            }
            __syncthreads();
        }
    }

    /* The greatest element; NaN where one is; -inf of none. Which of two zeros shows nowhere. */
    template <typename A, typename S> __device__ A greatest(const elements<S> &x) const
    {
        A *v = (A *)shared, m = rounded<A>(-INFINITY);
        for (size_t i = threadIdx.x; i < x.n; i += blockDim.x)
            m = greater(m, x.template as<A>(i));
        v[threadIdx.x] = m;
        __syncthreads();
        for (unsigned stride = TILE_COLUMNS / 2; stride > 0; stride /= 2) {
            if (threadIdx.x < stride)
                v[threadIdx.x] = greater(v[threadIdx.x], v[threadIdx.x + stride]);
            __syncthreads();
        }
        m = v[0];
        __syncthreads();
        return m;
    }

    template <typename A> static __device__ A greater(A m, A x) { return x != x || x > m ? x : m; }

  private:
    template <typename P, typename Leaf>
    __device__ P of_tile(size_t count, size_t tile, const Leaf &leaf) const
    {
        P *v = (P *)shared;
        size_t begin = tile * TILE;
        unsigned present = (unsigned)min((size_t)TILE, count - begin), c = threadIdx.x;
        unsigned columns = min(present, (unsigned)TILE_COLUMNS);
        if (c < columns) {
            P sum = leaf(begin + c);
            for (unsigned i = c + TILE_COLUMNS; i < present; i += TILE_COLUMNS)
                join(sum, leaf(begin + i));
            v[c] = sum;
        }
        __syncthreads();
        for (unsigned stride = TILE_COLUMNS / 2; stride > 0; stride /= 2) {
            if (c < stride && c + stride < columns)
                join(v[c], v[c + stride]);
            __syncthreads();
        }
        P sum = v[0];
        __syncthreads();
        return sum;
    }
};

enum { WALKERS = 64, BLOCKS = 2048 };

template <typename W, typename S, typename A>
__device__ inline elements<S> row_at(const S *x, size_t r, size_t length, size_t stride, A *out,
                                     results<A> *y)
{
    size_t first = matrix_at(r, 0, length, stride);
    *y = W::each ? results<A>{out + first, stride} : results<A>{out + r, 1};
    return {x + first, length, stride};
}

template <typename W, typename S, typename A>
__global__ void walk(const S *x, size_t rows, size_t length, size_t stride, double epsilon, A *out)
{
    size_t grid = (size_t)gridDim.x * blockDim.x;
    results<A> y;
    for (size_t r = (size_t)blockIdx.x * blockDim.x + threadIdx.x; r < rows; r += grid) {
        elements<S> of = row_at<W>(x, r, length, stride, out, &y);
        W::row(of, y, epsilon);
    }
}

template <typename W, typename S, typename A>
__global__ __launch_bounds__(TILE_COLUMNS) void fold(const S *x, size_t rows, size_t length,
                                                     size_t stride, double epsilon, char *workspace,
                                                     size_t own, A *out)
{
    __shared__ uint4 shared[TILE_COLUMNS * widest_part / sizeof(uint4)];
    results<A> y;
    const block b = {shared, workspace + blockIdx.x * own};
    for (size_t r = blockIdx.x; r < rows; r += gridDim.x) {
        elements<S> of = row_at<W>(x, r, length, stride, out, &y);
        W::row(of, y, epsilon, b);
    }
}

/* Bytes of each block. */
inline size_t levels(const struct cuda_task *t)
{
    size_t parts = 0;
    for (size_t count = matrix_length(t->of->in.n, t->of->bins); count > 1; parts += count)
        count = groups_of(count, TILE);
    return groups_of(parts * widest_part, 256) * 256;
}

inline size_t blocks_of(const struct cuda_task *t)
{
    return t->of->bins < BLOCKS ? t->of->bins : (size_t)BLOCKS;
}

template <typename W, bool folds, typename S, typename A>
int run(const struct cuda_task *t, double epsilon)
{
    size_t rows = t->of->bins, length = matrix_length(t->of->in.n, rows);
    cudaStream_t stream = (cudaStream_t)t->stream;
    const S *x = (const S *)t->of->in.data;
    if (rows == 0 || (W::each && length == 0))
        return cudaSuccess;
    if constexpr (folds)
        fold<W><<<(unsigned)blocks_of(t), TILE_COLUMNS, 0, stream>>>(
            x, rows, length, t->of->stride, epsilon, (char *)t->workspace, levels(t), (A *)t->out);
    else
        walk<W><<<grid_for(groups_of(rows, WALKERS)), WALKERS, 0, stream>>>(
            x, rows, length, t->of->stride, epsilon, (A *)t->out);
    return cudaGetLastError();
}

inline size_t workspace(const struct cuda_task *t)
{
    return blocks_of(t) * levels(t);
}

/* The accumulators that exp, log and roots are rounded to here. */
template <typename Use> int with_narrow_types(const struct cuda_task *t, const Use &use)
{
    return with_types(t, [&](auto s, auto a) -> int {
        if constexpr (sizeof(a) <= sizeof(float))
            return use(s, a);
        else
            return cudaErrorInvalidValue;
    });
}

template <template <typename> class W> int walk_narrow(const struct cuda_task *t, double epsilon)
{
    return with_narrow_types(t, [=](auto s, auto a) {
        return run<W<decltype(a)>, false, decltype(s), decltype(a)>(t, epsilon);
    });
}
template <template <typename> class W> int fold_narrow(const struct cuda_task *t, double epsilon)
{
    return with_narrow_types(t, [=](auto s, auto a) {
        return run<W<decltype(a)>, true, decltype(s), decltype(a)>(t, epsilon);
    });
}
template <template <typename> class W> int walk_all(const struct cuda_task *t)
{
    return with_types(t, [=](auto s, auto a) {
        return run<W<decltype(a)>, false, decltype(s), decltype(a)>(t, 0);
    });
}
template <template <typename> class W> int fold_all(const struct cuda_task *t)
{
    return with_types(t, [=](auto s, auto a) {
        return run<W<decltype(a)>, true, decltype(s), decltype(a)>(t, 0);
    });
}

} // namespace statistics

/* OPERATION_its_name_cuda, which runs `call` of a task t. */
#define STATISTIC_CUDA(its_operation, its_name, workspace, call)                                   \
    extern "C" const struct cuda_method its_operation##_##its_name##_cuda = {                      \
        workspace, no_workspace, [](const struct cuda_task *t) -> int { return call; }};
