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
 *     can be read, as many rows as these hold by 8, 16 or 32. */
#pragma once

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

/* V elements, read once and not again. */
template <typename S, unsigned V> struct wide {
    typedef std::conditional_t<
        V * sizeof(S) == 2, unsigned short,
        std::conditional_t<V * sizeof(S) == 4, unsigned,
                           std::conditional_t<V * sizeof(S) == 8, uint2, uint4>>>
        word;
    static_assert(sizeof(word) == V * sizeof(S), "");
    S x[V];
    __device__ void from(const S *address)
    {
        word bits = __ldcs((const word *)address);
        memcpy(x, &bits, sizeof bits);
    }
};

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

/* Rows of more than 32 `parts` V / 2 elements, or of any fewer, V of a lane at a time: their length
 * is a multiple of V, and x is aligned so. */
template <unsigned V, unsigned parts, typename A, typename S>
__global__ __launch_bounds__(threads) void sum_by_warps(const S *x, size_t rows, unsigned length,
                                                        A *out)
{
    constexpr unsigned together = (V == 1 ? 32 : 16) / parts, lanes = warp_lanes / together;
    unsigned lane = threadIdx.x % warp_lanes;
    size_t warp = ((size_t)blockIdx.x * threads + threadIdx.x) / warp_lanes;
    for (size_t first = warp * together; first < rows;
         first += (size_t)gridDim.x * (threads / warp_lanes) * together) {
        wide<S, V> loaded[together][parts];
        const S *from = x + first * length + lane * V;
        unsigned present = (unsigned)min((size_t)together, rows - first);
#pragma unroll
        for (unsigned r = 0; r < together; r++)
#pragma unroll
            for (unsigned j = 0; j < parts; j++)
                if (r < present && (j * warp_lanes + lane) * V < length)
                    loaded[r][j].from(from + r * length + j * warp_lanes * V);
        A v[together][V];
#pragma unroll
        for (unsigned r = 0; r < together; r++)
#pragma unroll
            for (unsigned k = 0; k < V; k++) {
                A column[parts];
#pragma unroll
                for (unsigned j = 0; j < parts; j++)
                    column[j] = r < present && (j * warp_lanes + lane) * V < length
                                    ? convert<A>(loaded[r][j].x[k])
                                    : minus_zero<A>();
                v[r][k] = halved(column);
            }
        fold_rows<together, warp_lanes / 2>(v);
        A sum = halved(v[0]);
        if (lane % lanes == 0 && lane / lanes < present)
            out[first + lane / lanes] = sum;
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

/* A thread's place. */
struct team_member {
    unsigned mine, column, depth; /* its block's unit, its row of the unit, which of the team */
    size_t unit, across;
    bool any;

    __device__ team_member(const teams &t, size_t stride, size_t first)
    {
        unsigned size = t.across * t.deep;
        mine = threadIdx.x / size;
        depth = threadIdx.x % size / t.across;
        column = threadIdx.x % size % t.across;
        unit = first + mine;
        across = unit % t.groups * t.across + column;
        any = mine < t.each() && unit < t.units && across < stride;
    }
};

/* The sums of a team, each of V rows, folded by halving; its first thread gets the rows'. By a
 * block; `shared` may be used again. */
template <unsigned V, typename A>
__device__ inline void fold_team(const teams &t, unsigned depth, bool any, A (&sum)[V], A *shared)
{
    for (unsigned apart = t.deep / 2; apart > 0; apart /= 2) {
        if (any && depth >= apart && depth < 2 * apart)
#pragma unroll
            for (unsigned k = 0; k < V; k++)
                shared[k * threads + threadIdx.x] = sum[k];
        __syncthreads();
        if (any && depth < apart)
#pragma unroll
            for (unsigned k = 0; k < V; k++)
                sum[k] = add(sum[k], shared[k * threads + threadIdx.x + apart * t.across]);
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
        team_member at(t, stride / V, first);
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

template <unsigned V, unsigned parts, typename S, typename A>
void sum_warp_rows(const S *x, size_t rows, unsigned length, A *out, cudaStream_t stream)
{
    constexpr unsigned together = (V == 1 ? 32 : 16) / parts * (threads / warp_lanes);
    sum_by_warps<V, parts>
        <<<grid_for(groups_of(rows, together)), threads, 0, stream>>>(x, rows, length, out);
}

/* Rows of 1 .. 256 elements. */
template <typename S, typename A>
void sum_short_rows(const S *x, size_t rows, unsigned length, size_t stride, A *out,
                    cudaStream_t stream)
{
    if (length <= short_row && stride < rows_staged::near && (stride > 1 || length < short_row)) {
        sum_staged_rows(x, rows, length, (unsigned)stride, out, stream);
    } else if (stride == 1) {
        if (length % 2 == 0 && (uintptr_t)x % (2 * sizeof(S)) == 0) {
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
    } else if (length <= short_row) {
        with_most(length, [=](auto most) {
            constexpr unsigned of = decltype(most)::value, each = of < 4 ? 8 : 32 / of;
            sum_side_by_side<of><<<grid_for(groups_of(rows, threads * each)), threads, 0, stream>>>(
                x, rows, length, stride, out);
        });
    } else {
        constexpr unsigned beside = beside_of<S, A>;
        if (are_beside<beside>(x, stride))
            sum_team_rows<beside>(x, rows, length, stride, out, stream);
        else
            sum_team_rows<1>(x, rows, length, stride, out, stream);
    }
}

} // namespace rows_tree
