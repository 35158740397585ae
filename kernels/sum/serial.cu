/* sum/serial: one after the other.
 *
 * One thread adds each element to what it has so far (serial.cuh). */
#include "kernels/blocks/serial.cuh"

namespace
{

template <typename A> struct running_sum {
    A sum = minus_zero<A>();
    template <typename S> __device__ void step(S x, size_t) { sum = add(sum, convert<A>(x)); }
    __device__ A result(size_t n) const { return sum_of(n, sum); }
};

} // namespace

extern "C" const struct cuda_method sum_serial_cuda = {no_workspace, no_workspace,
                                                       serial_order::method<running_sum>::enqueue};
