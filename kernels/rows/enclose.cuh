/* The sums of rows, enclosed (kernels/blocks/enclosure.cuh) at the speed of memory: what rows/exact
 * finds out first.
 *
 * Any schedule will do. Rows are cut into parts only where there are too few of them to keep a
 * device busy.
 *
 *   enclose_staged    short rows near each other: each by a lane, from shared memory (staged.cuh)
 *   enclose_short     other short rows: each by a thread
 *   enclose_vectors   rows that are consecutive: a part by 8 to 32 lanes of a warp, 16 bytes each
 *                     at a time
 *   enclose_columns   other rows: a part of neighbouring rows by a few threads for each, so that
 *                     threads side by side read side by side; a block has room for several such
 *   join_parts        the parts of each row, where there are several */
#pragma once

#include "kernels/rows/plan.cuh"
#include "kernels/rows/staged.cuh"
#include "kernels/blocks/certified.cuh"
#include "kernels/blocks/tile.cuh"
#include "kernels/blocks/wide.cuh"

namespace rows_exact_sum
{

typedef undecided<size_t> undecided_rows;

/* A kernel may be launched while the one before it on the stream ends, and waits for it there. */
__device__ inline void may_follow()
{
#if __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}
__device__ inline void wait_for_previous()
{
#if __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
}

/* Launches such a kernel. A cudaError_t. */
template <typename... Parameters, typename... Arguments>
int launch_early(void (*kernel)(Parameters...), unsigned grid, unsigned block, unsigned bytes,
                 cudaStream_t stream, Arguments... arguments)
{
    int device = 0, major = 0;
    int error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    if (error != cudaSuccess)
        return error;
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = bytes;
    config.stream = stream;
    config.attrs = &early;
    config.numAttrs = major >= 9;
    return cudaLaunchKernelEx(&config, kernel, arguments...);
}

/* The end of a part. By one lane. */
template <typename A>
__device__ inline void finish_part(const plan &p, const enclosure &e, size_t row, size_t piece,
                                   enclosure *part, A *out, undecided_rows *rest)
{
    if (p.parts > 1)
        part[matrix_at(row, piece, p.parts, p.stride)] = e;
    else
        decide(e, max(p.additions, certified_value::additions_least), row, out, rest);
}

/* A lane's share of `count` consecutive elements: vectors aligned to 16 bytes, and the elements
 * before and after them, at most one each for 8 lanes or more. early: a batch is on its way while
 * the one before it is added, at the price of registers. */
template <bool early, typename Sum, typename S>
__device__ inline void add_consecutive(Sum &sum, const S *x, size_t count, unsigned lane,
                                       unsigned lanes)
{
    constexpr unsigned width = load<S>::width, loads = certified_value::enclose_loads;
    size_t off = (uintptr_t)x % sizeof(uint4) / sizeof(S);
    size_t before = min(off > 0 ? width - off : 0, count), whole = (count - before) / width;
    size_t after = before + whole * width + lane;
    const uint4 *from = (const uint4 *)(x + before);
    load<S> now[loads], next[loads];
    size_t v = lane;
    auto is_full = [&] { return v + (loads - 1) * lanes < whole; };
    auto get = [&](load<S>(&x)[loads]) {
#pragma unroll
        for (unsigned i = 0; i < loads; i++)
            x[i].from(from + v + i * lanes);
    };
    if (early && is_full())
        get(now);
    while (is_full()) {
        if (early) {
            v += loads * lanes;
            if (is_full())
                get(next);
        } else {
            get(now);
        }
#pragma unroll
        for (unsigned i = 0; i < loads; i++) {
#pragma unroll
            for (unsigned k = 0; k < width; k++)
                sum.add(now[i].x[k]);
            if (early)
                now[i] = next[i];
        }
        sum.end_of_batch();
        if (!early)
            v += loads * lanes;
    }
#pragma unroll
    for (unsigned i = 0; i < loads - 1; i++)
        if (v + i * lanes < whole)
            next[i].from(from + v + i * lanes);
    for (size_t i = lane; i < before; i += lanes)
        sum.add(__ldcs(x + i));
    for (; after < count; after += lanes)
        sum.add(__ldcs(x + after));
#pragma unroll
    for (unsigned i = 0; i < loads - 1; i++)
        if (v + i * lanes < whole)
#pragma unroll
            for (unsigned k = 0; k < width; k++)
                sum.add(next[i].x[k]);
    sum.end_of_batch();
}

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
template <bool early, unsigned V, typename Sum, typename S>
__device__ inline void add_strided(Sum (&sum)[V], const S *from, size_t count, size_t step)
{
    constexpr unsigned batch = 64 / sizeof(S), ahead = batch / V, few = 4;
    static_assert(batch <= certified_value::batch_share * certified_value::additions_least, "");
    auto end_batches = [&] {
#pragma unroll
        for (unsigned k = 0; k < V; k++)
            sum[k].end_of_batch();
    };
    auto get = [&](wide<S, V>(&x)[ahead]) {
#pragma unroll
        for (unsigned i = 0; i < ahead; i++)
            x[i].from(from + i * step);
    };
    wide<S, V> now[ahead], next[ahead];
    if (early && count >= ahead)
        get(now);
    for (unsigned turn = 1; count >= ahead; turn = turn % V + 1) {
        if (!early)
            get(now);
        count -= ahead;
        from += ahead * step;
        if (early && count >= ahead)
            get(next);
#pragma unroll
        for (unsigned i = 0; i < ahead; i++) {
#pragma unroll
            for (unsigned k = 0; k < V; k++)
                sum[k].add(now[i].x[k]);
            if (early)
                now[i] = next[i];
        }
        if (turn == V)
            end_batches();
    }
    for (unsigned left = (unsigned)count, some; left > 0; left -= some) {
        some = min(left, few);
#pragma unroll
        for (unsigned i = 0; i < few; i++, from += step)
            if (i < some)
                now[i].from(from);
#pragma unroll
        for (unsigned i = 0; i < few; i++)
            if (i < some)
#pragma unroll
                for (unsigned k = 0; k < V; k++)
                    sum[k].add(now[i].x[k]);
    }
    end_batches();
}

/* Sums of few elements are often half-way between two neighbours; so here it counts what the errors
 * lose when they are added up, mostly nothing; and an addition mostly has no error. */
template <typename S> struct closely {
    double sum = -0.0, error = 0, off = 0;
    __device__ void add(S element)
    {
        double x = convert<double>(element), next = __dadd_rn(sum, x), d = lost(sum, x, next);
        sum = next;
        if (((unsigned long long)__double_as_longlong(d) << 1) == 0)
            return; /* a zero; asked so, it takes no unit of fp64 */
        double errors = __dadd_rn(error, d);
        off = __dadd_ru(off, fabs(lost(error, d, errors)));
        error = errors;
    }
    __device__ void end_of_batch() {}
};

/* fp16 has 40 bits: a double adds 2^12 elements without an error. */
template <> struct closely<__half> {
    static_assert(short_row <= 1 << 12, "");
    double sum = -0.0, error = 0, off = 0;
    __device__ void add(__half element) { sum = __dadd_rn(sum, convert<double>(element)); }
    __device__ void end_of_batch() {}
};

template <typename S, typename A>
__global__ void enclose_staged(rows_staged::staging p, const S *x, A *out, undecided_rows *rest)
{
    rows_staged::each_staged(p, x, [&](const S *row, unsigned m, size_t r) {
        closely<S> sum;
#pragma unroll 4
        for (unsigned k = 0; k < p.length; k++)
            sum.add(row[(k ^ m) * p.stride]);
        decide(sum.sum, sum.error, sum.off, r, out, rest);
    });
    may_follow();
}

template <bool consecutive, typename S, typename A>
__global__ __launch_bounds__(threads) void enclose_short(plan p, const S *x, A *out,
                                                         undecided_rows *rest)
{
    for (size_t row = (size_t)blockIdx.x * threads + threadIdx.x; row < p.rows;
         row += (size_t)gridDim.x * threads) {
        closely<S> sum;
        if constexpr (consecutive)
            add_consecutive<false>(sum, x + row * p.length, p.length, 0, 1);
        else
            add_few(sum, x + matrix_at(row, 0, p.length, p.stride), (unsigned)p.length, p.stride);
        decide(sum.sum, sum.error, sum.off, row, out, rest);
    }
    may_follow();
}

template <typename S, typename A>
__global__ __launch_bounds__(threads) void enclose_vectors(plan p, const S *x, enclosure *part,
                                                           A *out, undecided_rows *rest)
{
    unsigned lane = threadIdx.x % p.lanes, per_block = p.per_block();
    size_t units = p.units(), first = (size_t)blockIdx.x * per_block;
    for (; first < units; first += (size_t)gridDim.x * per_block) {
        size_t unit = first + threadIdx.x / p.lanes;
        size_t row = p.parts > 1 ? unit / p.parts : unit, piece = unit - row * p.parts;
        certified_value::enclosing_of<S, A> sum;
        if (unit < units)
            add_consecutive<(sizeof(S) < 8)>(sum, x + row * p.length + piece * p.part,
                                             p.end_of(piece) - piece * p.part, lane, p.lanes);
        enclosure e = enclose_lanes(sum.e, p.lanes);
        if (unit < units && lane == 0)
            finish_part(p, e, row, piece, part, out, rest);
    }
    may_follow();
}

/* The enclosures of the threads of a row, `columns` apart; the one of depth 0 gets it. By a block;
 * `shared` may be used again. */
__device__ inline enclosure enclose_deep(const plan &p, enclosure e, unsigned depth,
                                         enclosure *shared)
{
    for (unsigned left = p.deep, keep; left > 1; left = keep) {
        keep = (left + 1) / 2;
        shared[threadIdx.x] = e;
        __syncthreads();
        if (depth + keep < left)
            e = join(e, shared[threadIdx.x + keep * p.columns]);
        __syncthreads();
    }
    return e;
}

template <typename S>
constexpr unsigned beside_of = sizeof(S) < sizeof(unsigned) ? sizeof(unsigned) / sizeof(S) : 1;

/* V: p.beside. */
template <unsigned V, typename S, typename A>
__global__ __launch_bounds__(threads) void enclose_columns(plan p, const S *x, enclosure *part,
                                                           A *out, undecided_rows *rest)
{
    __shared__ enclosure shared[threads];
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
        certified_value::enclosing_of<S, A> sum[V];
        if (any && begin < p.end_of(piece))
            add_strided<(sizeof(S) < 8)>(sum, x + matrix_at(row, begin, p.length, p.stride),
                                         groups_of(p.end_of(piece) - begin, p.deep),
                                         p.deep * p.stride);
#pragma unroll
        for (unsigned k = 0; k < V; k++) {
            enclosure e = enclose_deep(p, sum[k].e, depth, shared);
            if (any && depth == 0)
                finish_part(p, e, row + k, piece, part, out, rest);
        }
    }
    may_follow();
}

/* By `lanes` lanes a row: a power of 2 up to a warp, or a whole block. */
template <typename A>
__global__ __launch_bounds__(threads) void join_parts(plan p, unsigned lanes, const enclosure *part,
                                                      A *out, undecided_rows *rest)
{
    wait_for_previous();
    unsigned lane = threadIdx.x % lanes, per_block = threads / lanes;
    size_t first = (size_t)blockIdx.x * per_block;
    for (; first < p.rows; first += (size_t)gridDim.x * per_block) {
        size_t row = first + threadIdx.x / lanes;
        enclosure e = enclose_nothing();
        for (size_t i = lane; i < p.parts && row < p.rows; i += lanes)
            e = join(e, part[matrix_at(row, i, p.parts, p.stride)]);
        e = lanes > warp_lanes ? enclose_block(e) : enclose_lanes(e, lanes);
        size_t additions = p.additions + 2 * (groups_of(p.parts, lanes) + 2 * 5);
        if (row < p.rows && lane == 0)
            decide(e, max(additions, certified_value::additions_least), row, out, rest);
    }
    may_follow();
}

/* Each row gets its sum, or is put on the list, which is empty before. part: of rows * parts, where
 * there are several. A cudaError_t. */
template <typename S, typename A>
int enclose_rows(plan p, const S *x, enclosure *part, A *out, undecided_rows *rest,
                 cudaStream_t stream)
{
    if (p.length < short_row && rows_staged::are_near<S>(p.length, p.stride)) {
        rows_staged::staging s =
            rows_staged::staging_of<S>(p.rows, (unsigned)p.length, (unsigned)p.stride);
        (void)rows_staged::prefer_shared(enclose_staged<S, A>); /* cudaGetLastError tells */
        enclose_staged<S, A><<<s.grid, s.warps * warp_lanes, s.bytes(), stream>>>(s, x, out, rest);
        return cudaGetLastError();
    }
    if (p.length < short_row) {
        auto enclose = p.stride > 1 ? enclose_short<false, S, A> : enclose_short<true, S, A>;
        if (p.stride > 1)
            (void)rows_staged::prefer_shared(enclose);
        enclose<<<grid_for(groups_of(p.rows, threads)), threads, 0, stream>>>(p, x, out, rest);
        return cudaGetLastError();
    }
    if ((uintptr_t)x % sizeof(unsigned) > 0)
        p.take_one_by_one();
    unsigned grid = grid_for(groups_of(p.units(), p.per_block()));
    auto enclose = p.lanes > 0    ? enclose_vectors<S, A>
                   : p.beside > 1 ? enclose_columns<beside_of<S>, S, A>
                                  : enclose_columns<1, S, A>;
    (void)rows_staged::prefer_shared(enclose);
    enclose<<<grid, threads, 0, stream>>>(p, x, part, out, rest);
    if (p.parts == 1)
        return cudaGetLastError();
    unsigned lanes = 2;
    while (lanes < p.parts && lanes < warp_lanes)
        lanes *= 2;
    if (p.parts > 4 * warp_lanes)
        lanes = threads;
    (void)rows_staged::prefer_shared(join_parts<A>);
    return launch_early(join_parts<A>, grid_for(groups_of(p.rows, threads / lanes)), threads, 0,
                        stream, p, lanes, (const enclosure *)part, out, rest);
}

} // namespace rows_exact_sum
