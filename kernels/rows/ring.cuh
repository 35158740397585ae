/* Long rows, by warps that have more on its way to shared memory while they add what has come: the
 * memory is kept busy whatever else a warp does, also at the ends of rows.
 *
 * The warps of a device have equal shares: each takes every so-many-th unit of a plan. A unit has
 * as many stages as any other. */
#pragma once

#include <cuda_pipeline.h>

#include "kernels/rows/part.cuh"

namespace rows_exact_sum
{

/* fetch(stage) and take(stage) for each stage of a warp, in turn; several are fetched before the
 * first is taken. */
template <unsigned count, unsigned V, typename Fetch, typename Take>
__device__ inline void each_stage(uint4 (&ring)[count][V][warp_lanes], size_t stages, Fetch fetch,
                                  Take take)
{
    unsigned slot = 0, before = count - 1;
    size_t left = stages;
#pragma unroll 1
    for (unsigned s = 0; s < count - 1; s++) {
        if (left > 0) {
            fetch(ring[s]);
            left--;
        }
        __pipeline_commit();
    }
#pragma unroll 1
    for (; stages > 0; stages--) {
        __pipeline_wait_prior(count - 2);
        __syncwarp();
        if (left > 0) {
            fetch(ring[before]);
            left--;
        }
        __pipeline_commit();
        take(ring[slot]);
        before = slot;
        slot = slot + 1 == count ? 0 : slot + 1;
    }
}

/* 16 bytes, of which those within x[0 .. n-1] are read. */
template <typename S>
__device__ inline void fetch_within(uint4 *to, const char *at, const S *x, size_t n)
{
    if (at >= (const char *)x && at + sizeof(uint4) <= (const char *)(x + n)) {
        __pipeline_memcpy_async(to, at, sizeof(uint4));
        return;
    }
    for (unsigned i = 0; i < sizeof(uint4) / sizeof(S); i++)
        if ((const S *)at + i >= x && (const S *)at + i < x + n)
            ((S *)to)[i] = ((const S *)at)[i];
}

/* A row of a unit, or a part of it, by `lanes` lanes: elements off .. end-1 of the vectors that
 * begin at `at`. Those of the stages from `first` to before `last` are all among them. */
template <unsigned lanes, typename S> struct stretch {
    static constexpr unsigned width = sizeof(uint4) / sizeof(S), in_stage = lanes * ring_vectors;

    const char *at;
    unsigned off, end, first, last;
    size_t row, piece;

    __device__ stretch(const plan &p, const S *x, size_t unit)
    {
        constexpr unsigned beside = warp_lanes / lanes;
        row = beside > 1 ? unit * beside + threadIdx.x % warp_lanes / lanes : unit;
        piece = 0;
        if (beside == 1 && p.parts > 1) {
            row = unit / p.parts;
            piece = unit - row * p.parts;
        }
        bool any = row < p.rows;
        const S *from = x + (any ? row * p.length + piece * p.part : 0);
        off = (unsigned)((uintptr_t)from % sizeof(uint4) / sizeof(S));
        at = (const char *)(from - off);
        end = any ? off + (unsigned)(p.end_of(piece) - piece * p.part) : 0;
        first = off > 0;
        last = end / (width * in_stage);
    }
    __device__ bool whole(unsigned s) const { return s >= first && s < last; }
};

template <unsigned lanes, typename S, typename A>
__global__ __launch_bounds__(threads, ring_blocks) void enclose_vectors(plan p, const S *x,
                                                                        grained *part, A *out,
                                                                        undecided_rows *rest)
{
    typedef stretch<lanes, S> of;
    __shared__ uint4 rings[warps_of_block][ring_stages][ring_vectors][warp_lanes];
    unsigned lane = threadIdx.x % warp_lanes, own = lane % lanes;
    size_t step = (size_t)gridDim.x * (warps_of_block), units = p.ring_units(sizeof(S));
    size_t unit = ((size_t)blockIdx.x * threads + threadIdx.x) / warp_lanes, next = unit;
    size_t mine = unit < units ? (units - unit - 1) / step + 1 : 0;
    of coming(p, x, unit), now = coming;
    unsigned begun = 0, done = 0;
    summed_in<S, A> sum;
    each_stage(
        rings[threadIdx.x / warp_lanes], mine * p.stages,
        [&](auto &to) {
            const char *at = coming.at + (begun * of::in_stage + own) * sizeof(uint4);
            if (coming.whole(begun)) {
#pragma unroll
                for (unsigned k = 0; k < ring_vectors; k++)
                    __pipeline_memcpy_async(&to[k][lane], at + k * lanes * sizeof(uint4),
                                            sizeof(uint4));
            } else {
#pragma unroll 1
                for (unsigned k = 0; k < ring_vectors; k++)
                    if ((begun * of::in_stage + k * lanes + own) * of::width < coming.end)
                        fetch_within(&to[k][lane], at + k * lanes * sizeof(uint4), x,
                                     p.rows * p.length);
            }
            if (++begun < p.stages)
                return;
            begun = 0;
            next += step;
            coming = of(p, x, next);
        },
        [&](const auto &from) {
            if (now.whole(done)) {
#pragma unroll
                for (unsigned k = 0; k < ring_vectors; k++) {
                    S y[of::width];
                    memcpy(y, &from[k][lane], sizeof y);
#pragma unroll
                    for (unsigned i = 0; i < of::width; i++)
                        sum.add(y[i]);
                }
            } else {
#pragma unroll 1
                for (unsigned k = 0; k < ring_vectors; k++) {
                    unsigned e = (done * of::in_stage + k * lanes + own) * of::width;
                    S y[of::width];
                    memcpy(y, &from[k][lane], sizeof y);
#pragma unroll
                    for (unsigned i = 0; i < of::width; i++)
                        if (e + i >= now.off && e + i < now.end)
                            sum.add(y[i]);
                }
            }
            if (++done < p.stages)
                return;
            grained g = join_lanes(sum.finish(p.share), lanes);
            if (own == 0 && now.end > 0)
                finish_part(p, g, now.row, now.piece, part, out, rest);
            done = 0;
            unit += step;
            now = of(p, x, unit);
            sum = summed_in<S, A>();
        });
    may_follow();
}

/* Rows whose elements are p.stride apart: a strip of them that is 128 bytes wide, by `tall` warps
 * of a block, of which each reads 4 times 128 bytes at once. x and the stride are aligned to 16
 * bytes. */
template <typename S> struct strip {
    typedef std::conditional_t<sizeof(S) == 8, uint2, unsigned> word;
    static constexpr unsigned width = strip_bytes / sizeof(S), words = strip_bytes / sizeof(word);
    static constexpr unsigned beside = sizeof(word) / sizeof(S), deep = warp_lanes / words;
    static constexpr unsigned down = warp_lanes * sizeof(uint4) / strip_bytes;
    static constexpr unsigned in_stage = strip_vectors * down; /* elements of a row */

    const S *at;           /* of the first elements of its part */
    unsigned count, first; /* elements of each row; the first row in its batch */
    size_t batch, piece;

    __device__ strip(const plan &p, const S *x, size_t unit)
    {
        size_t strips = groups_of(p.stride, width), rest = unit / strips;
        first = (unsigned)(unit - rest * strips) * width;
        batch = p.parts > 1 ? rest / p.parts : rest;
        piece = rest - batch * p.parts;
        bool any = batch * p.stride < p.rows;
        count = any ? (unsigned)(p.end_of(piece) - piece * p.part) : 0;
        at = x + (any ? (batch * p.length + piece * p.part) * p.stride + first : 0);
    }
};

/* The sums of `tall` warps, for the first of them; by a block. */
__device__ inline grained join_tall(grained g, unsigned tall, grained *shared)
{
    unsigned warp = threadIdx.x / warp_lanes;
    if (tall == 1)
        return g;
    __syncthreads();
    shared[threadIdx.x] = g;
    __syncthreads();
    if (warp % tall == 0)
        for (unsigned i = 1; i < tall; i++)
            g = join(g, shared[threadIdx.x + i * warp_lanes]);
    return g;
}

template <typename S, typename A>
__global__ __launch_bounds__(threads, ring_blocks) void enclose_strips(plan p, const S *x,
                                                                       grained *part, A *out,
                                                                       undecided_rows *rest)
{
    typedef strip<S> of;
    constexpr unsigned V = of::beside, wide = strip_bytes / sizeof(uint4);
    __shared__ uint4 rings[warps_of_block][strip_stages][strip_vectors][warp_lanes];
    __shared__ grained shared[threads];
    unsigned lane = threadIdx.x % warp_lanes, warp = threadIdx.x / warp_lanes;
    unsigned column = lane % of::words * V, depth = lane / of::words; /* that it adds */
    unsigned across = lane % wide * (sizeof(uint4) / sizeof(S));      /* and reads: */
    unsigned down = warp % p.tall * of::in_stage + lane / wide;
    unsigned tall_stage = p.tall * of::in_stage;
    unsigned beside = warps_of_block / p.tall;
    size_t step = (size_t)gridDim.x * beside, units = p.ring_units(sizeof(S));
    size_t unit = (size_t)blockIdx.x * beside + warp / p.tall, next = unit;
    size_t mine = unit < units ? (units - unit - 1) / step + 1 : 0;
    size_t below = of::down * p.stride, again = (tall_stage - of::in_stage) * p.stride;
    of coming(p, x, unit), now = coming;
    const S *at = coming.at + down * p.stride + across;
    unsigned begun = 0, done = 0;
    summed_in<S, A> sum[V];
    each_stage(
        rings[warp], mine * p.stages,
        [&](auto &to) {
            bool within = coming.first + across < p.stride;
            unsigned top = begun * tall_stage + warp % p.tall * of::in_stage;
            if (within && top + of::in_stage <= coming.count) {
#pragma unroll
                for (unsigned k = 0; k < strip_vectors; k++, at += below)
                    __pipeline_memcpy_async(&to[k][lane], at, sizeof(uint4));
                at += again;
            } else if (within) {
#pragma unroll 1
                for (unsigned k = 0; k < strip_vectors; k++, at += below)
                    if (top + k * of::down + lane / wide < coming.count)
                        __pipeline_memcpy_async(&to[k][lane], at, sizeof(uint4));
            }
            if (++begun < p.stages)
                return;
            begun = 0;
            next += step;
            coming = of(p, x, next);
            at = coming.at + down * p.stride + across;
        },
        [&](const auto &from) {
            const typename of::word *words = &((const typename of::word *)from)[lane];
            constexpr unsigned turns = of::in_stage / of::deep;
            auto add = [&](unsigned k) {
                S y[V];
                memcpy(y, &words[k * warp_lanes], sizeof y);
#pragma unroll
                for (unsigned j = 0; j < V; j++)
                    sum[j].add(y[j]);
            };
            unsigned top = done * tall_stage + warp % p.tall * of::in_stage;
            if (top + of::in_stage <= now.count) {
#pragma unroll
                for (unsigned k = 0; k < turns; k++)
                    add(k);
            } else {
#pragma unroll 1
                for (unsigned k = 0; k < turns; k++)
                    if (top + depth + k * of::deep < now.count)
                        add(k);
            }
            if (++done < p.stages)
                return;
#pragma unroll
            for (unsigned j = 0; j < V; j++) {
                grained g = sum[j].finish(p.share);
                if (of::deep > 1)
                    g = join(g, g.across(of::words));
                g = join_tall(g, p.tall, shared);
                unsigned row = now.first + column + j;
                if (warp % p.tall == 0 && depth == 0 && now.count > 0 && row < p.stride)
                    finish_part(p, g, now.batch * p.stride + row, now.piece, part, out, rest);
                sum[j] = summed_in<S, A>();
            }
            done = 0;
            unit += step;
            now = of(p, x, unit);
        });
    may_follow();
}

} // namespace rows_exact_sum
