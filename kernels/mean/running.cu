/* mean/running: a mean that is corrected with each element, one after the other: one thread's walk
 * (kernels/blocks/serial.cuh). */
#include "kernels/mean/running.cuh"
#include "kernels/blocks/serial.cuh"

namespace
{

template <typename A> struct corrected_mean {
    A mean = rounded<A>(NAN); /* of nothing */
    template <typename S> __device__ void step(S element, size_t k)
    {
        A x = convert<A>(element);
        mean = k == 1 ? x : running_mean(mean, subtract(x, mean), k);
    }
    __device__ A result(size_t) const { return mean; }
};

} // namespace

extern "C" const struct cuda_method mean_running_cuda = {
    no_workspace, no_workspace, serial_order::method<corrected_mean>::enqueue};
