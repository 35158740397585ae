/* The sums of rows, enclosed (kernels/blocks/enclosure.cuh) at the speed of memory: what rows/exact
 * finds out first.
 *
 * Any schedule will do. Rows are cut into parts where there are too few of them to keep a device
 * busy.
 *
 *   enclose_staged    short rows near each other: each by a lane, from shared memory (staged.cuh)
 *   enclose_vectors   other rows that are consecutive: a part by 8 to 32 lanes of a warp (ring.cuh)
 *   enclose_strips    rows whose elements are apart, 128 bytes of them side by side: a part by a
 *                     warp or a block (ring.cuh)
 *   enclose_short     short rows that are no strips: each by a thread
 *   enclose_columns   others: a part of neighbouring rows by a few threads for each, so that
 *                     threads side by side read side by side; a block has room for several such
 *   join_parts        the parts of each row, where there are several */
#pragma once

#include "kernels/blocks/wide.cuh"
#include "kernels/rows/ring.cuh"
#include "kernels/rows/staged.cuh"

namespace rows_exact_sum
{

/* A few elements `step` apart. */
template <typename Sum, typename S>
__device__ inline void add_few(Sum &sum, const S *from, unsigned count, size_t step)
{
    constexpr unsigned ahead = 64 / sizeof(S), few = 4;
    for (; count >= ahead; count -= ahead) {
        S next[ahead];
#pragma unroll
        for (unsigned i = 0; i < ahead; i++, from += step)
            next[i] = __ldcs(from);
#pragma unroll
        for (unsigned i = 0; i < ahead; i++)
            sum.add(next[i]);
    }
    for (unsigned now; count > 0; count -= now) {
        S next[few];
        now = min(count, few);
#pragma unroll
        for (unsigned i = 0; i < few; i++, from += step)
            if (i < now)
                next[i] = __ldcs(from);
#pragma unroll
        for (unsigned i = 0; i < few; i++)
            if (i < now)
                sum.add(next[i]);
    }
}

/* Elements `step` apart, of V rows side by side. */
template <unsigned V, typename Sum, typename S>
__device__ inline void add_strided(Sum (&sum)[V], const S *from, size_t count, size_t step)
{
    constexpr unsigned ahead = 16, few = 4;
    wide<S, V> next[ahead];
    auto add = [&](const wide<S, V> &y) {
#pragma unroll
        for (unsigned k = 0; k < V; k++)
            sum[k].add(y.x[k]);
    };
    for (; count >= ahead; count -= ahead) {
#pragma unroll
        for (unsigned i = 0; i < ahead; i++, from += step)
            next[i].from(from);
#pragma unroll
        for (unsigned i = 0; i < ahead; i++)
            add(next[i]);
    }
    for (unsigned left = (unsigned)count, some; left > 0; left -= some) {
        some = min(left, few);
#pragma unroll
        for (unsigned i = 0; i < few; i++, from += step)
            if (i < some)
                next[i].from(from);
#pragma unroll
        for (unsigned i = 0; i < few; i++)
            if (i < some)
                add(next[i]);
    }
}

template <typename A>
__device__ inline void decide(const grained &g, size_t row, A *out, undecided_rows *rest)
{
    decide(g.e.sum, g.e.error, most_off(g, additions_least), row, out, rest);
}

template <typename S, typename A>
__global__ void enclose_staged(rows_staged::staging p, const S *x, A *out, undecided_rows *rest)
{
    rows_staged::each_staged(p, x, [&](const S *row, unsigned m, size_t r) {
        summed_in<S, A> sum;
#pragma unroll 8
        for (unsigned k = 0; k < p.length; k++)
            sum.add(row[(k ^ m) * p.stride]);
        decide(sum.finish(p.length), r, out, rest);
    });
    may_follow();
}

/* Doubles of a short row, by a thread: most additions of few numbers have no error, and the error
 * sum's own is asked for only where there is one. */
struct few_doubles {
    double sum = -0.0, error = 0, off = 0;
    __device__ void add(double x)
    {
        double next = __dadd_rn(sum, x), d = lost(sum, x, next);
        sum = next;
        if (((unsigned long long)__double_as_longlong(d) << 1) == 0)
            return; /* a zero; asked so, it takes no unit of fp64 */
        double errors = __dadd_rn(error, d);
        off = __dadd_ru(off, fabs(lost(error, d, errors)));
        error = errors;
    }
};

template <typename A, typename Sum>
__device__ inline void decide_short(const Sum &sum, size_t length, size_t row, A *out,
                                    undecided_rows *rest)
{
    if constexpr (std::is_same<Sum, few_doubles>::value)
        decide(sum.sum, sum.error, sum.off, row, out, rest);
    else
        decide(sum.finish(length), row, out, rest);
}

template <typename S, typename A>
__global__ __launch_bounds__(threads) void enclose_short(plan p, const S *x, A *out,
                                                         undecided_rows *rest)
{
    for (size_t row = (size_t)blockIdx.x * threads + threadIdx.x; row < p.rows;
         row += (size_t)gridDim.x * threads) {
        std::conditional_t<sizeof(S) == 8, few_doubles, summed_in<S, A>> sum;
        add_few(sum, x + matrix_at(row, 0, p.length, p.stride), (unsigned)p.length, p.stride);
        decide_short(sum, p.length, row, out, rest);
    }
    may_follow();
}

/* The sums of the threads of a row, `columns` apart; the one of depth 0 gets it. By a block;
 * `shared` may be used again. */
__device__ inline grained join_deep(const plan &p, grained g, unsigned depth, grained *shared)
{
    for (unsigned left = p.deep, keep; left > 1; left = keep) {
        keep = (left + 1) / 2;
        shared[threadIdx.x] = g;
        __syncthreads();
        if (depth + keep < left)
            g = join(g, shared[threadIdx.x + keep * p.columns]);
        __syncthreads();
    }
    return g;
}

template <typename S>
constexpr unsigned beside_of = sizeof(S) < sizeof(unsigned) ? sizeof(unsigned) / sizeof(S) : 1;

/* V: p.beside. */
template <unsigned V, typename S, typename A>
__global__ __launch_bounds__(threads) void enclose_columns(plan p, const S *x, grained *part,
                                                           A *out, undecided_rows *rest)
{
    __shared__ grained shared[threads];
    unsigned per_block = p.per_block(), mine = threadIdx.x / (p.columns * p.deep);
    unsigned at = threadIdx.x % (p.columns * p.deep), column = at % p.columns;
    unsigned depth = mine < per_block ? at / p.columns : p.deep; /* beyond all: joins nothing */
    size_t units = p.units(), first = (size_t)blockIdx.x * per_block;
    for (; first < units; first += (size_t)gridDim.x * per_block) {
        size_t unit = first + mine, batch = unit / p.groups / p.parts;
        size_t piece = unit / p.groups % p.parts;
        size_t across = (unit % p.groups * p.columns + column) * V;
        size_t row = batch * p.stride + across, begin = piece * p.part + depth;
        bool any = mine < per_block && unit < units && across < p.stride;
        summed_in<S, A> sum[V];
        if (any && begin < p.end_of(piece))
            add_strided(sum, x + matrix_at(row, begin, p.length, p.stride),
                        groups_of(p.end_of(piece) - begin, p.deep), p.deep * p.stride);
#pragma unroll
        for (unsigned k = 0; k < V; k++) {
            grained g = join_deep(p, sum[k].finish(p.share), depth, shared);
            if (any && depth == 0)
                finish_part(p, g, row + k, piece, part, out, rest);
        }
    }
    may_follow();
}

/* By `lanes` lanes a row: a power of 2 up to a block. */
template <typename A>
__global__ __launch_bounds__(threads) void join_parts(plan p, unsigned lanes, const grained *part,
                                                      A *out, undecided_rows *rest)
{
    wait_for_previous();
    unsigned lane = threadIdx.x % lanes, per_block = threads / lanes;
    size_t first = (size_t)blockIdx.x * per_block;
    for (; first < p.rows; first += (size_t)gridDim.x * per_block) {
        size_t row = first + threadIdx.x / lanes;
        grained g = grained_nothing();
#pragma unroll 8
        for (size_t i = lane; i < p.parts && row < p.rows; i += lanes)
            g = join(g, part[matrix_at(row, i, p.parts, p.stride)]);
        g = join_threads(g, lanes);
        size_t additions = p.additions + 2 * (groups_of(p.parts, lanes) + 8);
        if (row < p.rows && lane == 0)
            decide(g.e.sum, g.e.error, most_off(g, additions), row, out, rest);
    }
    may_follow();
}

/* Are the rows strips? */
template <typename S> inline bool has_strips(const plan &p, const S *x)
{
    return p.stride * sizeof(S) >= strip_bytes && p.stride * sizeof(S) % sizeof(uint4) == 0 &&
           (uintptr_t)x % sizeof(uint4) == 0 && p.length >= strip_least;
}

/* Each row gets its sum, or is put on the list, which is empty before. part: of rows * parts, where
 * there are several. A cudaError_t. */
template <typename S, typename A>
int enclose_rows(plan p, const S *x, grained *part, A *out, undecided_rows *rest,
                 cudaStream_t stream)
{
    bool consecutive = p.stride == 1, strips = has_strips(p, x);
    bool is_short = p.length < (consecutive ? short_consecutive<S> : short_row);
    if (is_short && rows_staged::are_near<S>(p.length, p.stride)) {
        rows_staged::staging s =
            rows_staged::staging_of<S>(p.rows, (unsigned)p.length, (unsigned)p.stride);
        (void)rows_staged::prefer_shared(enclose_staged<S, A>); /* cudaGetLastError tells */
        enclose_staged<S, A><<<s.grid, s.warps * warp_lanes, s.bytes(), stream>>>(s, x, out, rest);
        return cudaGetLastError();
    }
    if (is_short && !consecutive && !strips) {
        (void)rows_staged::prefer_shared(enclose_short<S, A>);
        enclose_short<<<grid_for(groups_of(p.rows, threads)), threads, 0, stream>>>(p, x, out,
                                                                                    rest);
        return cudaGetLastError();
    }
    if ((uintptr_t)x % sizeof(unsigned) > 0 && !consecutive)
        p.take_one_by_one();
    auto enclose = p.lanes == 8            ? enclose_vectors<8, S, A>
                   : p.lanes == 16         ? enclose_vectors<16, S, A>
                   : p.lanes == warp_lanes ? enclose_vectors<warp_lanes, S, A>
                   : strips                ? enclose_strips<S, A>
                   : p.beside > 1          ? enclose_columns<beside_of<S>, S, A>
                                           : enclose_columns<1, S, A>;
    size_t blocks = consecutive || strips
                        ? min((size_t)p.blocks,
                              groups_of(p.ring_units(sizeof(S)) * p.tall, (size_t)warps_of_block))
                        : groups_of(p.units(), p.per_block());
    (void)rows_staged::prefer_shared(enclose);
    enclose<<<grid_for(blocks), threads, 0, stream>>>(p, x, part, out, rest);
    if (p.parts == 1)
        return cudaGetLastError();
    unsigned lanes = 2;
    while (lanes < p.parts && lanes < warp_lanes)
        lanes *= 2;
    if (p.parts > 4 * warp_lanes)
        lanes = threads;
    (void)rows_staged::prefer_shared(join_parts<A>);
    return launch_early(join_parts<A>, grid_for(groups_of(p.rows, threads / lanes)), threads, 0,
                        stream, p, lanes, (const grained *)part, out, rest);
}

} // namespace rows_exact_sum
