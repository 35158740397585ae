/* dot/compensated: products and sums carry their errors.
 *
 * The order is kernels/dot/compensated.c's; how a GPU goes about it stands in tiled.cuh. */
#include "kernels/dot/tiled.cuh"
#include "kernels/blocks/pair.cuh"

namespace
{

template <typename A> struct products_pair : pair_sum<A> {
    using pair_sum<A>::w;
    typedef products_pair tile;

    template <typename S> static __device__ products_pair begin(S x, S y)
    {
        products_pair piece;
        piece.w[0] = product<A>(x, y);
        piece.w[1] = product_error(piece.w[0], x, y);
        return piece;
    }
    template <typename S> __device__ void append(S x, S y) { this->join(begin(x, y)); }
};

size_t workspace(const struct cuda_task *t)
{
    return sum_tree::workspace(t, 2);
}

int enqueue(const struct cuda_task *t)
{
    return with_types(t, [t](auto s, auto a) -> int {
        typedef decltype(s) S;
        typedef decltype(a) A;
        if constexpr (holds<A, S>)
            return dot_tree::run<products_pair<A>, S>(t);
        else
            return cudaErrorInvalidValue;
    });
}

} // namespace

extern "C" const struct cuda_method dot_compensated_cuda = {workspace, no_workspace, enqueue};
