/* wgmma with promotion: chains of instructions, each begun at +0, whose sums are added up in fp32
 * in registers of their own; and the kernel, plain or promoted.
 *
 * While a chain's sums are added up, tensor cores have nothing to do unless something else is under
 * way. TURNS has the next chain under way by then, in other registers: three for each element.
 * FRESH and ZEROED have one chain at a time, in two registers, and differ in how it begins: by an
 * instruction that ignores its registers, or by zeros there. All have the same bits.
 *
 * Scales of blocks change with chains at most. SCALED is FRESH where each chain's sum is multiplied
 * by its own scales, and added up from -0 on, in one rounding. */
#pragma once

#include "kernels/gemm/group.cuh"

namespace gemm
{

enum promotion { ZEROED, FRESH, TURNS, PAIRS, SCALED };

/* Three registers an element, or two and scales, are more than a block of this size has for each
 * thread. Those that multiply get some of the others', which they can from whole groups of four
 * warps. */
template <bool promotes, enum promotion how>
constexpr bool exchanges_registers = promotes &&how >= TURNS;
template <bool promotes, enum promotion how>
constexpr unsigned group_threads = group_tile<promotes>::MULTIPLYING +
                                   (exchanges_registers<promotes, how> ? 128 : 32);

template <bool promotes, enum promotion how> struct tile_for { typedef group_tile<promotes> type; };
template <> struct tile_for<true, PAIRS> {
    typedef paired_tile type;
};

template <int left> __device__ __forceinline__ void give_registers()
{
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(left));
}
template <int all> __device__ __forceinline__ void take_registers()
{
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(all));
}

/* Adds the sums of a chain, which has ended. */
template <int count>
__device__ __forceinline__ void promote(unsigned (&all)[count], const unsigned (&d)[count])
{
#pragma unroll
    for (int i = 0; i < count; i++)
        all[i] = __float_as_uint(__fadd_rn(__uint_as_float(all[i]), __uint_as_float(d[i])));
}

/* A lane's elements: of rows `row` and 8 further, and of columns `column`, the next one, and those
 * 8 further, and so on. */
struct lane_place {
    size_t row, column;
};

/* The same, where the chain begins at product k, times its scales; 1 beyond the last row or column.
 */
template <int count>
__device__ __forceinline__ void promote_scaled(unsigned (&all)[count], const unsigned (&d)[count],
                                               const struct instructed &p,
                                               const struct lane_place &at, size_t k)
{
    float of_a[2];
#pragma unroll
    for (int h = 0; h < 2; h++)
        of_a[h] =
            at.row + 8 * h < p.m ? (float)matrices_scale(&p.scale[0], at.row + 8 * h, k) : 1.0f;
#pragma unroll
    for (int i = 0; i < count; i++) {
        const size_t column = at.column + i / 4 * 8 + i % 2;
        const float of_b = column < p.n ? (float)matrices_scale(&p.scale[1], column, k) : 1.0f;
        all[i] = __float_as_uint(__fmaf_rn(__fmul_rn(of_a[i / 2 % 2], of_b), __uint_as_float(d[i]),
                                           __uint_as_float(all[i])));
    }
}

template <int count> __device__ __forceinline__ void make_zeros(unsigned (&d)[count])
{
#pragma unroll
    for (int i = 0; i < count; i++)
        d[i] = 0;
    mma::hold_registers(d);
}

/* One instruction, and waits for it. */
template <enum mma_element E, enum format R, typename T, int count>
__device__ __forceinline__ void multiply_one(unsigned (&d)[count], unsigned stage, unsigned group,
                                             unsigned i, bool adds)
{
    mma::group_fence();
    multiply_core<E, R, T>(d, stage, group, i, adds);
    mma::group_commit();
    mma::group_wait<0>();
    mma::hold_registers(d);
}

template <typename T>
__device__ __forceinline__ unsigned stage_of(const struct pipeline &at, unsigned step)
{
    return at.stages + step % T::STAGES * (T::A_BYTES + T::B_BYTES);
}

template <typename T>
__device__ __forceinline__ void wait_for(const struct pipeline &at, unsigned step)
{
    barrier_wait(at.full + 8 * (step % T::STAGES), step / T::STAGES % 2);
    __syncwarp();
}

template <typename T>
__device__ __forceinline__ void free_stage(const struct pipeline &at, unsigned step)
{
    const unsigned lane = threadIdx.x % 32, empty = at.empty + 8 * (step % T::STAGES);
    if (T::BLOCKS == 1 && lane == 0)
        barrier_arrive(empty);
    if (T::BLOCKS > 1 && lane < T::BLOCKS)
        barrier_arrive_at(empty, lane);
}

