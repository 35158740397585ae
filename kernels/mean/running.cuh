/* kernels/mean/running.h on the device. */
#pragma once

#include "kernels/mean/quotient.cuh"
#include "kernels/device/two_sum.cuh"

/* The mean of k elements by that of k - 1 of them, `away` = x - mean rounded, x the k-th. */
template <typename A> __device__ inline A running_mean(A mean, A away, size_t k)
{
    return add(mean, quotient(away, k));
}
