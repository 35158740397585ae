/* Elements as binned.cuh takes them: a lane's part of what a warp reads at once, how large it is,
 * and elements as numbers that are cut.
 *
 * S is the storage's type; T, float or double, what elements are cut in. As a T, an element is
 * itself times 2^(its scale), see `as_work`. */
#pragma once

#include "kernels/device/device.cuh"

template <size_t bytes> struct bits_of_bytes;
template <> struct bits_of_bytes<2> {
    typedef unsigned short type;
};
template <> struct bits_of_bytes<4> {
    typedef unsigned type;
};
template <> struct bits_of_bytes<8> {
    typedef unsigned long long type;
};
template <typename X> using bits_type = typename bits_of_bytes<sizeof(X)>::type;

template <typename X> __device__ inline bits_type<X> bits_of(X x)
{
    bits_type<X> bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

template <typename X> struct layout; /* of encodings */
template <> struct layout<__half> {
    static constexpr int fraction = 10, bias = 15;
};
template <> struct layout<__nv_bfloat16> {
    static constexpr int fraction = 7, bias = 127;
};
template <> struct layout<float> {
    static constexpr int fraction = 23, bias = 127;
};
template <> struct layout<double> {
    static constexpr int fraction = 52, bias = 1023;
};

/* 1.5 2^exponent, or 2^exponent. */
template <typename T> __device__ inline T power_of_two(int exponent, bool and_half)
{
    typedef layout<T> l;
    bits_type<T> bits = (bits_type<T>)(exponent + l::bias) << l::fraction;
    bits |= (bits_type<T>)and_half << (l::fraction - 1);
    T x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

__device__ inline float subtract(float a, float b)
{
    return __fsub_rn(a, b);
}
__device__ inline double subtract(double a, double b)
{
    return __dsub_rn(a, b);
}

/* Elements as a T. The instruction that converts to double is slow; where the storage is narrower,
 * a float's exponent and fraction are moved to their places, and the double is the float's value
 * times 2^-896, also where that is subnormal. */
constexpr int moved_scale = -896;
template <typename T, typename S> struct as_work;
template <typename S> struct as_work<float, S> {
    static constexpr int scale = 0;
    static __device__ float of(S x) { return convert<float>(x); }
};
template <typename S> struct as_work<double, S> {
    static constexpr int scale = moved_scale;
    static __device__ double of(S x)
    {
        int bits = __float_as_int(convert<float>(x));
        return __hiloint2double((bits >> 3) & 0x8fffffff, (int)((unsigned)bits << 29));
    }
};
template <> struct as_work<double, double> {
    static constexpr int scale = 0;
    static __device__ double of(double x) { return x; }
};

/* ---- a lane's part of what a warp reads at once ---- */

/* The larger magnitude, or NaN with any NaN: one instruction where there is one. */
__device__ inline float larger(float top, float x)
{
#if __CUDA_ARCH__ >= 800
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(top) : "f"(top), "f"(fabsf(x)));
    return top;
#else
    return top <= fabsf(x) || isnan(x) ? fabsf(x) : top;
#endif
}

template <typename S> struct lane_piece {
    static constexpr unsigned loads = 4, width = loads * sizeof(uint4) / sizeof(S);
    uint4 raw[loads];

    __device__ void load(const uint4 *from)
    {
#pragma unroll
        for (unsigned i = 0; i < loads; i++)
            raw[i] = __ldcs(from + i * warp_lanes);
    }

    /* Fewer than a warp's piece, aligned anyhow; -0 in the places that are left. */
    __device__ void load_some(const S *from, unsigned count)
    {
        S x[width];
#pragma unroll
        for (unsigned i = 0; i < width; i++) {
            unsigned place = i * warp_lanes + threadIdx.x % warp_lanes;
            x[i] = place < count ? from[place] : rounded<S>(-0.0f);
        }
        memcpy(raw, x, sizeof raw);
    }

    __device__ S get(unsigned i) const
    {
        S x[width];
        memcpy(x, raw, sizeof x);
        return x[i];
    }
};

/* A number that grows with the largest magnitude of a piece, NaN or inf with any NaN or inf among
 * the elements: that magnitude, or of doubles their upper halves taken for floats, which are NaN or
 * inf from 2^1017 on too. */
__device__ inline float top_of(const lane_piece<float> &piece)
{
    float top = 0;
#pragma unroll
    for (unsigned i = 0; i < piece.width; i++)
        top = larger(top, piece.get(i));
    return top;
}

__device__ inline float top_of(const lane_piece<double> &piece)
{
    float top = 0;
#pragma unroll
    for (unsigned i = 0; i < piece.width; i++)
        top = larger(top, __int_as_float(__double2hiint(piece.get(i))));
    return top;
}

template <typename Pair, typename S> __device__ inline Pair top_pair(const lane_piece<S> &piece)
{
    Pair pair[piece.width / 2];
    memcpy(pair, piece.raw, sizeof pair);
    Pair top = __habs2(pair[0]);
#pragma unroll
    for (unsigned i = 1; i < piece.width / 2; i++)
        top = __hmax2_nan(top, __habs2(pair[i]));
    return top;
}

__device__ inline float top_of(const lane_piece<__half> &piece)
{
    __half2 top = top_pair<__half2>(piece);
    return larger(__low2float(top), __high2float(top));
}

__device__ inline float top_of(const lane_piece<__nv_bfloat16> &piece)
{
    __nv_bfloat162 top = top_pair<__nv_bfloat162>(piece);
    return larger(__low2float(top), __high2float(top));
}

/* What `top_of` is below where all elements are below 2^exponent. */
template <typename S> __device__ inline float top_limit(int exponent)
{
    if (sizeof(S) == sizeof(double))
        return exponent + layout<double>::bias < 0x7f8
                   ? __int_as_float((exponent + layout<double>::bias) << 20)
                   : INFINITY;
    return exponent <= layout<float>::bias ? power_of_two<float>(exponent, false) : INFINITY;
}
