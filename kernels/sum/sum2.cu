/* sum/sum2: the sum carries the errors of its additions.
 *
 * The order is kernels/sum/sum2.c's; how a GPU goes about it stands in tiled.cuh. */
#include "kernels/blocks/pair.cuh"

namespace
{

template <typename A> struct sum2_sum : pair_sum<A> {
    using pair_sum<A>::w;
    typedef sum2_sum tile;

    __device__ void append(A x)
    {
        sum_and_error<A> s = two_sum(w[0], x);
        w[0] = s.sum;
        w[1] = add(w[1], s.error);
    }
};

typedef sum_tree::method<sum2_sum> side;

} // namespace

extern "C" const struct cuda_method sum_sum2_cuda = {side::workspace, no_workspace, side::enqueue};
