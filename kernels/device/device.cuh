/* Device arithmetic: what every .cu file stands on.
 *
 * A method is written once, as templates over S, the storage's type, and A, the accumulator's.
 * Conversions round to nearest, ties to even, once; additions are explicit intrinsics, which no
 * compiler contracts or reorders. Subnormals are kept, overflow gives an infinity.
 *
 * A place that no element fills holds -0, the identity of a rounded addition: x + -0 is x for
 * every x, both zeros included (+0 would turn -0 into +0). So a fold over such places has the bits
 * of a fold that skips them. Only the sum of nothing is +0, and is written where it arises. */
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>

#include "kernels/device/cuda.h"

/* The list of formats: calls `use` with a value of the type that stands for f on the device. Those
 * that additions are done in; */
template <typename Use> int with_type(enum format f, Use use)
{
    switch ((enum accumulator)f) {
    case IN_FP16:
        return use(__half());
    case IN_BF16:
        return use(__nv_bfloat16());
    case IN_FP32:
        return use(float());
    case IN_FP64:
        return use(double());
    }
    return cudaErrorInvalidValue;
}

/* and all that elements are stored in. */
template <typename Use> int with_stored(enum format f, Use use)
{
    switch (f) {
    case FP16:
    case BF16:
    case FP32:
    case FP64:
        return with_type(f, use);
    case E4M3:
        return use(__nv_fp8_e4m3());
    case E5M2:
        return use(__nv_fp8_e5m2());
    }
    return cudaErrorInvalidValue;
}

/* Enqueues what is due to no elements where sums are several: +0 for each. A cudaError_t. */
inline int enqueue_zeros(const struct cuda_task *t)
{
    return cudaMemsetAsync(t->out, 0, t->of->bins * (size_t)format_facts[t->output].bytes,
                           (cudaStream_t)t->stream);
}

/* Calls `use` with values of the types S and A of a task: the 16 pairs of formats of 16 bits and
 * more; */
template <typename Use> int with_types(const struct cuda_task *t, Use use)
{
    return with_type(t->of->in.format, [&](auto s) {
        return with_type(t->accumulator, [&](auto a) { return use(s, a); });
    });
}

/* all 24 pairs. */
template <typename Use> int with_stored_types(const struct cuda_task *t, Use use)
{
    return with_stored(t->of->in.format, [&](auto s) {
        return with_type(t->accumulator, [&](auto a) { return use(s, a); });
    });
}

/* How a method with a template run<S, A> is enqueued. */
#define BY_TYPES(run)                                                                              \
    [](const struct cuda_task *t) {                                                                \
        return with_types(t, [t](auto s, auto a) { return run<decltype(s), decltype(a)>(t); });    \
    }

/* Calls `use` with values of the types S and A of a scan and O, its outputs', which is one of the
 * two: all 28 combinations. */
template <typename Use> int with_scan_types(const struct cuda_task *t, Use use)
{
    return with_types(t, [&](auto s, auto a) -> int {
        if (t->output == t->accumulator)
            return use(s, a, a);
        return t->output == t->of->in.format ? use(s, a, s) : cudaErrorInvalidValue;
    });
}

/* Rounding to A, from what holds every fp16, bf16 and fp32 value, and from fp64. */
template <typename A> __device__ A rounded(float x);
template <typename A> __device__ A rounded(double x);
template <> __device__ inline __half rounded(float x)
{
    return __float2half_rn(x);
}
template <> __device__ inline __nv_bfloat16 rounded(float x)
{
    return __float2bfloat16_rn(x);
}
template <> __device__ inline float rounded(float x)
{
    return x;
}
template <> __device__ inline double rounded(float x)
{
    return x;
}
/* Not through fp32: that would round twice. Both of these round once on every architecture. */
template <> __device__ inline __half rounded(double x)
{
    return __double2half(x);
}
template <> __device__ inline __nv_bfloat16 rounded(double x)
{
    return __double2bfloat16(x);
}
template <> __device__ inline float rounded(double x)
{
    return __double2float_rn(x);
}
template <> __device__ inline double rounded(double x)
{
    return x;
}

