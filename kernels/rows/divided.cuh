/* kernels/rows/divided.h on the device. */
#pragma once

#include "kernels/rows/elementary.cuh"
#include "kernels/rows/statistics.cuh"
#include "reference/exact/epsilon.h"

template <typename A> __device__ inline A divided_scale(A square, double epsilon)
{
    return rsqrt_rounded(add(square, rounded<A>(epsilon)));
}
