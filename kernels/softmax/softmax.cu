/* softmax on a GPU: the orders are kernels/softmax/softmax.c's; how a GPU goes about it stands in
 * kernels/rows/exponentials.cuh. */
#include "kernels/rows/exponentials.cuh"

namespace
{

template <typename A> struct shares_of_row {
    static constexpr bool each = true;
    template <typename S>
    static __device__ void write(const statistics::elements<S> &x,
                                 const statistics::exponentials<A> &e,
                                 const statistics::results<A> &y, size_t first, size_t step)
    {
        double sum = convert<double>(e.sum);
        for (size_t i = first; i < x.n; i += step) {
            A exponential = statistics::exponential(x.template as<A>(i), e.max);
            y.put(i, rounded<A>(__ddiv_rn(convert<double>(exponential), sum)));
        }
    }
};

} // namespace

EXPONENTIALS_CUDA(softmax, shares_of_row)
