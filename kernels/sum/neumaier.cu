/* sum/neumaier: sum/sum2 with a branch in place of half the additions.
 *
 * The order is kernels/sum/neumaier.c's; how a GPU goes about it stands in tiled.cuh. The branch is
 * a selection, so lanes do not wait for each other. */
#include "kernels/blocks/pair.cuh"

namespace
{

template <typename A> __device__ inline sum_and_error<A> neumaier(A a, A b)
{
    A sum = add(a, b);
    bool larger = magnitude(a) >= magnitude(b);
    A large = larger ? a : b, small = larger ? b : a;
    return {sum, add(subtract(large, sum), small)};
}

template <typename A> struct neumaier_sum : pair_sum<A> {
    using pair_sum<A>::w;
    typedef neumaier_sum tile;

    __device__ void append(A x)
    {
        sum_and_error<A> s = neumaier(w[0], x);
        w[0] = s.sum;
        w[1] = add(w[1], s.error);
    }
    __device__ void join(const neumaier_sum &b) { pair_sum<A>::join(b, neumaier(w[0], b.w[0])); }
};

typedef sum_tree::method<neumaier_sum> side;

} // namespace

extern "C" const struct cuda_method sum_neumaier_cuda = {side::workspace, no_workspace,
                                                         side::enqueue};
