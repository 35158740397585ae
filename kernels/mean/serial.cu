/* mean/serial: the sum, one after the other, divided by n: one thread's walk
 * (kernels/blocks/serial.cuh). */
#include "kernels/mean/quotient.cuh"
#include "kernels/blocks/serial.cuh"

namespace
{

template <typename A> struct divided_sum {
    A sum = minus_zero<A>();
    template <typename S> __device__ void step(S x, size_t) { sum = add(sum, convert<A>(x)); }
    __device__ A result(size_t n) const { return quotient(sum, n); }
};

} // namespace

extern "C" const struct cuda_method mean_serial_cuda = {no_workspace, no_workspace,
                                                        serial_order::method<divided_sum>::enqueue};