/* Adds the sums of a chain, which has ended with so many instructions. */
template <enum promotion how, int count>
__device__ __forceinline__ void end_chain(unsigned (&all)[count], const unsigned (&d)[count],
                                          const struct instructed &p, const struct lane_place &lies,
                                          unsigned done)
{
    if constexpr (how == SCALED)
        promote_scaled(all, d, p, lies, (done - 1) / p.k.per_chain * p.k.chain);
    else
        promote(all, d);
}

/* One chain at a time. Chains end between steps where they have whole steps; else, instructions are
 * taken one by one. */
template <enum mma_element E, enum format R, typename T, enum promotion how, int count>
__device__ __forceinline__ void
multiply_chains(unsigned (&all)[count], unsigned (&d)[count], const struct instructed &p,
                const struct lane_place &lies, const struct pipeline &at, unsigned group)
{
    const unsigned steps = p.k.padded / CORE_STEP, end = p.k.instructions;
    const bool between = p.k.per_chain % CORE_STEP == 0 || p.k.per_chain == end;
    for (unsigned s = 0; s < steps; s++) {
        const unsigned stage = stage_of<T>(at, s);
        wait_for<T>(at, s);
        if (between && end - s * CORE_STEP >= CORE_STEP) {
            const bool begins = s * CORE_STEP % p.k.per_chain == 0;
            mma::group_fence();
#pragma unroll
            for (unsigned i = 0; i < CORE_STEP; i++)
                multiply_core<E, R, T>(d, stage, group, i, how == ZEROED || !begins || i > 0);
            mma::group_commit();
            mma::group_wait<0>();
            mma::hold_registers(d);
            const unsigned done = (s + 1) * CORE_STEP;
            if (done % p.k.per_chain == 0 || done == end) {
                end_chain<how>(all, d, p, lies, done);
                if (how == ZEROED)
                    make_zeros(d);
            }
        } else {
            for (unsigned done = s * CORE_STEP + 1; done <= (s + 1) * CORE_STEP && done <= end;
                 done++) {
                const bool begins = (done - 1) % p.k.per_chain == 0;
                multiply_one<E, R, T>(d, stage, group, (done - 1) % CORE_STEP,
                                      how == ZEROED || !begins);
                if (done % p.k.per_chain == 0 || done == end) {
                    end_chain<how>(all, d, p, lies, done);
                    if (how == ZEROED)
                        make_zeros(d);
                }
            }
        }
        free_stage<T>(at, s);
    }
}

/* The steps of a chain, from `s` up to `end`. In the first of them the chain before it has ended,
 * and is added up while this one is under way. The last step is still under way in the end. */
template <enum mma_element E, enum format R, typename T, int count>
__device__ __forceinline__ void multiply_chain(unsigned (&all)[count], unsigned (&d)[count],
                                               unsigned (&before)[count], unsigned s, unsigned end,
                                               const struct pipeline &at, unsigned group)
{
    for (const unsigned first = s; s < end; s++) {
        const unsigned stage = stage_of<T>(at, s);
        wait_for<T>(at, s);
        mma::group_fence();
#pragma unroll
        for (unsigned i = 0; i < CORE_STEP; i++)
            multiply_core<E, R, T>(d, stage, group, i, s > first || i > 0);
        mma::group_commit();
        mma::group_wait<1>();
        if (s > 0)
            free_stage<T>(at, s - 1);
        if (s == first && s > 0) {
            mma::hold_registers(before);
            promote(all, before);
        }
    }
}

/* What is left of k behind whole steps: a part of the last chain, or a chain of its own. */
template <enum mma_element E, enum format R, typename T, int count>
__device__ __forceinline__ void multiply_rest(unsigned (&all)[count], unsigned (&d)[count],
                                              const struct instructed &p, const struct pipeline &at,
                                              unsigned group)
{
    const unsigned whole = p.k.instructions / CORE_STEP, left = p.k.instructions % CORE_STEP;
    const bool begins = whole * CORE_STEP % p.k.per_chain == 0;
    mma::group_wait<0>();
    mma::hold_registers(d);
    if (left > 0) {
        if (begins && whole > 0)
            promote(all, d);
        wait_for<T>(at, whole);
        for (unsigned i = 0; i < left; i++)
            multiply_one<E, R, T>(d, stage_of<T>(at, whole), group, i, !begins || i > 0);
    }
    promote(all, d);
}

