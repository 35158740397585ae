/* Elements side by side, read by one instruction. */
#pragma once

#include <type_traits>

#include "kernels/device/device.cuh"

/* V elements, read once and not again. */
template <typename S, unsigned V> struct wide {
    typedef std::conditional_t<
        V * sizeof(S) == 2, unsigned short,
        std::conditional_t<V * sizeof(S) == 4, unsigned,
                           std::conditional_t<V * sizeof(S) == 8, uint2, uint4>>>
        word;
    static_assert(sizeof(word) == V * sizeof(S), "");
    S x[V];
    __device__ void from(const S *address)
    {
        word bits = __ldcs((const word *)address);
        memcpy(x, &bits, sizeof bits);
    }
};
