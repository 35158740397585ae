/* Tiles of D by mma.sync, from fragments that lie packed (pack.cuh).
 *
 * A block of 2 x 4 warps has a tile; a warp has ROWS times 16 rows and COLUMNS times 16 columns of
 * it in registers. Steps of the packed k come into shared memory as they lie, three of them ahead
 * of the one that is multiplied; a lane loads its operands of an instruction 16 bytes at a time.
 */
#pragma once

#include "kernels/gemm/pack.cuh"
#include "kernels/mma/sync.cuh"

namespace gemm
{

/* What instructions are given: packed factors, C and D in `results`, the accumulator's format or,
 * for wgmma in fp32, one of 16 bits; their rows are `wide` elements apart. A's scales and B's,
 * where chains' sums are scaled. */
struct instructed {
    const uint4 *a, *b;
    struct chains k;
    size_t m, n, wide;
    unsigned down, across; /* tiles */
    const void *c;
    void *d;
    enum format results;
    struct matrices_scales scale[2];
};

/* Tiles that run at once are near each other: eight down before the next one across. A block has
 * one of `each` tiles that lie one below the other. */
__device__ inline void tile_of(const struct instructed &p, unsigned each, unsigned block,
                               unsigned *down, unsigned *across)
{
    const unsigned together = 8 / each, all = (p.down + each - 1) / each;
    const unsigned band = block / (together * p.across), first = band * together;
    const unsigned high = all - first < together ? all - first : together;
    const unsigned within = block - first * p.across;
    *down = first + within % high;
    *across = within / high;
}

template <enum mma_element E> struct sync_tile {
    static constexpr bool doubles = E == MMA_FP64;
    /* Of a warp, in groups of 16; of a block in rows and columns. */
    static constexpr int ROWS = doubles ? 2 : 4, COLUMNS = doubles ? 1 : 2;
    static constexpr unsigned DOWN = 2 * ROWS * 16, ACROSS = 4 * COLUMNS * 16;
    static constexpr unsigned ROW = doubles ? 128 : 32; /* bytes */
    static constexpr unsigned STEP = doubles ? 1 : 2, STAGES = 4;
    static constexpr unsigned GROUP = ROW; /* units of 16 rows of an instruction */
    static constexpr unsigned A_UNITS = STEP * DOWN / 16 * GROUP,
                              B_UNITS = STEP * ACROSS / 16 * GROUP;
    static constexpr unsigned THREADS = 256, BYTES = STAGES * (A_UNITS + B_UNITS) * 16;
};

__device__ inline void copy_unit(uint4 *to, const uint4 *from)
{
    asm volatile(
        "cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(to)),
        "l"(from)
        : "memory");
}

template <typename T>
__device__ inline void copy_step(uint4 *stage, const struct instructed &p, unsigned down,
                                 unsigned across, unsigned step)
{
    const unsigned steps = p.k.padded / T::STEP;
    const uint4 *a = p.a + ((size_t)down * steps + step) * T::A_UNITS;
    const uint4 *b = p.b + ((size_t)across * steps + step) * T::B_UNITS;
    static_assert(T::A_UNITS % T::THREADS == 0 && T::B_UNITS % T::THREADS == 0, "");
    if (step < steps) {
#pragma unroll
        for (unsigned i = 0; i < T::A_UNITS; i += T::THREADS)
            copy_unit(stage + i + threadIdx.x, a + i + threadIdx.x);
#pragma unroll
        for (unsigned i = 0; i < T::B_UNITS; i += T::THREADS)
            copy_unit(stage + T::A_UNITS + i + threadIdx.x, b + i + threadIdx.x);
    }
    asm volatile("cp.async.commit_group;" ::: "memory"); /* an empty one too, so that they count */
}

/* The bits of C and D. */
template <enum format R> struct result_bits {
    typedef unsigned type;
};
template <> struct result_bits<FP16> {
    typedef unsigned short type;
};
template <> struct result_bits<FP64> {
    typedef double type;
};

/* A lane's part of 16 x 8 elements of D. */
template <enum format R> struct part {
    unsigned d[R == FP16 ? 2 : 4];
    __device__ void set(int i, unsigned bits)
    {
        if (R == FP16)
            d[i / 2] = i % 2 ? d[i / 2] | bits << 16 : bits;
        else
            d[i] = bits;
    }
    __device__ unsigned get(int i) const { return R == FP16 ? d[i / 2] >> (i % 2 * 16) : d[i]; }
};
template <> struct part<FP64> {
    double d[4];
    __device__ void set(int i, double x) { d[i] = x; }
    __device__ double get(int i) const { return d[i]; }
};

/* An instruction's worth of all that a warp has. */
template <enum mma_element E, enum format R, typename T>
__device__ inline void multiply_step(part<R> (&sum)[T::ROWS][2 * T::COLUMNS], const uint4 *a,
                                     const uint4 *b)
{
    const unsigned lane = threadIdx.x % 32;
    if constexpr (T::doubles) {
        double x[T::ROWS][8], y[2 * T::COLUMNS][4];
#pragma unroll
        for (int q = 0; q < 4; q++) {
#pragma unroll
            for (int i = 0; i < T::ROWS; i++)
                memcpy(&x[i][2 * q], a + i * T::GROUP + q * 32 + lane, 16);
#pragma unroll
            for (int j = 0; j < T::COLUMNS; j++) {
                double two[2];
                memcpy(two, b + j * T::GROUP + q * 32 + lane, 16);
                y[2 * j][q] = two[0];
                y[2 * j + 1][q] = two[1];
            }
        }
#pragma unroll
        for (int i = 0; i < T::ROWS; i++)
#pragma unroll
            for (int j = 0; j < 2 * T::COLUMNS; j++)
                mma::multiply_doubles(x[i], y[j], sum[i][j].d);
    } else {
        unsigned x[T::ROWS][4], y[2 * T::COLUMNS][2];
#pragma unroll
        for (int i = 0; i < T::ROWS; i++) {
            const uint4 u = a[i * T::GROUP + lane];
            x[i][0] = u.x, x[i][1] = u.y, x[i][2] = u.z, x[i][3] = u.w;
        }
#pragma unroll
        for (int j = 0; j < T::COLUMNS; j++) {
            const uint4 u = b[j * T::GROUP + lane];
            y[2 * j][0] = u.x, y[2 * j + 1][0] = u.y, y[2 * j][1] = u.z, y[2 * j + 1][1] = u.w;
        }
#pragma unroll
        for (int i = 0; i < T::ROWS; i++)
#pragma unroll
            for (int j = 0; j < 2 * T::COLUMNS; j++)
                mma::multiply<E, E, R>(x[i], y[j], sum[i][j].d);
    }
}

template <enum mma_element E, enum format R>
__global__ static void __launch_bounds__(sync_tile<E>::THREADS)
    multiply_by_sync(const __grid_constant__ struct instructed p)
{
    typedef sync_tile<E> T;
    typedef typename result_bits<R>::type bits;
    extern __shared__ uint4 stages[];
    constexpr unsigned STAGE = T::A_UNITS + T::B_UNITS;
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    unsigned down, across;
    tile_of(p, 1, blockIdx.x, &down, &across);
    const unsigned steps = p.k.padded / T::STEP;
    const size_t row = (size_t)down * T::DOWN + warp / 4 * T::ROWS * 16 + lane / 4;
    const size_t column = (size_t)across * T::ACROSS + warp % 4 * T::COLUMNS * 16 + lane % 4 * 2;
    for (unsigned s = 0; s + 1 < T::STAGES; s++)
        copy_step<T>(stages + s * STAGE, p, down, across, s);
    part<R> sum[T::ROWS][2 * T::COLUMNS];
#pragma unroll
    for (int i = 0; i < T::ROWS; i++)
#pragma unroll
        for (int j = 0; j < 2 * T::COLUMNS; j++)
#pragma unroll
            for (int e = 0; e < 4; e++) {
                const size_t r = row + i * 16 + e / 2 * 8, c = column + j * 8 + e % 2;
                sum[i][j].set(e,
                              r < p.m && c < p.n ? ((const bits *)p.c)[r * p.wide + c] : bits(0));
            }
    for (unsigned s = 0; s < steps; s++) {
        asm volatile("cp.async.wait_group %0;" ::"n"(T::STAGES - 2) : "memory");
        __syncthreads(); /* all have their part of step s, and none reads step s - 1 any more */
        copy_step<T>(stages + (s + T::STAGES - 1) % T::STAGES * STAGE, p, down, across,
                     s + T::STAGES - 1);
        const uint4 *a = stages + s % T::STAGES * STAGE + warp / 4 * T::ROWS * T::GROUP;
        const uint4 *b =
            stages + s % T::STAGES * STAGE + T::A_UNITS + warp % 4 * T::COLUMNS * T::GROUP;
#pragma unroll
        for (unsigned i = 0; i < T::STEP; i++)
            if (s * T::STEP + i < p.k.instructions)
                multiply_step<E, R, T>(sum, a + i * (T::DOWN / 16) * T::GROUP,
                                       b + i * (T::ACROSS / 16) * T::GROUP);
    }
    asm volatile("cp.async.wait_all;" ::: "memory");
#pragma unroll
    for (int i = 0; i < T::ROWS; i++)
#pragma unroll
        for (int j = 0; j < 2 * T::COLUMNS; j++)
#pragma unroll
            for (int e = 0; e < 4; e++) {
                const size_t r = row + i * 16 + e / 2 * 8, c = column + j * 8 + e % 2;
                if (r < p.m && c < p.n)
                    ((bits *)p.d)[r * p.wide + c] = (bits)sum[i][j].get(e);
            }
}

} // namespace gemm
