/* Rows in the order of sum/tiled (its words stand in kernels/sum/tiled.c) on a GPU.
 *
 * Everything here is a schedule. Rows of at most one tile row: short.cuh. Of longer ones the sums
 * of their tiles are left where they are waited for (kernels/blocks/mailbox.cuh): who adds the last
 * tile of a row folds its sums, so that rows of up to 2048 tiles take one launch. Those of longer
 * rows are again a matrix of as many rows, in the same layout, with one element per tile: one
 * launch more for each further level.
 *
 *   - sum_consecutive, stride 1: a tile by a warp, as sum/tiled sums it.
 *   - sum_strided: a tile by a team of threads. Neighbours in memory belong to neighbouring rows,
 *     so that the reads of a warp are coalesced, and a thread has as many rows as it reads 16 bytes
 *     of, where that is possible. It has every `deep`-th column of its tile; it takes them in the
 *     order in which the tree joins them, and so keeps a few sums instead of all. */
#pragma once

#include "kernels/blocks/mailbox.cuh"
#include "kernels/blocks/tile.cuh"
#include "kernels/rows/short.cuh"

namespace rows_tree
{

/* A level of the tree: its rows, and where the sums of their tiles go. */
template <typename A> struct level {
    size_t rows, length, stride;
    unsigned tiles; /* of a row */
    A *sums;        /* of the tiles, for a launch of its own: where a row has more than 2048; */
    place<plain_sum<A>> *pieces; /* or for who sums the last of 2 to 2048, empty before and after */
    A *out;                      /* the rows' sums, where either is so, or of a row's only tile */
};

/* A tile of `present` elements by a warp, of which lane 0 gets the sum: V of a lane at a time;
 * `present` is a multiple of V, and the tile aligned so. */
template <unsigned V, typename P, typename S>
__device__ inline P tile_of_row(const S *tile, unsigned present)
{
    typedef typename P::word A;
    constexpr unsigned single = sizeof(S) > 4 ? 16 : 32;
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
            if (at < left)
                loaded[i].from(from + at);
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

/* The sum of `tiles` pieces, at most 2048, as soon as they are there: a tile by a warp, of which
 * lane 0 gets it. */
template <typename P> __device__ inline P taken_row(place<P> *pieces, unsigned tiles)
{
    unsigned lane = threadIdx.x % warp_lanes;
    P column[per_lane];
#pragma unroll
    for (unsigned c = 0; c < per_lane; c++)
        column[c] = nothing<P>();
#pragma unroll 1
    for (unsigned top = lane; top < tiles; top += TILE_COLUMNS) {
        unsigned present = (tiles - top - 1) / warp_lanes + 1;
        P piece[per_lane];
        take(pieces + top, warp_lanes, present, piece);
#pragma unroll
        for (unsigned j = 0; j < per_lane; j++)
            if (j < present)
                column[j].join(piece[j]);
    }
    __syncwarp();
    P v[1];
    fold_parts<0, 1>(v, [&](unsigned j, P(&part)[1]) { part[0] = column[j]; });
    return fold_lanes(v);
}

/* The first tiles of all rows, then the second ones: so who sums a row's last one seldom has to
 * wait for others. V: the elements of a vector of 16 bytes, where all rows consist of such; else 1.
 * full: they consist of full tiles even. */
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
        unsigned which = (unsigned)(i >> 32 ? i / l.rows : (unsigned)i / (unsigned)l.rows);
        size_t row = i - which * l.rows, first = (size_t)which * TILE;
        const S *tile = x + row * l.length + first;
        P sum;
        if constexpr (full)
            sum = tile_by_warp<P>(tile, elements<A>());
        else
            sum = tile_of_row<V, P>(tile, (unsigned)min((size_t)TILE, l.length - first));
        bool first_lane = threadIdx.x % warp_lanes == 0;
        if (!l.pieces) {
            if (first_lane)
                l.sums[row * l.tiles + which] = sum.value();
            continue;
        }
        if (first_lane)
            leave(l.pieces + row * l.tiles + which, sum);
        if (which + 1 < l.tiles)
            continue;
        sum = taken_row<P>(l.pieces + row * l.tiles, l.tiles);
        if (first_lane)
            l.out[row] = sum.value();
    }
}

