/* rowvariance/textbook, two_pass, welford, chan on a GPU: the orders are kernels/variance's; how a
 * GPU goes about it stands in kernels/rows/statistics.cuh. */
#include "kernels/variance/rows.cuh"

using namespace statistics;

namespace
{

template <typename A, typename Moments> struct by_block {
    static constexpr bool each = false;
    template <typename S>
    static __device__ void row(const elements<S> &x, const results<A> &y, double, const block &b)
    {
        A variance = Moments::of(x, b).variance;
        if (threadIdx.x == 0)
            y.put(0, variance);
    }
};

template <typename A> using textbook_row = by_block<A, textbook<A>>;
template <typename A> using two_pass_row = by_block<A, two_pass<A>>;
template <typename A> using chan_row = by_block<A, chan<A>>;

template <typename A> struct welford_row {
    static constexpr bool each = false;
    template <typename S>
    static __device__ void row(const elements<S> &x, const results<A> &y, double)
    {
        y.put(0, welford<A>::of(x).variance);
    }
};

} // namespace

STATISTIC_CUDA(rowvariance, textbook, workspace, fold_all<textbook_row>(t))
STATISTIC_CUDA(rowvariance, two_pass, workspace, fold_all<two_pass_row>(t))
STATISTIC_CUDA(rowvariance, chan, workspace, fold_all<chan_row>(t))
STATISTIC_CUDA(rowvariance, welford, no_workspace, walk_all<welford_row>(t))
