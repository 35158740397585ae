/* rmsnorm/serial, tiled on a GPU: the orders are kernels/rmsnorm/rmsnorm.c's; how a GPU goes about
 * it stands in kernels/rows/statistics.cuh. */
#include "kernels/mean/quotient.cuh"
#include "kernels/rows/divided.cuh"

using namespace statistics;

namespace
{

template <typename S, typename A>
__device__ inline void write(const elements<S> &x, const results<A> &y, double epsilon, A squares,
                             size_t first, size_t step)
{
    A scale = divided_scale(quotient(squares, x.n), epsilon);
    for (size_t i = first; i < x.n; i += step)
        y.put(i, multiply(x.template as<A>(i), scale));
}

template <typename A> struct serial_row {
    static constexpr bool each = true;
    template <typename S>
    static __device__ void row(const elements<S> &x, const results<A> &y, double epsilon)
    {
        A squares = minus_zero<A>();
        for (size_t i = 0; i < x.n; i++)
            squares = add(squares, product<A>(x[i], x[i]));
        write(x, y, epsilon, squares, 0, 1);
    }
};

template <typename A> struct tiled_row {
    static constexpr bool each = true;
    template <typename S>
    static __device__ void row(const elements<S> &x, const results<A> &y, double epsilon,
                               const block &b)
    {
        A squares = b.fold<A>(x.n, [&](size_t i) { return product<A>(x[i], x[i]); });
        write(x, y, epsilon, squares, threadIdx.x, blockDim.x);
    }
};

} // namespace

STATISTIC_CUDA(rmsnorm, serial, no_workspace, walk_narrow<serial_row>(t, EPSILON_RMSNORM))
STATISTIC_CUDA(rmsnorm, tiled, workspace, fold_narrow<tiled_row>(t, EPSILON_RMSNORM))
