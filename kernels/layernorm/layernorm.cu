/* layernorm/textbook, two_pass, welford, chan on a GPU: the orders are
 * kernels/layernorm/layernorm.c's; how a GPU goes about it stands in kernels/rows/statistics.cuh.
 */
#include "kernels/rows/divided.cuh"
#include "kernels/variance/rows.cuh"

using namespace statistics;

namespace
{

template <typename S, typename A>
__device__ inline void write(const elements<S> &x, const results<A> &y, double epsilon,
                             const moments<A> &m, size_t first, size_t step)
{
    A scale = divided_scale(m.variance, epsilon);
    for (size_t i = first; i < x.n; i += step)
        y.put(i, multiply(subtract(x.template as<A>(i), m.mean), scale));
}

template <typename A, typename Moments> struct by_block {
    static constexpr bool each = true;
    template <typename S>
    static __device__ void row(const elements<S> &x, const results<A> &y, double epsilon,
                               const block &b)
    {
        write(x, y, epsilon, Moments::of(x, b), threadIdx.x, blockDim.x);
    }
};

template <typename A> using textbook_row = by_block<A, textbook<A>>;
template <typename A> using two_pass_row = by_block<A, two_pass<A>>;
template <typename A> using chan_row = by_block<A, chan<A>>;

template <typename A> struct welford_row {
    static constexpr bool each = true;
    template <typename S>
    static __device__ void row(const elements<S> &x, const results<A> &y, double epsilon)
    {
        write(x, y, epsilon, welford<A>::of(x), 0, 1);
    }
};

} // namespace

STATISTIC_CUDA(layernorm, textbook, workspace, fold_narrow<textbook_row>(t, EPSILON_LAYERNORM))
STATISTIC_CUDA(layernorm, two_pass, workspace, fold_narrow<two_pass_row>(t, EPSILON_LAYERNORM))
STATISTIC_CUDA(layernorm, chan, workspace, fold_narrow<chan_row>(t, EPSILON_LAYERNORM))
STATISTIC_CUDA(layernorm, welford, no_workspace, walk_narrow<welford_row>(t, EPSILON_LAYERNORM))
