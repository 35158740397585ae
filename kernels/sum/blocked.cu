/* sum/blocked: fast within blocks, accurate across them.
 *
 * The order is kernels/sum/blocked.c's; how a GPU goes about it stands in tiled.cuh. */
#include "kernels/blocks/pair.cuh"

namespace
{

template <typename A> struct blocked_sum : pair_sum<A> {
    typedef plain_sum<A> tile;
};

typedef sum_tree::method<blocked_sum> side;

} // namespace

extern "C" const struct cuda_method sum_blocked_cuda = {side::workspace, no_workspace,
                                                        side::enqueue};
