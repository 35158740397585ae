/* norm/serial: the root of squares, one after the other: one thread's walk
 * (kernels/blocks/serial.cuh).
 */
#include "kernels/norm/root.cuh"
#include "kernels/blocks/serial.cuh"

namespace
{

template <typename A> struct running_squares {
    A sum = minus_zero<A>();
    template <typename S> __device__ void step(S x, size_t) { sum = add(sum, product<A>(x, x)); }
    __device__ A result(size_t n) const { return square_root(sum_of(n, sum)); }
};

} // namespace

extern "C" const struct cuda_method norm_serial_cuda = {
    no_workspace, no_workspace, serial_order::method<running_squares>::enqueue};
