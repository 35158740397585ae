/* asum/serial: magnitudes, one after the other: one thread's walk (kernels/blocks/serial.cuh). */
#include "kernels/blocks/serial.cuh"
#include "kernels/device/two_sum.cuh"

namespace
{

template <typename A> struct running_sum {
    A sum = rounded<A>(0.0f);
    template <typename S> __device__ void step(S x, size_t)
    {
        sum = add(sum, magnitude(convert<A>(x)));
    }
    __device__ A result(size_t) const { return sum; }
};

} // namespace

extern "C" const struct cuda_method asum_serial_cuda = {no_workspace, no_workspace,
                                                        serial_order::method<running_sum>::enqueue};
