/* Rows of at most one tile row in the order of sum/tiled, on a GPU: their elements are folded by
 * halving, 128, 64, ..., 1 elements apart, and that is all of the order.
 *
 * Everything here is a schedule:
 *
 *   - sum_staged, at most 32 elements that lie near each other: a warp copies consecutive rows to
 *     shared memory, 16 bytes at a time, while it sums those that it copied before, each by a lane.
 *   - sum_side_by_side, at most 32 elements, where neighbours in memory belong to neighbouring
 *     rows: a row by a thread, several of them at a time.
 *   - sum_by_warps, consecutive rows of more: a few rows at a time by a warp.
 *   - sum_by_teams, other rows of more: a row by 2, 4 or 8 threads; or, where 16 bytes at a time
 *     can be read, as many rows as these hold by 8, 16 or 32; sum_many, where there are very many,
 *     by one. */
#pragma once

#include "kernels/blocks/wide.cuh"
#include "kernels/rows/staged.cuh"
#include "kernels/blocks/tiled.h"

namespace rows_tree
{

using namespace rows_staged;

constexpr unsigned threads = 256, short_row = 32;

/* The fold of v by halving: count / 2, ..., 1 apart; `count` is a power of two. (A loop over these
 * would not be unrolled, and v would go to memory.) */
template <unsigned count, unsigned all, typename A> __device__ inline void halve(A (&v)[all])
{
    if constexpr (count > 1) {
#pragma unroll
        for (unsigned k = 0; k < count / 2; k++)
            v[k] = add(v[k], v[k + count / 2]);
        halve<count / 2>(v);
    }
}
template <unsigned count, typename A> __device__ inline A halved(A (&v)[count])
{
    halve<count>(v);
    return v[0];
}

/* Rows of most / 2 + 1 .. most elements. */
template <unsigned most, typename A, typename S>
__global__ void sum_staged(staging p, const S *x, A *out)
{
    each_staged(p, x, [&](const S *row, unsigned m, size_t r) {
        A v[most];
#pragma unroll
        for (unsigned k = 0; k < most; k++)
            v[k] = k < most / 2 || k < p.length ? convert<A>(row[(k ^ m) * p.stride])
                                                : minus_zero<A>();
        out[r] = halved(v);
    });
}

/* As many rows as keep loads on their way, `threads` apart. */
template <unsigned most, typename A, typename S>
__global__ __launch_bounds__(threads) void sum_side_by_side(const S *x, size_t rows,
                                                            unsigned length, size_t stride, A *out)
{
    constexpr unsigned each = most < 32 ? 32 / most : 1, together = each < 8 ? each : 8;
    for (size_t first = (size_t)blockIdx.x * threads * together + threadIdx.x; first < rows;
         first += (size_t)gridDim.x * threads * together) {
        S loaded[together][most];
#pragma unroll
        for (unsigned i = 0; i < together; i++) {
            size_t r = first + i * threads;
            const S *row = x + (stride == rows ? r : matrix_at(r, 0, length, stride));
#pragma unroll
            for (unsigned k = 0; k < most; k++)
                if (r < rows && (k < most / 2 || k < length))
                    loaded[i][k] = __ldcs(row + k * stride);
        }
#pragma unroll
        for (unsigned i = 0; i < together; i++) {
            A v[most];
#pragma unroll
            for (unsigned k = 0; k < most; k++)
                v[k] = k < most / 2 || k < length ? convert<A>(loaded[i][k]) : minus_zero<A>();
            if (first + i * threads < rows)
                out[first + i * threads] = halved(v);
        }
    }
}

/* Lanes apart, apart / 2, ..., 1 fold; of `count` rows each pair of lanes shares the work, until a
 * lane has one of them: that of the highest bits of its number. */
template <unsigned count, unsigned apart, unsigned all, unsigned V, typename A>
__device__ inline void fold_rows(A (&v)[all][V])
{
    if constexpr (apart > 0) {
        constexpr unsigned half = count / 2;
        bool upper = threadIdx.x & apart;
#pragma unroll
        for (unsigned k = 0; k < V; k++)
            if constexpr (count == 1) {
                v[0][k] = add(v[0][k], __shfl_xor_sync(whole_warp, v[0][k], apart));
            } else {
#pragma unroll
                for (unsigned r = 0; r < half; r++) {
                    A sent = upper ? v[r][k] : v[r + half][k];
                    A kept = upper ? v[r + half][k] : v[r][k];
                    v[r][k] = add(kept, __shfl_xor_sync(whole_warp, sent, apart));
                }
            }
        fold_rows<(count > 1 ? half : 1), apart / 2>(v);
    }
}

/* Rows of more than `lanes` `parts` V / 2 elements, or of any fewer, by `lanes` lanes each, V
 * elements of a lane at a time: their length is a multiple of V, and x is aligned so. A lane has
 * loads for `together` rows on their way. */
template <unsigned V, unsigned parts, unsigned lanes, unsigned together, typename A, typename S>
__global__ __launch_bounds__(threads) void sum_by_warps(const S *x, size_t rows, unsigned length,
                                                        A *out)
{
    constexpr unsigned beside = warp_lanes / lanes, each = lanes / together; /* lanes of a sum */
    static_assert(lanes >= together, "");
    unsigned lane = threadIdx.x % lanes, place = threadIdx.x % warp_lanes / lanes;
    size_t warp = ((size_t)blockIdx.x * threads + threadIdx.x) / warp_lanes;
    for (size_t first = warp * together * beside; first < rows;
         first += (size_t)gridDim.x * (threads / warp_lanes) * together * beside) {
        wide<S, V> loaded[together][parts];
        const S *from = x + (first + place) * length + lane * V;
        unsigned left = (unsigned)min((size_t)(together * beside), rows - first);
        unsigned present = left - min(left, place); /* from this lane's first row on */
#pragma unroll
        for (unsigned r = 0; r < together; r++)
#pragma unroll
            for (unsigned j = 0; j < parts; j++)
                if (r * beside < present && (j * lanes + lane) * V < length)
                    loaded[r][j].from(from + r * beside * length + j * lanes * V);
        A v[together][V];
#pragma unroll
        for (unsigned r = 0; r < together; r++)
#pragma unroll
            for (unsigned k = 0; k < V; k++) {
                A column[parts];
#pragma unroll
                for (unsigned j = 0; j < parts; j++)
                    column[j] = r * beside < present && (j * lanes + lane) * V < length
                                    ? convert<A>(loaded[r][j].x[k])
                                    : minus_zero<A>();
                v[r][k] = halved(column);
            }
        fold_rows<together, lanes / 2>(v);
        A sum = halved(v[0]);
        if (lane % each == 0 && lane / each * beside < present)
            out[first + place + lane / each * beside] = sum;
    }
}

__host__ __device__ constexpr unsigned log2_of(unsigned n)
{
    return n > 1 ? 1 + log2_of(n / 2) : 0;
}

/* `groups` folds, a power of two up to 2^levels, of V rows each, that the tree joins by halving:
 * get(fold, g) gets the g-th. They are got in the order in which they are joined: the q-th is that
 * whose number has q's bits turned round. waiting[l] is the sum of 2^l of them. */
template <unsigned levels, unsigned V, typename A, typename Get>
__device__ inline void join_folds(A (&sum)[V], unsigned groups, const Get &get)
{
    constexpr unsigned places = levels > 0 ? levels : 1; /* C++ has no arrays of none */
    A waiting[places][V];
    unsigned turned = __clz(groups) + 1;
#pragma unroll 1
    for (unsigned q = 0; q < groups; q++) {
        get(sum, groups > 1 ? __brev(q) >> turned : 0);
        bool joining = true;
#pragma unroll
        for (unsigned l = 0; l < places; l++) {
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

/* Rows side by side of 33 to `most` elements, where there are very many: V of them by a thread. */
template <unsigned most, unsigned V, typename A, typename S>
__global__ __launch_bounds__(threads, V > 4 || V * sizeof(A) > sizeof(uint4) ? 2 : 3) void sum_many(
    const S *x, size_t rows, unsigned length, size_t stride, A *out)
{
    constexpr unsigned ahead = 8, groups = most / ahead;
    for (size_t first = (size_t)blockIdx.x * threads + threadIdx.x; first < rows / V;
         first += (size_t)gridDim.x * threads) {
        size_t row = first * V;
        const S *from = x + (stride == rows ? row : matrix_at(row, 0, length, stride));
        A sum[V];
        join_folds<log2_of(groups)>(sum, groups, [&](A(&fold)[V], unsigned g) {
            wide<S, V> loaded[ahead];
#pragma unroll
            for (unsigned i = 0; i < ahead; i++)
                if (g + i * groups < length)
                    loaded[i].from(from + (g + i * groups) * stride);
#pragma unroll
            for (unsigned k = 0; k < V; k++) {
                A v[ahead];
#pragma unroll
                for (unsigned i = 0; i < ahead; i++)
                    v[i] = g + i * groups < length ? convert<A>(loaded[i].x[k]) : minus_zero<A>();
                fold[k] = halved(v);
            }
        });
#pragma unroll
        for (unsigned k = 0; k < V; k++)
            out[row + k] = sum[k];
    }
}

/* How the threads of a block are shared out where a row is summed by a team: units of `across` rows
 * side by side, whose threads that are side by side read side by side. */
struct teams {
    unsigned across, deep; /* rows of a unit; threads of a row, a power of two */
    size_t groups;         /* units side by side, which make a batch */
    size_t units;

    __host__ __device__ unsigned each() const { return threads / (across * deep); } /* a block */
};

/* A thread's place; `count` is a type that counts units. */
template <typename count> struct team_member {
    unsigned mine, column, depth; /* its block's unit, its row of the unit, which of the team */
    count unit, across;
    bool any;

    __device__ team_member(const teams &t, size_t stride, count first)
    {
        unsigned size = t.across * t.deep;
        mine = threadIdx.x / size;
        depth = threadIdx.x % size / t.across;
        column = threadIdx.x % size % t.across;
        unit = first + mine;
        across = unit % (count)t.groups * t.across + column;
        any = mine < t.each() && unit < t.units && across < stride;
    }
};

/* The sums of a team, each of V rows, folded by halving, 8 of them at a time; its first thread gets
 * the rows'. By a block; `shared` may be used again. */
template <unsigned V, typename A>
__device__ inline void fold_team(const teams &t, unsigned depth, bool any, A (&sum)[V], A *shared)
{
    constexpr unsigned most = 8;
    for (unsigned left = t.deep, keep; left > 1; left = keep) {
        keep = left > most ? left / most : 1;
        /* Places that are written again in the next turn are read by their own threads alone. */
        if (any && depth < left)
#pragma unroll
            for (unsigned k = 0; k < V; k++)
                shared[k * threads + threadIdx.x] = sum[k];
        __syncthreads();
        if (any && depth < keep)
#pragma unroll
            for (unsigned k = 0; k < V; k++) {
                A v[most];
#pragma unroll
                for (unsigned i = 0; i < most; i++)
                    v[i] = i * keep < left ? shared[k * threads + threadIdx.x + i * keep * t.across]
                                           : minus_zero<A>();
                sum[k] = halved(v);
            }
    }
    __syncthreads();
}

/* Rows side by side that a thread reads at a time: 16 bytes, but not more than 32 of sums. */
template <typename S, typename A>
constexpr unsigned beside_of = sizeof(A) > 2 * sizeof(S) ? 2 * sizeof(uint4) / sizeof(A)
                                                         : sizeof(uint4) / sizeof(S);
template <unsigned V, typename S> bool are_beside(const S *x, size_t stride)
{
    return stride % V == 0 && (uintptr_t)x % (V * sizeof(S)) == 0;
}

/* Elements of a row for a thread, at most. */
template <unsigned V> constexpr unsigned each_of = V > 1 ? 8 : short_row;

/* Rows of each_of<V> deep / 2 + 1 .. each_of<V> deep elements, V of them by a team. */
template <unsigned V, typename A, typename S>
__global__ __launch_bounds__(threads, V > 1 ? 3 : 1) void sum_by_teams(teams t, const S *x,
                                                                       unsigned length,
                                                                       size_t stride, A *out)
{
    __shared__ __align__(16) unsigned char room[threads * V * sizeof(A)];
    constexpr unsigned each = each_of<V>;
    for (size_t first = (size_t)blockIdx.x * t.each(); first < t.units;
         first += (size_t)gridDim.x * t.each()) {
        team_member<size_t> at(t, stride / V, first);
        size_t row = at.unit / t.groups * stride + at.across * V;
        const S *from = x + (at.any ? matrix_at(row, at.depth, length, stride) : 0);
        wide<S, V> loaded[each];
#pragma unroll
        for (unsigned i = 0; i < each; i++)
            if (at.any && at.depth + i * t.deep < length)
                loaded[i].from(from + i * t.deep * stride);
        A sum[V];
#pragma unroll
        for (unsigned k = 0; k < V; k++) {
            A v[each];
#pragma unroll
            for (unsigned i = 0; i < each; i++)
                v[i] = at.any && at.depth + i * t.deep < length ? convert<A>(loaded[i].x[k])
                                                                : minus_zero<A>();
            sum[k] = halved(v);
        }
        fold_team(t, at.depth, at.any, sum, (A *)room);
        if (at.any && at.depth == 0)
#pragma unroll
            for (unsigned k = 0; k < V; k++)
                out[row + k] = sum[k];
    }
}

template <unsigned V, typename S, typename A>
void sum_team_rows(const S *x, size_t rows, unsigned length, size_t stride, A *out,
                   cudaStream_t stream)
{
    teams t = {};
    t.deep = 2;
    while (t.deep * each_of<V> < length)
        t.deep *= 2;
    t.groups = groups_of(stride / V, threads / t.deep);
    t.across = (unsigned)groups_of(stride / V, t.groups);
    t.units = rows / stride * t.groups;
    sum_by_teams<V>
        <<<grid_for(groups_of(t.units, t.each())), threads, 0, stream>>>(t, x, length, stride, out);
}

/* Calls `use` with the least power of two, as a constant, that is n or more: 2 .. 32. */
template <typename Use> void with_most(size_t n, Use use)
{
    if (n <= 2)
        use(std::integral_constant<unsigned, 2>());
    else if (n <= 4)
        use(std::integral_constant<unsigned, 4>());
    else if (n <= 8)
        use(std::integral_constant<unsigned, 8>());
    else if (n <= 16)
        use(std::integral_constant<unsigned, 16>());
    else
        use(std::integral_constant<unsigned, 32>());
}

/* So many threads keep a device busy. */
constexpr size_t many_threads = (size_t)1 << 17;

template <unsigned V, typename S, typename A>
void sum_many_rows(const S *x, size_t rows, unsigned length, size_t stride, A *out,
                   cudaStream_t stream)
{
    unsigned grid = grid_for(groups_of(rows / V, threads));
    if (length <= 64)
        sum_many<64, V><<<grid, threads, 0, stream>>>(x, rows, length, stride, out);
    else if (length <= 128)
        sum_many<128, V><<<grid, threads, 0, stream>>>(x, rows, length, stride, out);
    else
        sum_many<256, V><<<grid, threads, 0, stream>>>(x, rows, length, stride, out);
}

template <typename S, typename A>
void sum_staged_rows(const S *x, size_t rows, unsigned length, unsigned stride, A *out,
                     cudaStream_t stream)
{
    staging p = staging_of<S>(rows, length, stride);
    with_most(length, [=](auto most) {
        (void)prefer_shared(sum_staged<decltype(most)::value, A, S>); /* cudaGetLastError tells */
        sum_staged<decltype(most)::value, A, S>
            <<<p.grid, p.warps * warp_lanes, p.bytes(), stream>>>(p, x, out);
    });
}

template <unsigned V, unsigned parts, unsigned lanes = warp_lanes, typename S, typename A>
void sum_warp_rows(const S *x, size_t rows, unsigned length, A *out, cudaStream_t stream)
{
    constexpr unsigned together = (V == 1 ? 32 : V * sizeof(S) < sizeof(uint4) ? 16 : 4) / parts;
    constexpr unsigned rows_each = together * (threads / lanes); /* of a block */
    sum_by_warps<V, parts, lanes, together>
        <<<grid_for(groups_of(rows, rows_each)), threads, 0, stream>>>(x, rows, length, out);
}

/* Consecutive rows of 32 .. 256 elements. */
template <typename S, typename A>
void sum_consecutive_rows(const S *x, size_t rows, unsigned length, A *out, cudaStream_t stream)
{
    auto aligned = [&](unsigned V) {
        return length % V == 0 && (uintptr_t)x % (V * sizeof(S)) == 0;
    };
    constexpr unsigned V = sizeof(uint4) / sizeof(S);
    if (aligned(V)) {
        if (length <= 4 * V)
            sum_warp_rows<V, 1, 4>(x, rows, length, out, stream);
        else if (length <= 8 * V)
            sum_warp_rows<V, 1, 8>(x, rows, length, out, stream);
        else if (length <= 16 * V)
            sum_warp_rows<V, 1, 16>(x, rows, length, out, stream);
        else if (V == 8 || length <= 32 * V)
            sum_warp_rows<V, 1>(x, rows, length, out, stream);
        else if (V == 4 || length <= 64 * V)
            sum_warp_rows<V, V == 8 ? 1 : 2>(x, rows, length, out, stream);
        else
            sum_warp_rows<V, 8 / V>(x, rows, length, out, stream);
        return;
    }
    if (aligned(2)) {
        if (length <= 2 * warp_lanes)
            sum_warp_rows<2, 1>(x, rows, length, out, stream);
        else if (length <= 4 * warp_lanes)
            sum_warp_rows<2, 2>(x, rows, length, out, stream);
        else
            sum_warp_rows<2, 4>(x, rows, length, out, stream);
    } else if (length <= 2 * warp_lanes) {
        sum_warp_rows<1, 2>(x, rows, length, out, stream);
    } else {
        sum_warp_rows<1, 8>(x, rows, length, out, stream);
    }
}

/* Rows of 1 .. 256 elements. */
template <typename S, typename A>
void sum_short_rows(const S *x, size_t rows, unsigned length, size_t stride, A *out,
                    cudaStream_t stream)
{
    if (length <= short_row && stride < rows_staged::near && (stride > 1 || length < short_row)) {
        sum_staged_rows(x, rows, length, (unsigned)stride, out, stream);
    } else if (stride == 1) {
        sum_consecutive_rows(x, rows, length, out, stream);
    } else if (length <= short_row) {
        with_most(length, [=](auto most) {
            constexpr unsigned of = decltype(most)::value, each = of < 4 ? 8 : 32 / of;
            sum_side_by_side<of><<<grid_for(groups_of(rows, threads * each)), threads, 0, stream>>>(
                x, rows, length, stride, out);
        });
    } else {
        constexpr unsigned beside = beside_of<S, A>;
        if (are_beside<beside>(x, stride) && rows / beside >= many_threads)
            sum_many_rows<beside>(x, rows, length, stride, out, stream);
        else if (are_beside<beside>(x, stride))
            sum_team_rows<beside>(x, rows, length, stride, out, stream);
        else
            sum_team_rows<1>(x, rows, length, stride, out, stream);
    }
}

} // namespace rows_tree
