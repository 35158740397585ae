/* norm/tiled: the root of the sum of squares, in the order of n alone, at the speed of memory.
 *
 * The order is kernels/dot/tiled.c's of the array with itself, which is read once; how a GPU goes
 * about it stands in kernels/blocks/tiled.cuh. */
#include "kernels/norm/root.cuh"
#include "kernels/blocks/tiled.cuh"

namespace
{

template <typename A> struct squares {
    __device__ void begin() {}
    template <typename S> __device__ A leaf_of(S x) const { return product<A>(x, x); }
    template <typename P> __device__ A result(size_t n, const P &root) const
    {
        return square_root(sum_of(n, root.value()));
    }
};

size_t workspace(const struct cuda_task *t)
{
    return sum_tree::workspace(t, 1);
}

int enqueue(const struct cuda_task *t)
{
    return with_types(t, [t](auto s, auto a) {
        typedef decltype(a) A;
        return sum_tree::run<plain_sum<A>, decltype(s)>(t, squares<A>());
    });
}

} // namespace

extern "C" const struct cuda_method norm_tiled_cuda = {workspace, no_workspace, enqueue};
