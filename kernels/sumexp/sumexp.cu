/* sumexp on a GPU: the orders are kernels/sumexp/sumexp.c's; how a GPU goes about it stands in
 * kernels/rows/exponentials.cuh. */
#include "kernels/rows/exponentials.cuh"

namespace
{

template <typename A> struct sum_of_row {
    static constexpr bool each = false;
    template <typename S>
    static __device__ void write(const statistics::elements<S> &,
                                 const statistics::exponentials<A> &e,
                                 const statistics::results<A> &y, size_t first, size_t)
    {
        if (first == 0)
            y.put(0, e.sum);
    }
};

} // namespace

EXPONENTIALS_CUDA(sumexp, sum_of_row)
