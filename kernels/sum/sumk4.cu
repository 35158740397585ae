/* sum/sumk4: sums of four words.
 *
 * The order is kernels/sum/sumk.c's; how a GPU goes about it stands in tiled.cuh. */
#include "kernels/sum/sumk.cuh"

namespace
{

template <typename A> using sumk4_sum = sumk_sum<A, 4>;

typedef sum_tree::method<sumk4_sum> side;

} // namespace

extern "C" {
extern const struct cuda_method sum_sumk4_cuda;
const struct cuda_method sum_sumk4_cuda = {side::workspace, no_workspace, side::enqueue};
}
