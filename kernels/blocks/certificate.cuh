/* When is a sum rounded correctly although it is not known exactly? When everything that it may be
 * rounds to one value. The sum is given as `sum` + `error`, off by at most `off`. */
#pragma once

#include "kernels/device/device.cuh"

/* What s = a + b, rounded, has lost: exactly, by Knuth's TwoSum, also where that is subnormal; no
 * number where the sum overflows or is none. */
__device__ inline double lost(double a, double b, double s)
{
    double of_b = __dsub_rn(s, a), of_a = __dsub_rn(s, of_b);
    return __dadd_rn(__dsub_rn(a, of_a), __dsub_rn(b, of_b));
}

__device__ inline bool is_number(double x)
{
    return x - x == 0;
}

/* a + b, rounded so that what lies between two doubles becomes the one whose last bit is 1. Rounded
 * once more, to at most 51 bits, that gives what rounding a + b at once would. */
__device__ inline double add_to_odd(double a, double b)
{
    double s = __dadd_rn(a, b), d = lost(a, b, s);
    long long bits = __double_as_longlong(s);
    if (d != 0 && bits % 2 == 0)
        bits += (d > 0) == (s > 0) ? 1 : -1;
    return __longlong_as_double(bits);
}

template <typename A> __device__ inline bool same(A a, A b)
{
    return a == b && signbit(convert<double>(a)) == signbit(convert<double>(b));
}

/* The sum rounded once to A, if sum + least .. sum + most all round to it. Two doubles that enclose
 * it mostly tell. */
template <typename A>
__device__ inline bool round_between(double sum, double least, double most, A *result)
{
    double low = __dadd_rd(sum, least), high = __dadd_ru(sum, most);
    if (!is_number(low) || !is_number(high))
        return false;
    *result = rounded<A>(low);
    if (same(*result, rounded<A>(high)))
        return true;
    *result = rounded<A>(add_to_odd(sum, least));
    return same(*result, rounded<A>(add_to_odd(sum, most)));
}
template <>
__device__ inline bool round_between(double sum, double least, double most, double *result)
{
    double a = __dadd_rn(sum, least), b = __dadd_rn(sum, most);
    *result = a;
    return is_number(a) && is_number(b) && __double_as_longlong(a) == __double_as_longlong(b);
}

template <typename A> constexpr bool is_bf16 = false;
template <> constexpr bool is_bf16<__nv_bfloat16> = true;

/* Do all numbers whose nearest double is x round to A as x does? They do where x is neither
 * half-way between neighbours in A, nor near zero, where these lie elsewhere. */
template <typename A> __device__ inline bool rounds_like_its_nearest(double x)
{
    constexpr int dropped = sizeof(A) == 4 ? 29 : is_bf16<A> ? 45 : 42;
    constexpr long long half = 1ll << (dropped - 1);
    constexpr double smallest = sizeof(A) == 4 || is_bf16<A> ? 0x1p-126 : 0x1p-14;
    return (__double_as_longlong(x) & (2 * half - 1)) != half && fabs(x) >= smallest;
}
template <> __device__ inline bool rounds_like_its_nearest<double>(double x)
{
    return x != 0;
}

/* Do all numbers that are less than a unit in its last place from x round to A as x does? */
template <typename A> __device__ inline bool rounds_like_its_neighbours(double x)
{
    constexpr unsigned long long half = 1ull << ((sizeof(A) == 4 ? 29 : is_bf16<A> ? 45 : 42) - 1);
    unsigned long long dropped = (unsigned long long)__double_as_longlong(x) & (2 * half - 1);
    return dropped - (half - 1) > 2 && rounds_like_its_nearest<A>(x) && is_number(x);
}

/* `sum` began as -0, so that it is -0 where all elements are; every other zero sum is +0. */
template <typename A>
__device__ inline bool round_certified(double sum, double error, double off, A *result)
{
    if (off == 0 && __dadd_rn(sum, error) == 0) {
        *result = rounded<A>(sum == 0 ? sum : 0.0);
        return true;
    }
    return round_between(sum, __dsub_rd(error, off), __dadd_ru(error, off), result);
}
