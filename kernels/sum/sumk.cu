/* sum/sumk: sums of three words.
 *
 * The order is kernels/sum/sumk.c's; how a GPU goes about it stands in tiled.cuh. */
#include "kernels/sum/sumk.cuh"

namespace
{

template <typename A> using sumk3_sum = sumk_sum<A, 3>;

typedef sum_tree::method<sumk3_sum> side;

} // namespace

extern "C" {
extern const struct cuda_method sum_sumk_cuda;
const struct cuda_method sum_sumk_cuda = {side::workspace, no_workspace, side::enqueue};
}
