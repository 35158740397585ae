/* Elements in the accumulator's type, for calls of CUB and Thrust that add in the elements' own. */
#pragma once

#include <type_traits>

#include <thrust/iterator/transform_iterator.h>

#include "kernels/device/device.cuh"

template <typename A> struct converted {
    template <typename S> __device__ A operator()(S x) const { return convert<A>(x); }
};

/* Calls `use` with elements of the type A, however they are stored. */
template <typename S, typename A, typename Use>
int with_elements(const struct cuda_task *t, Use use)
{
    const S *in = (const S *)t->of->in.data;
    if constexpr (std::is_same<S, A>::value)
        return use(in);
    else
        return use(thrust::make_transform_iterator(in, converted<A>()));
}
