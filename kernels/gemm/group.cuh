/* Tiles of D by wgmma, from core matrices that lie packed (pack.cuh).
 *
 * A block has a tile of 128 rows: eight warps, each four of them a group of 64 rows, multiply, and
 * a ninth has the packed steps brought into shared memory as they lie, as far ahead as there are
 * stages. C and D have whole tiles. Where sums are promoted (promoted.cuh), a tile has half as many
 * columns. */
#pragma once

#include "kernels/gemm/sync.cuh"
#include "kernels/mma/group.cuh"

namespace gemm
{

template <bool promotes> struct group_tile {
    static constexpr unsigned DOWN = 128, ACROSS = promotes ? 128 : 256;
    static constexpr unsigned STEP_ROW = CORE_STEP * CORE_ROW; /* bytes of a row in a step */
    static constexpr unsigned A_BYTES = DOWN * STEP_ROW, B_BYTES = ACROSS * STEP_ROW;
    static constexpr unsigned STAGES = promotes ? 6 : 4;
    static constexpr unsigned MULTIPLYING = 256; /* threads */
    static constexpr unsigned ALIGNMENT = 128, BYTES = STAGES * (A_BYTES + B_BYTES) + ALIGNMENT;
    static constexpr unsigned BLOCKS = 1; /* that share what they bring of B */
};

/* Two blocks of a cluster have tiles one below the other. Each brings half of B's part of a step,
 * to both: so three quarters as much comes from the cache. */
struct paired_tile : group_tile<true> {
    static constexpr unsigned BLOCKS = 2;
};

/* --- barriers in shared memory, by their addresses there --- */

__device__ inline unsigned shared_address(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

__device__ inline void barrier_make(unsigned barrier, unsigned arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals)
                 : "memory");
}

__device__ inline void barrier_arrive(unsigned barrier)
{
    asm volatile("{.reg .b64 state; mbarrier.arrive.shared::cta.b64 state, [%0];}" ::"r"(barrier)
                 : "memory");
}

/* Arrives, and tells it to wait for so many bytes too. */
__device__ inline void barrier_expect(unsigned barrier, unsigned bytes)
{
    asm volatile(
        "{.reg .b64 state; mbarrier.arrive.expect_tx.shared::cta.b64 state, [%0], %1;}" ::"r"(
            barrier),
        "r"(bytes)
        : "memory");
}

/* Until its phase of this parity has ended. */
__device__ inline void barrier_wait(unsigned barrier, unsigned parity)
{
    unsigned done = 0;
    while (!done)
        asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                     "selp.u32 %0, 1, 0, p;}"
                     : "=r"(done)
                     : "r"(barrier), "r"(parity)
                     : "memory");
}

__device__ inline void copy_bulk(unsigned to, const void *from, unsigned bytes, unsigned barrier)
{
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, "
        "[%3];" ::"r"(to),
        "l"(from), "r"(bytes), "r"(barrier)
        : "memory");
}

/* The same to two blocks, at the same place in each; it counts at the barrier of each. */
__device__ inline void copy_to_both(unsigned to, const void *from, unsigned bytes, unsigned barrier)
{
    const unsigned short both = 3;
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                 ".multicast::cluster [%0], [%1], %2, [%3], %4;" ::"r"(to),
                 "l"(from), "r"(bytes), "r"(barrier), "h"(both)
                 : "memory");
}

/* At this barrier of another block of the cluster. */
__device__ inline void barrier_arrive_at(unsigned barrier, unsigned block)
{
    asm volatile("{.reg .b32 there;\nmapa.shared::cluster.u32 there, %0, %1;\n"
                 "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there];}" ::"r"(barrier),
                 "r"(block)
                 : "memory");
}

/* Until all threads of all blocks are here. */
template <unsigned blocks> __device__ inline void wait_for_blocks()
{
    if constexpr (blocks == 1)
        __syncthreads();
    else
        asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" ::: "memory");
}

/* --- the two kinds of warps --- */

/* Where a block's stages and their barriers are. */
struct pipeline {
    unsigned stages, full, empty;
};

template <typename T>
__device__ inline void bring(const struct instructed &p, const struct pipeline &at, unsigned down,
                             unsigned across)
{
    const unsigned steps = p.k.padded / CORE_STEP;
    const char *a = (const char *)p.a + (size_t)down * steps * T::A_BYTES;
    const char *b = (const char *)p.b + (size_t)across * steps * T::B_BYTES;
    for (unsigned s = 0; s < steps; s++) {
        const unsigned slot = s % T::STAGES, round = s / T::STAGES;
        const unsigned to = at.stages + slot * (T::A_BYTES + T::B_BYTES), full = at.full + 8 * slot;
        if (round > 0)
            barrier_wait(at.empty + 8 * slot, (round - 1) % 2);
        barrier_expect(full, T::A_BYTES + T::B_BYTES);
        copy_bulk(to, a + (size_t)s * T::A_BYTES, T::A_BYTES, full);
        if constexpr (T::BLOCKS == 1) {
            copy_bulk(to + T::A_BYTES, b + (size_t)s * T::B_BYTES, T::B_BYTES, full);
        } else {
            constexpr unsigned part = T::B_BYTES / T::BLOCKS;
            const unsigned own = blockIdx.x % T::BLOCKS * part;
            copy_to_both(to + T::A_BYTES + own, b + (size_t)s * T::B_BYTES + own, part, full);
        }
    }
}