constexpr unsigned column_groups = 32; /* of 8 columns that are 32 apart */

/* V columns side by side of a tile of at most R tile rows, whose elements are `stride` apart, from
 * c on, serially. full: it has all of R. */
template <unsigned R, bool full, unsigned V, typename A, typename S>
__device__ inline void strided_column(A (&sum)[V], const S *tile, size_t stride, unsigned present,
                                      unsigned c)
{
    wide<S, V> x[R];
#pragma unroll
    for (unsigned row = 0; row < R; row++)
        if (full || row * TILE_COLUMNS + c < present)
            x[row].from(tile + (row * TILE_COLUMNS + c) * stride);
#pragma unroll
    for (unsigned k = 0; k < V; k++)
        sum[k] = minus_zero<A>();
#pragma unroll
    for (unsigned row = 0; row < R; row++)
        if (full || row * TILE_COLUMNS + c < present)
#pragma unroll
            for (unsigned k = 0; k < V; k++)
                sum[k] = add(sum[k], convert<A>(x[row].x[k]));
}

/* Columns c, c + apart, c + 2 apart, ..., folded by halving: the farthest apart meet first. */
template <unsigned R, bool full, unsigned apart, unsigned V, typename A, typename S>
__device__ inline void strided_fold(A (&sum)[V], const S *tile, size_t stride, unsigned present,
                                    unsigned c)
{
    if constexpr (apart == TILE_COLUMNS) {
        strided_column<R, full>(sum, tile, stride, present, c);
    } else {
        A later[V];
        strided_fold<R, full, 2 * apart>(sum, tile, stride, present, c);
        strided_fold<R, full, 2 * apart>(later, tile, stride, present, c + apart);
#pragma unroll
        for (unsigned k = 0; k < V; k++)
            sum[k] = add(sum[k], later[k]);
    }
}

/* A thread's share of a tile of at most R tile rows, for a team of `deep`, V rows side by side:
 * columns depth, depth + deep, ... Of several rows it has 16 loads on their way, of one 64. */
template <unsigned R, bool full, unsigned V, typename A, typename S>
__device__ inline void strided_share(A (&sum)[V], const S *tile, size_t stride, unsigned present,
                                     unsigned depth, unsigned deep)
{
    constexpr unsigned apart = V > 1 ? TILE_COLUMNS * R / 16 : column_groups;
    constexpr unsigned levels = log2_of(V > 1 ? apart / column_groups : apart);
    join_folds<levels>(sum, apart / deep, [&](A(&fold)[V], unsigned g) {
        strided_fold<R, full, apart>(fold, tile, stride, present, depth + deep * g);
    });
}

/* The pieces of tiles c, c + 64, c + 128 and c + 192 of W rows side by side, as far as there are so
 * many, as soon as they are there. */
constexpr unsigned taken_columns = 4, taken_apart = TILE_COLUMNS / taken_columns;

template <unsigned W, typename A>
__device__ inline void take_tiles(wide<A, W> (&x)[taken_columns], place<plain_sum<A>> *pieces,
                                  size_t stride, unsigned tiles)
{
    typedef typename wide<A, W>::word word;
    wide<place<plain_sum<A>>, W> code[taken_columns];
    bool all;
    do {
        all = true;
#pragma unroll
        for (unsigned j = 0; j < taken_columns; j++)
            if (j * taken_apart < tiles) {
                word bits = peek((const word *)(pieces + j * taken_apart * stride));
                memcpy(code[j].x, &bits, sizeof bits);
#pragma unroll
                for (unsigned i = 0; i < W; i++)
                    all = all && code[j].x[i];
            }
    } while (!all);
#pragma unroll
    for (unsigned j = 0; j < taken_columns; j++)
        if (j * taken_apart < tiles) {
            word empty = {};
            *(word *)(pieces + j * taken_apart * stride) = empty;
#pragma unroll
            for (unsigned i = 0; i < W; i++)
                x[j].x[i] = coded<A>(code[j].x[i]);
        }
}

