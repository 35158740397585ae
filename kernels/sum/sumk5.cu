/* sum/sumk5: sums of five words.
 *
 * The order is kernels/sum/sumk.c's; how a GPU goes about it stands in tiled.cuh. */
#include "kernels/sum/sumk.cuh"

namespace
{

template <typename A> using sumk5_sum = sumk_sum<A, 5>;

typedef sum_tree::method<sumk5_sum> side;

} // namespace

extern "C" {
extern const struct cuda_method sum_sumk5_cuda;
const struct cuda_method sum_sumk5_cuda = {side::workspace, no_workspace, side::enqueue};
}