/* An element as a value of the accumulator's format. */
template <typename A> __device__ inline A convert(__half x)
{
    return rounded<A>(__half2float(x));
}
template <typename A> __device__ inline A convert(__nv_bfloat16 x)
{
    return rounded<A>(__bfloat162float(x));
}
template <typename A> __device__ inline A convert(float x)
{
    return rounded<A>(x);
}
template <typename A> __device__ inline A convert(double x)
{
    return rounded<A>(x);
}
template <> __device__ inline __half convert(__half x)
{
    return x;
}
template <> __device__ inline __nv_bfloat16 convert(__nv_bfloat16 x)
{
    return x;
}

/* Every number of 8 bits is one of fp16. */
__device__ inline __half half_of(__nv_fp8_storage_t x, __nv_fp8_interpretation_t format)
{
    return __half(__nv_cvt_fp8_to_halfraw(x, format));
}
template <typename A> __device__ inline A convert(__nv_fp8_e4m3 x)
{
    return convert<A>(half_of(x.__x, __NV_E4M3));
}
template <typename A> __device__ inline A convert(__nv_fp8_e5m2 x)
{
    return convert<A>(half_of(x.__x, __NV_E5M2));
}

/* Read once and not again, as cuda_fp16.h has it for fp16. */
__device__ inline __nv_fp8_e4m3 __ldcs(const __nv_fp8_e4m3 *from)
{
    __nv_fp8_e4m3 x;
    x.__x = __ldcs((const unsigned char *)from);
    return x;
}
__device__ inline __nv_fp8_e5m2 __ldcs(const __nv_fp8_e5m2 *from)
{
    __nv_fp8_e5m2 x;
    x.__x = __ldcs((const unsigned char *)from);
    return x;
}

/* The `_rn` variants are never fused with a multiplication. */
__device__ inline __half add(__half a, __half b)
{
    return __hadd_rn(a, b);
}
__device__ inline __nv_bfloat16 add(__nv_bfloat16 a, __nv_bfloat16 b)
{
    return __hadd_rn(a, b);
}
__device__ inline float add(float a, float b)
{
    return __fadd_rn(a, b);
}
__device__ inline double add(double a, double b)
{
    return __dadd_rn(a, b);
}

template <typename A> __device__ inline A minus_zero()
{
    return rounded<A>(-0.0f);
}

/* What a method writes: the fold of n elements, or the sum of nothing. */
template <typename A> __device__ inline A sum_of(size_t n, A fold)
{
    return n > 0 ? fold : rounded<A>(0.0f);
}

constexpr unsigned warp_lanes = 32;
constexpr unsigned block_lanes = 1024; /* the most that a block has, on every device */
constexpr unsigned whole_warp = 0xffffffff;

/* The lanes that run `threads` threads: whole warps. Those beyond `threads` hold no elements. */
inline unsigned lanes_for(unsigned threads)
{
    return (threads + warp_lanes - 1) / warp_lanes * warp_lanes;
}

/* ceil(n / size) without overflow. */
__host__ __device__ inline size_t groups_of(size_t n, size_t size)
{
    return n / size + (n % size != 0);
}

/* A grid that gives each group a block, as far as grids go; kernels step on by gridDim.x. */
inline unsigned grid_for(size_t groups)
{
    return groups == 0 ? 1 : groups < 0x7fffffff ? (unsigned)groups : 0x7fffffff;
}

/* Folds the lanes of a warp by halving: 16, 8, 4, 2, 1 lanes apart. Every lane gets the result
 * (addition commutes: both partners compute the same bits). */
template <typename A> __device__ inline A warp_halving(A v)
{
    for (unsigned stride = warp_lanes / 2; stride > 0; stride /= 2)
        v = add(v, __shfl_xor_sync(whole_warp, v, stride));
    return v;
}

/* Folds the lanes of a block, whole warps of them, by halving: in shared memory (blockDim.x
 * places, which must not be in use), then in the first warp, whose lanes get the result. */
template <typename A> __device__ inline A block_halving(A v, A *shared)
{
    shared[threadIdx.x] = v;
    __syncthreads();
    for (unsigned stride = block_lanes / 2; stride >= warp_lanes; stride /= 2) {
        if (stride >= blockDim.x)
            continue;
        if (threadIdx.x < stride && threadIdx.x + stride < blockDim.x)
            shared[threadIdx.x] = add(shared[threadIdx.x], shared[threadIdx.x + stride]);
        __syncthreads();
    }
    return threadIdx.x < warp_lanes ? warp_halving(shared[threadIdx.x]) : v;
}

/* For methods that need none. */
static inline size_t no_workspace(const struct cuda_task *)
{
    return 0;
}
