/* reference/exact/elementary.h on the device, for accumulators up to fp32: a double, whose error is
 * known, is taken where all that it may stand for rounds alike; else two doubles decide
 * (exp_pair.h). They can: of all x < 0 of fp32 a double leaves the rounding of exp open for 4, the
 * nearest of them 2^-53 of a tie away (tests/kernels/rows/exp_pair.c). Of log they are 46, 2^-58
 * away (computed once, held by no test).
 *
 * Source of the errors of exp and log in double, 1 ulp: CUDA C++ Programming Guide, mathematical
 * functions. `elementary_within` is 4 ulps or more. */
#pragma once

#include "kernels/blocks/product.cuh"
#include "kernels/rows/exp_pair.h"

constexpr double elementary_within = 0x1p-50;

/* `near`, to within WITHIN of it, rounded; else what `pair` gives. */
template <typename A, typename Pair> __device__ inline A settled(double near, const Pair &pair)
{
    double room = fabs(near) * elementary_within;
    A low = rounded<A>(near - room), high = rounded<A>(near + room);
    if (low == high)
        return low;
    double_pair y = pair();
    return round_pair<A>(y.hi, y.lo);
}

template <typename A> __device__ inline A exp_rounded(A x)
{
    double d = convert<double>(x);
    if (!(fabs(d) <= 150)) /* NaN, too; beyond what has a result but 0 and inf */
        return d != d ? x : rounded<A>(d > 0 ? INFINITY : 0.0f);
    return d == 0 ? rounded<A>(1.0f) : settled<A>(exp(d), [=] { return exp_pair(d); });
}

template <typename A> __device__ inline A log_rounded(A x)
{
    double d = convert<double>(x);
    if (!(d > 0) || isinf(d))
        return rounded<A>(d == 0 ? -INFINITY : d > 0 ? INFINITY : NAN);
    if (d == 1)
        return rounded<A>(0.0f);
    double near = log(d);
    return settled<A>(near, [=] { return log_pair(d, near); });
}

/* The error in double is below 2^-51: a rounded root of a half an ulp, and its reciprocal. */
template <typename A> __device__ inline A rsqrt_rounded(A x)
{
    double d = convert<double>(x);
    if (!(d > 0) || isinf(d))
        return rounded<A>(d == 0 ? INFINITY : d > 0 ? 0.0f : NAN);
    double near = __drcp_rn(__dsqrt_rn(d)), room = near * elementary_within;
    A low = rounded<A>(near - room), high = rounded<A>(near + room);
    if (low == high)
        return low;
    double tie = (convert<double>(low) + convert<double>(high)) / 2;
    return rsqrt_beyond(d, tie) > 0 ? high : low;
}