/* Instruction i of a step, for a group of warps; not added to d where it begins a chain. */
template <enum mma_element E, enum format R, typename T, int count>
__device__ __forceinline__ void multiply_core(unsigned (&d)[count], unsigned stage, unsigned group,
                                              unsigned i, bool adds = true)
{
    constexpr unsigned a_leading = T::DOWN * 16, b_leading = T::ACROSS * 16, eight_rows = 128;
    const unsigned a = stage + group * 64 / 8 * eight_rows + i * 2 * a_leading;
    const unsigned b = stage + T::A_BYTES + i * 2 * b_leading;
    mma::multiply_group<E, R, T::ACROSS>(d, mma::descriptor(a, a_leading, eight_rows),
                                         mma::descriptor(b, b_leading, eight_rows), adds);
}

template <enum mma_element E, enum format R, typename T, int count>
__device__ __forceinline__ void multiply_all(unsigned (&d)[count], const struct instructed &p,
                                             const struct pipeline &at, unsigned group)
{
    const unsigned whole = p.k.instructions / CORE_STEP, left = p.k.instructions % CORE_STEP;
    for (unsigned s = 0; s < whole; s++) {
        const unsigned slot = s % T::STAGES, stage = at.stages + slot * (T::A_BYTES + T::B_BYTES);
        barrier_wait(at.full + 8 * slot, s / T::STAGES % 2);
        __syncwarp();
        mma::group_fence();
#pragma unroll
        for (unsigned i = 0; i < CORE_STEP; i++)
            multiply_core<E, R, T>(d, stage, group, i);
        mma::group_commit();
        mma::group_wait<1>();
        if (s > 0 && threadIdx.x % 32 == 0)
            barrier_arrive(at.empty + 8 * ((s - 1) % T::STAGES));
    }
    mma::group_wait<0>();
    mma::hold_registers(d);
    if (left > 0) {
        const unsigned slot = whole % T::STAGES;
        barrier_wait(at.full + 8 * slot, whole / T::STAGES % 2);
        __syncwarp();
        for (unsigned i = 0; i < left; i++) {
            mma::group_fence();
            multiply_core<E, R, T>(d, at.stages + slot * (T::A_BYTES + T::B_BYTES), group, i);
            mma::group_commit();
            mma::group_wait<0>();
            mma::hold_registers(d);
        }
    }
}

/* Pairs of fp16: those of rows g and g + 8 and each 8 columns, to a lane's registers or from them.
 */
template <int count>
__device__ __forceinline__ void load_part(unsigned (&d)[count], const unsigned *c, size_t wide)
{
#pragma unroll
    for (int i = 0; i < count; i++)
        d[i] = c[i / 2 * 4 + (i % 2 ? 4 * wide : 0)];
}
template <int count>
__device__ __forceinline__ void store_part(unsigned *to, const unsigned (&d)[count], size_t wide)
{
#pragma unroll
    for (int i = 0; i < count; i++)
        to[i / 2 * 4 + (i % 2 ? 4 * wide : 0)] = d[i];
}

/* Two numbers of fp16 or bf16 as fp32, and two of fp32 rounded to these. */
__device__ inline uint2 widened(unsigned x, enum format f)
{
    const float2 of = __half22float2(*(const __half2 *)&x);
    return f == FP16 ? make_uint2(__float_as_uint(of.x), __float_as_uint(of.y))
                     : make_uint2(x << 16, x & 0xffff0000);
}

__device__ inline unsigned shortened(unsigned low, unsigned high, enum format f)
{
    const float x = __uint_as_float(low), y = __uint_as_float(high);
    const __half2 half = __floats2half2_rn(x, y);
    const __nv_bfloat162 bfloat = __floats2bfloat162_rn(x, y);
    return f == FP16 ? *(const unsigned *)&half : *(const unsigned *)&bfloat;
}

/* A pair of 8 bytes, or one of 4 in x. Not by a branch, for which the compiler would have later
 * instructions wait for each other (ptxas' C7515). */
__device__ __forceinline__ uint2 pair_at(const void *from, size_t at, bool eight)
{
    uint2 x = make_uint2(0, 0);
    asm volatile("{.reg .pred p;\nsetp.ne.u32 p, %4, 0;\n@p ld.global.v2.u32 {%0, %1}, [%2];\n"
                 "@!p ld.global.u32 %0, [%3];}"
                 : "+r"(x.x), "+r"(x.y)
                 : "l"((const uint2 *)from + at), "l"((const unsigned *)from + at),
                   "r"((unsigned)eight)
                 : "memory");
    return x;
}

/* C to registers, and registers to D; begin: in pairs of elements. Where C and D are of 16 bits and
 * registers of fp32, pairs are widened and rounded. */
template <enum format R, int count>
__device__ __forceinline__ void load_tile(unsigned (&d)[count], const struct instructed &p,
                                          size_t begin)
{
    if constexpr (R == FP16) {
        load_part(d, (const unsigned *)p.c + begin, p.wide);
    } else {
#pragma unroll
        for (int i = 0; i < count; i += 2) {
            const size_t at = begin + i / 4 * 4 + (i / 2 % 2 ? 4 * p.wide : 0);
            const uint2 x = pair_at(p.c, at, p.results == FP32), of = widened(x.x, p.results);
            d[i] = p.results == FP32 ? x.x : of.x;
            d[i + 1] = p.results == FP32 ? x.y : of.y;
        }
    }
}

template <enum format R, int count>
__device__ __forceinline__ void store_tile(const struct instructed &p, const unsigned (&d)[count],
                                           size_t begin)
{
    if constexpr (R == FP16) {
        store_part((unsigned *)p.d + begin, d, p.wide);
    } else {
#pragma unroll
        for (int i = 0; i < count; i += 2) {
            const size_t at = begin + i / 4 * 4 + (i / 2 % 2 ? 4 * p.wide : 0);
            if (p.results == FP32)
                ((uint2 *)p.d)[at] = make_uint2(d[i], d[i + 1]);
            else
                ((unsigned *)p.d)[at] = shortened(d[i], d[i + 1], p.results);
        }
    }
}

} // namespace gemm