template <enum mma_element E, enum format R, typename T, int count>
__device__ __forceinline__ void multiply_turns(unsigned (&all)[count], unsigned (&d)[count],
                                               const struct instructed &p,
                                               const struct pipeline &at, unsigned group)
{
    const unsigned whole = p.k.instructions / CORE_STEP;
    const unsigned each = p.k.per_chain / CORE_STEP > 0 ? p.k.per_chain / CORE_STEP : 1;
    unsigned other[count];
    make_zeros(other);
    if (p.k.instructions == 0)
        return;
    for (unsigned s = 0;;) {
        unsigned end = whole - s < each ? whole : s + each;
        multiply_chain<E, R, T>(all, d, other, s, end, at, group);
        if (end == whole)
            return multiply_rest<E, R, T>(all, d, p, at, group);
        s = end;
        end = whole - s < each ? whole : s + each;
        multiply_chain<E, R, T>(all, other, d, s, end, at, group);
        if (end == whole)
            return multiply_rest<E, R, T>(all, other, p, at, group);
        s = end;
    }
}

template <enum mma_element E, enum format R, typename T, enum promotion how, int count>
__device__ __forceinline__ void
promote_all(unsigned (&all)[count], unsigned (&d)[count], const struct instructed &p,
            const struct lane_place &lies, const struct pipeline &at, unsigned group)
{
    const bool between = p.k.per_chain % CORE_STEP == 0 || p.k.per_chain == p.k.instructions;
    make_zeros(d);
    if ((how == TURNS || how == PAIRS) && between)
        multiply_turns<E, R, T>(all, d, p, at, group);
    else
        multiply_chains<E, R, T, how>(all, d, p, lies, at, group);
}

template <enum mma_element E, enum format R, bool promotes, enum promotion how>
__global__ static void __launch_bounds__(group_threads<promotes, how>, 1)
    multiply_by_group(const __grid_constant__ struct instructed p)
{
    typedef typename tile_for<promotes, how>::type T;
    constexpr int COUNT = T::ACROSS / (R == FP16 ? 4 : 2);
    extern __shared__ uint4 stages[];
    __shared__ uint64_t full[T::STAGES], empty[T::STAGES];
    const struct pipeline at = {(shared_address(stages) + T::ALIGNMENT - 1) / T::ALIGNMENT *
                                    T::ALIGNMENT,
                                shared_address(full), shared_address(empty)};
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    unsigned down, across;
    tile_of(p, T::BLOCKS, blockIdx.x / T::BLOCKS, &down, &across);
    down = down * T::BLOCKS + blockIdx.x % T::BLOCKS;
    const bool outside = down >= p.down; /* brings its half of B, and stores nothing */
    if (threadIdx.x == 0) {
        for (unsigned s = 0; s < T::STAGES; s++) {
            barrier_make(at.full + 8 * s, 1);
            barrier_make(at.empty + 8 * s, T::BLOCKS * T::MULTIPLYING / 32);
        }
        asm volatile("fence.mbarrier_init.release.cluster;\nfence.proxy.async;" ::: "memory");
    }
    wait_for_blocks<T::BLOCKS>();
    if (warp >= T::MULTIPLYING / 32) {
        if constexpr (exchanges_registers<promotes, how>)
            give_registers<40>();
        if (warp == T::MULTIPLYING / 32 && lane == 0)
            bring<T>(p, at, outside ? p.down - 1 : down, across);
    } else {
        if constexpr (exchanges_registers<promotes, how>)
            take_registers<232>();
        const size_t row = (size_t)(outside ? p.down - 1 : down) * T::DOWN + warp * 16 + lane / 4;
        const size_t column = (size_t)across * T::ACROSS + lane % 4 * 2,
                     begin = (row * p.wide + column) / 2;
        unsigned d[COUNT];
        if constexpr (promotes) {
            unsigned all[COUNT];
            load_tile<R>(all, p, begin);
            promote_all<E, R, T, how>(all, d, p, {row, column}, at, warp / 4);
            if (!outside)
                store_tile<R>(p, all, begin);
        } else {
            load_tile<R>(d, p, begin);
            mma::hold_registers(d);
            multiply_all<E, R, T>(d, p, at, warp / 4);
            store_tile<R>(p, d, begin);
        }
    }
    if (T::BLOCKS > 1) /* the other block may still count at a barrier of this one */
        wait_for_blocks<T::BLOCKS>();
}

/* Of so many tiles. */
template <enum mma_element E, enum format R, bool promotes, enum promotion how>
static int launch_group(const struct instructed &p, cudaStream_t stream)
{
    typedef typename tile_for<promotes, how>::type T;
    auto *kernel = multiply_by_group<E, R, promotes, how>;
    cudaLaunchAttribute cluster = {};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = T::BLOCKS;
    cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = (p.down + T::BLOCKS - 1) / T::BLOCKS * T::BLOCKS * p.across;
    config.blockDim = group_threads<promotes, how>;
    config.dynamicSmemBytes = T::BYTES;
    config.stream = stream;
    config.attrs = &cluster;
    config.numAttrs = T::BLOCKS > 1;
    return cudaLaunchKernelEx(&config, kernel, p);
}

} // namespace gemm