/* The sums of tiles of V rows side by side, added up as the elements of a tile are: the share of a
 * thread of a team of `deep`. */
template <unsigned V, typename A>
__device__ inline void taken_share(A (&sum)[V], place<plain_sum<A>> *pieces, size_t stride,
                                   unsigned tiles, unsigned depth, unsigned deep)
{
    constexpr unsigned most = sizeof(uint4) / sizeof(A) / (sizeof(A) < 4 ? 2 : 1);
    constexpr unsigned W = V < most ? V : most;
    auto take_group = [&](A(&fold)[V], unsigned c) {
#pragma unroll
        for (unsigned first = 0; first < V; first += W) {
            A column[W][taken_columns];
#pragma unroll
            for (unsigned i = 0; i < W * taken_columns; i++)
                column[i / taken_columns][i % taken_columns] = minus_zero<A>();
#pragma unroll 1
            for (unsigned top = c; top < tiles; top += TILE_COLUMNS) {
                wide<A, W> x[taken_columns];
                take_tiles(x, pieces + top * stride + first, stride, tiles - top);
#pragma unroll
                for (unsigned j = 0; j < taken_columns; j++)
                    if (top + j * taken_apart < tiles)
#pragma unroll
                        for (unsigned i = 0; i < W; i++)
                            column[i][j] = add(column[i][j], x[j].x[i]);
            }
#pragma unroll
            for (unsigned i = 0; i < W; i++)
                fold[first + i] = halved(column[i]);
        }
    };
    join_folds<log2_of(V > 1 ? taken_apart / column_groups : taken_apart)>(
        sum, taken_apart / deep,
        [&](A(&fold)[V], unsigned g) { take_group(fold, depth + deep * g); });
}

/* A unit of `teams`: tile `which` of rows side by side, of which a thread has V. Tiles have at most
 * R tile rows. There are fewer than 2^32 units: each has more than 256 elements. */
