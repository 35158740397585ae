/* Pieces (s, e), s + e being the sum: what sum/kahan, sum/neumaier, sum/sum2 and sum/blocked join
 * as sum/sum2 does (kernels/sum/sum2.c). */
#pragma once

#include "kernels/blocks/tiled.cuh"
#include "kernels/device/two_sum.cuh"

template <typename A> struct pair_sum : words_of<A, 2> {
    using words_of<A, 2>::w;

    /* s = s + b, which lost the error. */
    __device__ void join(const pair_sum &b, sum_and_error<A> s)
    {
        w[0] = s.sum;
        w[1] = add(w[1], add(b.w[1], s.error));
    }
    __device__ void join(const pair_sum &b) { join(b, two_sum(w[0], b.w[0])); }
    __device__ A value() const { return is_number_but_zero(w[1]) ? add(w[0], w[1]) : w[0]; }
};
