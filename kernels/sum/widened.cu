/* sum/widened: added up one format wider, rounded once at the end.
 *
 * The order is kernels/sum/widened.c's; how a GPU goes about it stands in tiled.cuh. */
#include "kernels/blocks/tiled.cuh"

namespace
{

template <typename W, typename A> struct widened_sum : plain_sum<W> {
    typedef widened_sum tile;
    typedef A result;
    __device__ A value() const { return rounded<A>(this->w[0]); }
};

struct side {
    static size_t workspace(const struct cuda_task *t) { return sum_tree::workspace(t, 1); }

    template <typename S, typename A> static int run(const struct cuda_task *t)
    {
        constexpr bool narrow = sizeof(A) < sizeof(float);
        typedef typename std::conditional<narrow, float, double>::type W;
        if constexpr (sizeof(A) < sizeof(W) && sizeof(S) <= sizeof(W))
            return sum_tree::run<widened_sum<W, A>, S>(t);
        else
            return cudaErrorInvalidValue;
    }
    static int enqueue(const struct cuda_task *t)
    {
        return with_types(t, [t](auto s, auto a) { return run<decltype(s), decltype(a)>(t); });
    }
};

} // namespace

extern "C" const struct cuda_method sum_widened_cuda = {side::workspace, no_workspace,
                                                        side::enqueue};