template <unsigned V, unsigned R, typename A, typename S>
__global__ __launch_bounds__(threads, V > 1 ? 2 : 1) void sum_strided(teams t, const S *x,
                                                                      level<A> l)
{
    __shared__ __align__(16) unsigned char room[threads * V * sizeof(A)];
    A *shared = (A *)room;
    team_member<unsigned> at(t, l.stride / V, blockIdx.x * t.each());
    unsigned line = at.unit / (unsigned)t.groups, batch = line / l.tiles;
    unsigned which = line - batch * l.tiles, across = at.across * V;
    A sum[V];
#pragma unroll
    for (unsigned k = 0; k < V; k++)
        sum[k] = minus_zero<A>();
    if (at.any) {
        size_t begin = (size_t)which * TILE;
        const S *tile = x + (batch * l.length + begin) * l.stride + across;
        unsigned present = (unsigned)min((size_t)TILE, l.length - begin);
        if (present == R * TILE_COLUMNS)
            strided_share<R, true>(sum, tile, l.stride, present, at.depth, t.deep);
        else
            strided_share<R, false>(sum, tile, l.stride, present, at.depth, t.deep);
    }
    fold_team(t, at.depth, at.any, sum, shared);
    bool first = at.any && at.depth == 0;
    if (!l.pieces) {
        if (first)
#pragma unroll
            for (unsigned k = 0; k < V; k++)
                l.sums[line * l.stride + across + k] = sum[k];
        return;
    }
    place<plain_sum<A>> *pieces = l.pieces + (size_t)batch * l.tiles * l.stride + across;
    if (first)
#pragma unroll
        for (unsigned k = 0; k < V; k++)
            leave(pieces + which * l.stride + k, leaf<plain_sum<A>>(sum[k]));
    bool last = at.any && which + 1 == l.tiles;
    if (!__syncthreads_or(last))
        return;
#pragma unroll
    for (unsigned k = 0; k < V; k++)
        sum[k] = minus_zero<A>();
    if (last)
        taken_share(sum, pieces, l.stride, l.tiles, at.depth, t.deep);
    fold_team(t, at.depth, at.any, sum, shared);
    if (last && first)
#pragma unroll
        for (unsigned k = 0; k < V; k++)
            l.out[batch * l.stride + across + k] = sum[k];
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

template <unsigned V, unsigned R, typename A, typename S>
void sum_strided_tiles(const S *x, const level<A> &l, cudaStream_t stream)
{
    teams t = teams_of<V, S>(l.rows, l.stride, l.tiles);
    sum_strided<V, R><<<grid_for(groups_of(t.units, t.each())), threads, 0, stream>>>(t, x, l);
}

/* One level: the tile sums of all rows, and what becomes of them where there is only one more. */
template <typename A, typename S> void sum_tiles(const S *x, const level<A> &l, cudaStream_t stream)
{
    constexpr unsigned V = sizeof(uint4) / sizeof(S), warps = threads / warp_lanes;
    if (l.stride > 1) {
        constexpr unsigned beside = beside_of<S, A>;
        if (!are_beside<beside>(x, l.stride) || (uintptr_t)l.pieces % sizeof(uint4) > 0)
            sum_strided_tiles<1, TILE_ROWS>(x, l, stream);
        else if (l.length <= 2 * TILE_COLUMNS)
            sum_strided_tiles<beside, 2>(x, l, stream);
        else if (l.length <= 4 * TILE_COLUMNS)
            sum_strided_tiles<beside, 4>(x, l, stream);
        else
            sum_strided_tiles<beside, TILE_ROWS>(x, l, stream);
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

/* Zeros before and after each launch, but for the sums of tiles that have a launch of their own. */
inline size_t workspace(const struct cuda_task *t)
{
    size_t sums = 0, length = matrix_length(t->of->in.n, t->of->bins);
    if (length <= TILE)
        return 0;
    while (length > TILE) {
        length = groups_of(length, TILE);
        sums += t->of->bins * length;
    }
    return sums * sizeof(double);
}

/* Sums rows whose tiles have sums at `sums`, where there are several; those of further levels
 * follow. */
template <typename A, typename S>
void sum_rows(const S *x, level<A> l, A *sums, cudaStream_t stream)
{
    if (l.length <= TILE_COLUMNS) {
        sum_short_rows(x, l.rows, (unsigned)l.length, l.stride, l.out, stream);
        return;
    }
    l.tiles = (unsigned)groups_of(l.length, TILE);
    bool several = l.tiles > 1, once = several && l.tiles <= TILE;
    l.sums = several ? sums : l.out;
    l.pieces = once ? (place<plain_sum<A>> *)sums : NULL;
    sum_tiles(x, l, stream);
    if (!several || once)
        return;
    level<A> next = l;
    next.length = l.tiles;
    sum_rows((const A *)sums, next, sums + l.rows * l.tiles, stream);
}

template <typename S, typename A> int run(const struct cuda_task *t)
{
    if (t->of->in.n == 0)
        return enqueue_zeros(t);
    level<A> l = {};
    l.rows = t->of->bins;
    l.length = matrix_length(t->of->in.n, l.rows);
    l.stride = t->of->stride;
    l.out = (A *)t->out;
    sum_rows((const S *)t->of->in.data, l, (A *)t->workspace, (cudaStream_t)t->stream);
    return cudaGetLastError();
}

inline int enqueue(const struct cuda_task *t)
{
    return with_types(t, [t](auto s, auto a) { return run<decltype(s), decltype(a)>(t); });
}

} // namespace rows_tree
