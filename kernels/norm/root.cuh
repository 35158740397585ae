/* What norms share that are roots of sums of squares, on the device. */
#pragma once

#include "kernels/blocks/product.cuh"

/* Rounded once: kernels/norm/root.h says why a root in double may be rounded again. */
template <typename A> __device__ inline A square_root(A x)
{
    return rounded<A>(__dsqrt_rn(convert<double>(x)));
}
