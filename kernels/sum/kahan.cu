/* sum/kahan: what an addition lost is added to the next element.
 *
 * The order is kernels/sum/kahan.c's; how a GPU goes about it stands in tiled.cuh. */
#include "kernels/blocks/pair.cuh"

namespace
{

template <typename A> struct kahan_sum : pair_sum<A> {
    using pair_sum<A>::w;
    typedef kahan_sum tile;
    static constexpr float rest = -0.0f;

    __device__ void append(A x)
    {
        A y = add(x, w[1]), sum = add(w[0], y);
        A lost = subtract(y, subtract(sum, w[0]));
        w[0] = sum;
        w[1] = is_finite(lost) ? lost : rounded<A>(0.0f);
    }
};

typedef sum_tree::method<kahan_sum> side;

} // namespace

extern "C" const struct cuda_method sum_kahan_cuda = {side::workspace, no_workspace, side::enqueue};
