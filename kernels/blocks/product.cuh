/* kernels/blocks/product.h on the device: products x y of two elements as they are stored, rounded
 * once to A, or fused into a sum of A. Explicit intrinsics, which no compiler contracts.
 *
 * Where the elements have a multiplication of their own in A, or their product has no error in
 * fp32, that is used; else doubles, in which products of all formats but fp64 are exact. */
#pragma once

#include <type_traits>

#include "kernels/device/device.cuh"

template <typename A, typename S> constexpr bool same_type = std::is_same<A, S>::value;
template <typename A> constexpr bool is_16_bits = sizeof(A) == 2;

/* Does A hold the values of S? */
template <typename A, typename S> constexpr bool holds = same_type<A, S> || (sizeof(S) < sizeof(A));

__device__ inline __half multiply(__half x, __half y)
{
    return __hmul_rn(x, y);
}
__device__ inline __nv_bfloat16 multiply(__nv_bfloat16 x, __nv_bfloat16 y)
{
    return __hmul_rn(x, y);
}
__device__ inline float multiply(float x, float y)
{
    return __fmul_rn(x, y);
}
__device__ inline double multiply(double x, double y)
{
    return __dmul_rn(x, y);
}

__device__ inline __half multiply_add(__half x, __half y, __half z)
{
    return __hfma(x, y, z);
}
__device__ inline __nv_bfloat16 multiply_add(__nv_bfloat16 x, __nv_bfloat16 y, __nv_bfloat16 z)
{
    return __hfma(x, y, z);
}
__device__ inline float multiply_add(float x, float y, float z)
{
    return __fmaf_rn(x, y, z);
}
__device__ inline double multiply_add(double x, double y, double z)
{
    return __fma_rn(x, y, z);
}

/* Has A operations on the elements themselves, once they are converted, which is exact? Of 16 bits
 * only for its own: fp16 and bf16 do not hold each other's values. */
template <typename A, typename S>
constexpr bool native = same_type<A, S> || (!is_16_bits<A> && sizeof(S) <= sizeof(A));

/* hi + rest, |rest| less than an ulp of hi, rounded once: through the odd one of two doubles. */
template <typename A> __device__ inline A round_pair(double hi, double rest)
{
    long long bits = __double_as_longlong(hi);
    if (rest != 0 && hi - hi == 0 && bits % 2 == 0)
        bits += (rest > 0) == (hi > 0) ? 1 : -1;
    return rounded<A>(__longlong_as_double(bits));
}

__device__ inline double sum_and_rest(double a, double b, double *rest)
{
    double sum = __dadd_rn(a, b), of_b = __dsub_rn(sum, a);
    *rest = __dadd_rn(__dsub_rn(a, __dsub_rn(sum, of_b)), __dsub_rn(b, of_b));
    return sum;
}

template <typename A, typename S> __device__ inline A product(S x, S y)
{
    if constexpr (native<A, S>) {
        return multiply(convert<A>(x), convert<A>(y));
    } else {
        double a = convert<double>(x), b = convert<double>(y), hi = __dmul_rn(a, b);
        if constexpr (same_type<S, double>)
            return round_pair<A>(hi, __fma_rn(a, b, -hi));
        else
            return rounded<A>(hi);
    }
}

template <typename A, typename S> __device__ inline A fused(A to, S x, S y)
{
    if constexpr (native<A, S>) {
        return multiply_add(convert<A>(x), convert<A>(y), to);
    } else {
        double a = convert<double>(x), b = convert<double>(y), sum = convert<double>(to);
        double hi = __dmul_rn(a, b), lo = __fma_rn(a, b, -hi), rest, last;
        if (isinf(sum) && a - a == 0 && b - b == 0)
            return to;
        if (hi == 0 && sum == 0 && a != 0 && b != 0)
            return rounded<A>(hi);
        double all = sum_and_rest(hi, sum, &rest);
        if (all - all != 0 || (rest == 0 && lo == 0))
            return rounded<A>(all);
        rest = sum_and_rest(rest, lo, &last);
        all = sum_and_rest(all, rest, &rest);
        return round_pair<A>(all, __dadd_rn(rest, last));
    }
}

/* What the rounded product p lacks, where A holds the values of S. */
template <typename A, typename S> __device__ inline A product_error(A p, S x, S y)
{
    return multiply_add(convert<A>(x), convert<A>(y), -p);
}

/* Calls use(s, a, fuse) with values of the types S and A of a task, and whether products are fused:
 * a constant of type std::true_type or std::false_type. */
template <typename Use> int with_products(const struct cuda_task *t, Use use)
{
    return with_types(t, [&](auto s, auto a) -> int {
        if (t->of->product == PRODUCT_FUSED)
            return use(s, a, std::true_type());
        return t->of->product == PRODUCT_ROUNDED ? use(s, a, std::false_type())
                                                 : cudaErrorInvalidValue;
    });
}

/* sum + x y, as the task says. */
template <bool fuse, typename A, typename S> __device__ inline A add_product(A sum, S x, S y)
{
    if constexpr (fuse)
        return fused(sum, x, y);
    else
        return add(sum, product<A>(x, y));
}
