/* kernels/product/scaled.h on the device: products with their exponents kept apart.
 *
 * Significands of all accumulators but fp64 are kept in floats, in which a product of two of fp16
 * or bf16 is exact, so that it is rounded once. A significand need not lie in [1, 2) all the time:
 * as long as it stays far from the ends of the range, it is rounded to the same bits times a power
 * of two. */
#pragma once

#include <type_traits>

#include "kernels/device/device.cuh"

/* What significands of A are kept in, and elements of S without an error. */
template <typename A>
using wide = typename std::conditional<std::is_same<A, double>::value, double, float>::type;

template <typename W> struct layout;
template <> struct layout<float> {
    typedef unsigned bits;
    static constexpr int digits = 23, bias = 127, fields = 0xff;
    static constexpr float smallest_normal = 0x1p-126f, raise = 0x1p24f;
    static constexpr int raised = 24;
    static __device__ bits of(float x) { return __float_as_uint(x); }
    static __device__ float value(bits b) { return __uint_as_float(b); }
};
template <> struct layout<double> {
    typedef unsigned long long bits;
    static constexpr int digits = 52, bias = 1023, fields = 0x7ff;
    static constexpr double smallest_normal = 0x1p-1022, raise = 0x1p54;
    static constexpr int raised = 54;
    static __device__ bits of(double x) { return (bits)__double_as_longlong(x); }
    static __device__ double value(bits b) { return __longlong_as_double((long long)b); }
};

/* Leaves *m in [1, 2) and returns the exponent that it had. *m is not subnormal. Zeros, infinities
 * and NaNs stay as they are: a product with one of them is one again, whatever its exponent. */
template <typename W> __device__ inline int take_exponent(W *m)
{
    typedef layout<W> l;
    typename l::bits bits = l::of(*m), all = (typename l::bits)l::fields << l::digits;
    int field = (int)(bits >> l::digits) & l::fields;
    bool special = (unsigned)(field - 1) >= (unsigned)(l::fields - 1);
    *m = special ? *m : l::value((bits & ~all) | (typename l::bits)l::bias << l::digits);
    return field - l::bias;
}

__device__ inline float multiply_exactly(float a, float b)
{
    return __fmul_rn(a, b);
}
__device__ inline double multiply_exactly(double a, double b)
{
    return __dmul_rn(a, b);
}

/* a b, rounded once to A. */
template <typename A, typename W> __device__ inline W multiply_in(W a, W b)
{
    return convert<W>(rounded<A>(multiply_exactly(a, b)));
}

/* m 2^exponent. */
template <typename A> struct factor {
    wide<A> m;
    int exponent;
};

/* An element, its significand rounded to A: 1 <= |m| <= 2, or else it stays as it is. */
template <typename A, typename S> __device__ inline factor<A> factor_of(S x)
{
    typedef layout<wide<S>> l;
    wide<S> m = convert<wide<S>>(x);
    int exponent = 0;
    if (!std::is_same<S, __half>::value && fabs(m) < l::smallest_normal) {
        m = multiply_exactly(m, l::raise);
        exponent = -l::raised;
    }
    exponent += take_exponent(&m);
    return {convert<wide<A>>(rounded<A>(m)), exponent};
}

/* The value of 1 <= |m| <= 2, or one that stays as it is, rounded once. A double holds it, or it is
 * far below the range of A, or A is fp64 and the last multiplication is what rounds. */
template <typename A> __device__ inline A scaled_value(double m, long long exponent)
{
    if (exponent > 1023)
        return rounded<A>(m - m == 0 && m != 0 ? copysign(INFINITY, m) : m);
    if (exponent >= -1022)
        return rounded<A>(
            __dmul_rn(m, layout<double>::value((unsigned long long)(exponent + 1023) << 52)));
    exponent = max(exponent + 1022, -200ll);
    return rounded<A>(
        __dmul_rn(__dmul_rn(m, 0x1p-1022),
                  layout<double>::value((unsigned long long)(exponent + 1023) << 52)));
}
