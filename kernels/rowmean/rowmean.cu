/* rowmean/serial, tiled, running on a GPU: the orders are kernels/mean's; how a GPU goes about it
 * stands in kernels/rows/statistics.cuh. */
#include "kernels/variance/rows.cuh"

using namespace statistics;

namespace
{

template <typename A> struct serial_row {
    static constexpr bool each = false;
    template <typename S>
    static __device__ void row(const elements<S> &x, const results<A> &y, double)
    {
        A sum = minus_zero<A>();
        for (size_t i = 0; i < x.n; i++)
            sum = add(sum, x.template as<A>(i));
        y.put(0, quotient(sum, x.n));
    }
};

template <typename A> struct tiled_row {
    static constexpr bool each = false;
    template <typename S>
    static __device__ void row(const elements<S> &x, const results<A> &y, double, const block &b)
    {
        A mean = tiled_mean<A>(x, b);
        if (threadIdx.x == 0)
            y.put(0, mean);
    }
};

template <typename A> struct running_row {
    static constexpr bool each = false;
    template <typename S>
    static __device__ void row(const elements<S> &x, const results<A> &y, double)
    {
        A mean = rounded<A>(NAN);
        for (size_t i = 0; i < x.n; i++) {
            A next = x.template as<A>(i);
            mean = i == 0 ? next : running_mean(mean, subtract(next, mean), i + 1);
        }
        y.put(0, mean);
    }
};

} // namespace

STATISTIC_CUDA(rowmean, serial, no_workspace, walk_all<serial_row>(t))
STATISTIC_CUDA(rowmean, tiled, workspace, fold_all<tiled_row>(t))
STATISTIC_CUDA(rowmean, running, no_workspace, walk_all<running_row>(t))
