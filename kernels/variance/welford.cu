/* variance/welford: one pass, with a mean that runs along: one thread's walk
 * (kernels/blocks/serial.cuh). The steps are kernels/variance/welford.c's. */
#include "kernels/mean/running.cuh"
#include "kernels/blocks/serial.cuh"

namespace
{

template <typename A> struct moments {
    A mean = rounded<A>(0.0f), scatter = mean;
    template <typename S> __device__ void step(S element, size_t k)
    {
        A x = convert<A>(element);
        if (k == 1) {
            mean = x;
            scatter = subtract(x, x);
            return;
        }
        A before = subtract(x, mean);
        mean = running_mean(mean, before, k);
        scatter = add(scatter, multiply(before, subtract(x, mean)));
    }
    __device__ A result(size_t n) const { return quotient(scatter, n); }
};

} // namespace

extern "C" const struct cuda_method variance_welford_cuda = {
    no_workspace, no_workspace, serial_order::method<moments>::enqueue};
