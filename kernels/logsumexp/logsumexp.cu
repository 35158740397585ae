/* logsumexp on a GPU: the orders are kernels/logsumexp/logsumexp.c's; how a GPU goes about it
 * stands in kernels/rows/exponentials.cuh. */
#include "kernels/rows/exponentials.cuh"

namespace
{

template <typename A> struct log_of_row {
    static constexpr bool each = false;
    template <typename S>
    static __device__ void write(const statistics::elements<S> &,
                                 const statistics::exponentials<A> &e,
                                 const statistics::results<A> &y, size_t first, size_t)
    {
        if (first == 0)
            y.put(0, isinf(convert<double>(e.max)) ? e.max : add(log_rounded(e.sum), e.max));
    }
};

} // namespace

EXPONENTIALS_CUDA(logsumexp, log_of_row)
