/* asum/tiled: magnitudes, in the order of n alone, at the speed of memory.
 *
 * The order is kernels/sum/tiled.c's; how a GPU goes about it stands in kernels/blocks/tiled.cuh.
 */
#include "kernels/blocks/tiled.cuh"
#include "kernels/device/two_sum.cuh"

namespace
{

template <typename A> struct magnitudes {
    __device__ void begin() {}
    template <typename S> __device__ A leaf_of(S x) const { return magnitude(convert<A>(x)); }
    template <typename P> __device__ A result(size_t n, const P &root) const
    {
        return sum_of(n, root.value());
    }
};

size_t workspace(const struct cuda_task *t)
{
    return sum_tree::workspace(t, 1);
}

int enqueue(const struct cuda_task *t)
{
    return with_stored_types(t, [t](auto s, auto a) {
        typedef decltype(a) A;
        return sum_tree::run<plain_sum<A>, decltype(s)>(t, magnitudes<A>());
    });
}

} // namespace

extern "C" const struct cuda_method asum_tiled_cuda = {workspace, no_workspace, enqueue};
