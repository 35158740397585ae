/* Rows in the order of sum/tiled (its words stand in kernels/sum/tiled.c) on a GPU.
 *
 * Everything here is a schedule. Rows of at most one tile row: short.cuh. Of longer ones the sums
 * of their tiles are again a matrix of as many rows, in the same layout, with one element per tile.
 * Who adds the last tile of a row folds its sums, so that rows of up to 2048 tiles take one launch;
 * longer ones one more for each further level.
 *
 *   - sum_consecutive, stride 1: a tile by a warp, as sum/tiled sums it.
 *   - sum_strided: a tile by a team of threads. Neighbours in memory belong to neighbouring rows,
 *     so that the reads of a warp are coalesced, and a thread has as many rows as it reads 16 bytes
 *     of, where that is possible. It has every `deep`-th column of its tile; it takes them in the
 *     order in which the tree joins them, and so keeps a few sums instead of all. */
#pragma once

#include "kernels/blocks/tile.cuh"
#include "kernels/rows/short.cuh"

namespace rows_tree
{

/* Elements, read once and not again; sums of tiles, which another block has written. */
struct stored {
    template <typename T> static __device__ T get(const T *from) { return __ldcs(from); }
};
struct written {
    template <typename T> static __device__ T get(const T *from) { return __ldcg(from); }
};

/* A level: its rows, and where the sums of its tiles go. `finished`: tiles of each row or unit that
 * are summed, zeros before and after each launch; NULL where a launch of its own folds them. */
template <typename A> struct level {
    size_t rows, length, stride;
    unsigned tiles; /* of a row */
    A *sums, *out;  /* the same, where a row has one */
    unsigned *finished;
};

/* Has every one of `all` been counted? By one thread, once it has written; or by one for others
 * whose writes a barrier has made known to it. The last to come may read what all have written. */
__device__ inline bool is_last(unsigned *finished, unsigned all)
{
    __threadfence();
    bool last = atomicAdd(finished, 1) == all - 1;
    if (last)
        *finished = 0;
    __threadfence();
    return last;
}

/* A tile of `present` elements by a warp, of which lane 0 gets the sum: V of a lane at a time;
 * `present` is a multiple of V, and the tile aligned so. */
template <typename From, unsigned V, typename P, typename S>
__device__ inline P tile_of_row(const S *tile, unsigned present)
{
    typedef typename P::word A;
    typedef typename wide<S, V>::word word;
    constexpr unsigned single = std::is_same<From, written>::value ? 8 : sizeof(S) > 4 ? 16 : 32;
    constexpr unsigned parts = per_lane / V, loads = V > 1 ? 8 : single, together = loads / parts;
    const S *from = tile + threadIdx.x % warp_lanes * V;
    unsigned left = present - min(present, threadIdx.x % warp_lanes * V); /* from this lane on */
    P column[per_lane];
#pragma unroll
    for (unsigned c = 0; c < per_lane; c++)
        column[c] = nothing<P>();
#pragma unroll 1
    for (unsigned top = 0; top < TILE_ROWS && top * TILE_COLUMNS < present; top += together) {
        wide<S, V> loaded[loads];
#pragma unroll
        for (unsigned i = 0; i < loads; i++) {
            unsigned at = top * TILE_COLUMNS + i * warp_lanes * V;
            if (at < left) {
                word bits = From::get((const word *)(from + at));
                memcpy(loaded[i].x, &bits, sizeof bits);
            }
        }
#pragma unroll
        for (unsigned i = 0; i < loads; i++)
            if (top * TILE_COLUMNS + i * warp_lanes * V < left)
#pragma unroll
                for (unsigned k = 0; k < V; k++)
                    column[i % parts * V + k].append(convert<A>(loaded[i].x[k]));
    }
    P v[V];
    fold_parts<0, 1>(v, [&](unsigned j, P(&part)[V]) {
#pragma unroll
        for (unsigned k = 0; k < V; k++)
            part[k] = column[j * V + k];
    });
    return fold_lanes(v);
}

/* V: the elements of a vector of 16 bytes, where all rows consist of such; else 1. full: they
 * consist of full tiles even. */
template <unsigned V, bool full, typename A, typename S>
__global__ __launch_bounds__(threads, full || sizeof(A) == 8
                                          ? 2
                                          : 3) void sum_consecutive(const S *x, level<A> l)
{
    typedef plain_sum<A> P;
    constexpr unsigned warps = threads / warp_lanes;
    size_t all = l.rows * l.tiles;
    for (size_t i = (size_t)blockIdx.x * warps + threadIdx.x / warp_lanes; i < all;
         i += (size_t)gridDim.x * warps) {
        size_t row = i >> 32 ? i / l.tiles : (unsigned)i / l.tiles;
        size_t first = (i - row * l.tiles) * TILE;
        const S *tile = x + row * l.length + first;
        unsigned present = (unsigned)min((size_t)TILE, l.length - first), last = 0;
        P sum;
        if constexpr (full)
            sum = tile_by_warp<P>(tile, elements<A>());
        else
            sum = tile_of_row<stored, V, P>(tile, present);
        if (threadIdx.x % warp_lanes == 0) {
            l.sums[i] = sum.value();
            last = l.finished && is_last(l.finished + row, l.tiles);
        }
        if (!__shfl_sync(whole_warp, last, 0))
            continue;
        sum = tile_of_row<written, 1, P>(l.sums + row * l.tiles, l.tiles);
        if (threadIdx.x % warp_lanes == 0)
            l.out[row] = sum.value();
    }
}

/* V columns side by side of a tile whose elements are `stride` apart, from c on, serially. */
template <bool full, typename From, unsigned V, typename A, typename S>
__device__ inline void strided_column(A (&sum)[V], const S *tile, size_t stride, unsigned present,
                                      unsigned c)
{
    typedef typename wide<S, V>::word word;
    wide<S, V> x[TILE_ROWS];
#pragma unroll
    for (unsigned row = 0; row < TILE_ROWS; row++)
        if (full || row * TILE_COLUMNS + c < present) {
            word bits = From::get((const word *)(tile + (row * TILE_COLUMNS + c) * stride));
            memcpy(x[row].x, &bits, sizeof bits);
        }
#pragma unroll
    for (unsigned k = 0; k < V; k++)
        sum[k] = minus_zero<A>();
#pragma unroll
    for (unsigned row = 0; row < TILE_ROWS; row++)
        if (full || row * TILE_COLUMNS + c < present)
#pragma unroll
            for (unsigned k = 0; k < V; k++)
                sum[k] = add(sum[k], convert<A>(x[row].x[k]));
}

/* Columns c, c + apart, c + 2 apart, ..., folded by halving: the farthest apart meet first. */
template <bool full, unsigned apart, typename From, unsigned V, typename A, typename S>
__device__ inline void strided_fold(A (&sum)[V], const S *tile, size_t stride, unsigned present,
                                    unsigned c)
{
    if constexpr (apart == TILE_COLUMNS) {
        strided_column<full, From>(sum, tile, stride, present, c);
    } else {
        A later[V];
        strided_fold<full, 2 * apart, From>(sum, tile, stride, present, c);
        strided_fold<full, 2 * apart, From>(later, tile, stride, present, c + apart);
#pragma unroll
        for (unsigned k = 0; k < V; k++)
            sum[k] = add(sum[k], later[k]);
    }
}

constexpr unsigned column_groups = 32; /* of 8 columns that are 32 apart */

/* A thread's share of a tile, for a team of `deep`, V rows side by side: groups of columns that are
 * `apart` apart, those that begin with columns depth, depth + deep, ..., in the order in which they
 * are joined: the q-th is that whose number among them has q's bits turned round. waiting[l] is a
 * fold of 2^l groups. Of several rows a thread has loads enough on their way with two columns. */
template <bool full, typename From, unsigned V, typename A, typename S>
__device__ inline void strided_share(A (&sum)[V], const S *tile, size_t stride, unsigned present,
                                     unsigned depth, unsigned deep)
{
    constexpr unsigned apart = V > 1 ? TILE_COLUMNS / 2 : column_groups, levels = V > 1 ? 2 : 5;
    unsigned groups = apart / deep, turned = __clz(groups) + 1;
    A waiting[levels][V];
#pragma unroll 1
    for (unsigned q = 0; q < groups; q++) {
        unsigned at = groups > 1 ? __brev(q) >> turned : 0;
        strided_fold<full, apart, From>(sum, tile, stride, present, depth + deep * at);
        bool joining = true;
#pragma unroll
        for (unsigned l = 0; l < levels; l++) {
            bool joins = joining && (q >> l & 1), waits = joining && !joins;
#pragma unroll
            for (unsigned k = 0; k < V; k++) {
                if (joins)
                    sum[k] = add(waiting[l][k], sum[k]);
                if (waits)
                    waiting[l][k] = sum[k];
            }
            joining = joins;
        }
    }
}

/* The same of sums of tiles, where a team has a thread for each group: all of its columns at once,
 * of as many rows as registers hold. */
template <unsigned V, typename A>
__device__ inline void written_share(A (&sum)[V], const A *sums, size_t stride, unsigned tiles,
                                     unsigned depth)
{
    constexpr unsigned most = sizeof(A) > 4 ? 2 : 4, W = V < most ? V : most;
    constexpr unsigned columns = TILE_COLUMNS / column_groups;
    typedef typename wide<A, W>::word word;
#pragma unroll
    for (unsigned first = 0; first < V; first += W) {
        A column[W][columns];
#pragma unroll
        for (unsigned i = 0; i < W * columns; i++)
            column[i / columns][i % columns] = minus_zero<A>();
#pragma unroll 1
        for (unsigned top = depth; top < tiles; top += TILE_COLUMNS) {
            wide<A, W> x[columns];
#pragma unroll
            for (unsigned j = 0; j < columns; j++)
                if (top + j * column_groups < tiles) {
                    const A *from = sums + (top + j * column_groups) * stride + first;
                    word bits = written::get((const word *)from);
                    memcpy(x[j].x, &bits, sizeof bits);
                }
#pragma unroll
            for (unsigned j = 0; j < columns; j++)
                if (top + j * column_groups < tiles)
#pragma unroll
                    for (unsigned i = 0; i < W; i++)
                        column[i][j] = add(column[i][j], x[j].x[i]);
        }
#pragma unroll
        for (unsigned i = 0; i < W; i++)
            sum[first + i] = halved(column[i]);
    }
}

/* A unit of `teams`: tile `tile` of rows side by side, of which a thread has V. */
template <unsigned V, typename A, typename S>
__global__ __launch_bounds__(threads, V > 1 ? 2 : 1) void sum_strided(teams t, const S *x,
                                                                      level<A> l)
{
    __shared__ __align__(16) unsigned char room[threads * V * sizeof(A)];
    __shared__ bool folds[threads];
    A *shared = (A *)room;
    for (size_t first = (size_t)blockIdx.x * t.each(); first < t.units;
         first += (size_t)gridDim.x * t.each()) {
        team_member at(t, l.stride / V, first);
        size_t line = at.unit / t.groups, batch = line / l.tiles, begin = line % l.tiles * TILE;
        size_t across = at.across * V;
        A sum[V];
#pragma unroll
        for (unsigned k = 0; k < V; k++)
            sum[k] = minus_zero<A>();
        if (at.any) {
            const S *tile = x + (batch * l.length + begin) * l.stride + across;
            unsigned present = (unsigned)min((size_t)TILE, l.length - begin);
            if (present == TILE)
                strided_share<true, stored>(sum, tile, l.stride, TILE, at.depth, t.deep);
            else
                strided_share<false, stored>(sum, tile, l.stride, present, at.depth, t.deep);
        }
        fold_team(t, at.depth, at.any, sum, shared);
        if (at.any && at.depth == 0)
#pragma unroll
            for (unsigned k = 0; k < V; k++)
                l.sums[line * l.stride + across + k] = sum[k];
        if (!l.finished)
            continue;
        __threadfence();
        __syncthreads();
        if (at.any && at.depth == 0 && at.column == 0)
            folds[at.mine] = is_last(l.finished + batch * t.groups + at.unit % t.groups, l.tiles);
        __syncthreads();
        bool last = at.any && folds[at.mine];
        if (!__syncthreads_or(last))
            continue;
#pragma unroll
        for (unsigned k = 0; k < V; k++)
            sum[k] = minus_zero<A>();
        if (last) {
            const A *sums = l.sums + batch * l.tiles * l.stride + across;
            if constexpr (V > 1)
                written_share(sum, sums, l.stride, l.tiles, at.depth);
            else
                strided_share<false, written>(sum, sums, l.stride, l.tiles, at.depth, t.deep);
        }
        fold_team(t, at.depth, at.any, sum, shared);
        if (last && at.depth == 0)
#pragma unroll
            for (unsigned k = 0; k < V; k++)
                l.out[batch * l.stride + across + k] = sum[k];
    }
}

/* 128 bytes side by side, or as many as there are; as many threads for each as a block has, up to
 * one for each group of columns: where a thread has several rows, that many. */
template <unsigned V, typename S> teams teams_of(size_t rows, size_t stride, size_t tiles)
{
    teams t = {};
    t.groups = groups_of(stride / V, V > 1 ? threads / column_groups : sizeof(S) == 2 ? 64 : 32);
    t.across = (unsigned)groups_of(stride / V, t.groups);
    t.deep = 1;
    while (t.deep < column_groups && 2 * t.deep * t.across <= threads)
        t.deep *= 2;
    t.units = rows / stride * t.groups * tiles;
    return t;
}

template <unsigned V, typename A, typename S>
void sum_strided_tiles(const S *x, const level<A> &l, cudaStream_t stream)
{
    teams t = teams_of<V, S>(l.rows, l.stride, l.tiles);
    sum_strided<V><<<grid_for(groups_of(t.units, t.each())), threads, 0, stream>>>(t, x, l);
}

/* One level: the tile sums of all rows, and what becomes of them where there is only one more. */
template <typename A, typename S> void sum_tiles(const S *x, const level<A> &l, cudaStream_t stream)
{
    constexpr unsigned V = sizeof(uint4) / sizeof(S), warps = threads / warp_lanes;
    if (l.stride > 1) {
        constexpr unsigned beside = beside_of<S, A>;
        /* Columns of 1024 doubles, two at once, read at half the speed of memory
         * (reports/recorded/h100-bench/bench-rows-shapes.csv): one by one is faster there. */
        const bool alone = sizeof(S) == sizeof(double) && l.length < TILE;
        if (!alone && are_beside<beside>(x, l.stride) && (uintptr_t)l.sums % sizeof(uint4) == 0)
            sum_strided_tiles<beside>(x, l, stream);
        else
            sum_strided_tiles<1>(x, l, stream);
        return;
    }
    unsigned grid = grid_for(groups_of(l.rows * l.tiles, warps));
    if (l.length % V > 0 || (uintptr_t)x % sizeof(uint4) > 0)
        sum_consecutive<1, false><<<grid, threads, 0, stream>>>(x, l);
    else if (l.length % TILE > 0)
        sum_consecutive<V, false><<<grid, threads, 0, stream>>>(x, l);
    else
        sum_consecutive<V, true><<<grid, threads, 0, stream>>>(x, l);
}

inline size_t counted_bytes(const struct cuda_task *t)
{
    return groups_of(t->of->bins * sizeof(unsigned), 256) * 256;
}

inline size_t workspace(const struct cuda_task *t)
{
    size_t sums = 0, length = matrix_length(t->of->in.n, t->of->bins);
    if (length <= TILE)
        return 0;
    while (length > TILE) {
        length = groups_of(length, TILE);
        sums += t->of->bins * length;
    }
    return counted_bytes(t) + sums * sizeof(double);
}

/* Sums rows whose tiles have sums at `sums`, where there are several; those of further levels
 * follow. */
template <typename A, typename S>
void sum_rows(const S *x, level<A> l, unsigned *finished, cudaStream_t stream)
{
    if (l.length <= TILE_COLUMNS) {
        sum_short_rows(x, l.rows, (unsigned)l.length, l.stride, l.out, stream);
        return;
    }
    l.tiles = (unsigned)groups_of(l.length, TILE);
    l.finished = l.tiles > 1 && l.tiles <= TILE ? finished : NULL;
    if (l.tiles == 1)
        l.sums = l.out;
    sum_tiles(x, l, stream);
    if (l.tiles <= TILE)
        return;
    level<A> next = l;
    next.length = l.tiles;
    next.sums = l.sums + l.rows * l.tiles;
    sum_rows((const A *)l.sums, next, finished, stream);
}

template <typename S, typename A> int run(const struct cuda_task *t)
{
    if (t->of->in.n == 0)
        return enqueue_zeros(t);
    level<A> l = {};
    l.rows = t->of->bins;
    l.length = matrix_length(t->of->in.n, l.rows);
    l.stride = t->of->stride;
    l.sums = (A *)((char *)t->workspace + counted_bytes(t));
    l.out = (A *)t->out;
    sum_rows((const S *)t->of->in.data, l, (unsigned *)t->workspace, (cudaStream_t)t->stream);
    return cudaGetLastError();
}

inline int enqueue(const struct cuda_task *t)
{
    return with_types(t, [t](auto s, auto a) { return run<decltype(s), decltype(a)>(t); });
}

} // namespace rows_tree
