/* mean/tiled: the sum of sum/tiled divided by n, at the speed of memory.
 *
 * The order is kernels/sum/tiled.c's; how a GPU goes about it stands in kernels/blocks/tiled.cuh.
 */
#include "kernels/mean/tiled.cuh"

static size_t workspace(const struct cuda_task *t)
{
    return sum_tree::workspace(t, 1);
}

static int enqueue(const struct cuda_task *t)
{
    return with_types(t, [t](auto s, auto a) {
        typedef decltype(a) A;
        return sum_tree::run<plain_sum<A>, decltype(s)>(t, divided_elements<A>());
    });
}

extern "C" const struct cuda_method mean_tiled_cuda = {workspace, no_workspace, enqueue};
