/* The elements of a sum that is divided by n: leaves and root of a tree (kernels/blocks/piece.cuh).
 */
#pragma once

#include "kernels/mean/quotient.cuh"
#include "kernels/blocks/tiled.cuh"

template <typename A> struct divided_elements : elements<A> {
    template <typename P> __device__ A result(size_t n, const P &root) const
    {
        return quotient(root.value(), n);
    }
};
