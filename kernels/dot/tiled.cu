/* dot/tiled: the order of n alone, at the speed of memory.
 *
 * The order is kernels/dot/tiled.c's; how a GPU goes about it stands in tiled.cuh. */
#include "kernels/dot/tiled.cuh"

namespace
{

template <typename A, bool fuse> struct products_sum : words_of<A, 1> {
    typedef products_sum tile;
    static constexpr bool commutes = true;
    template <typename S> static __device__ products_sum begin(S x, S y)
    {
        return leaf<products_sum>(product<A>(x, y));
    }
    template <typename S> __device__ void append(S x, S y)
    {
        this->w[0] = add_product<fuse>(this->w[0], x, y);
    }
    __device__ void join(const products_sum &b) { this->w[0] = add(this->w[0], b.w[0]); }
    __device__ A value() const { return this->w[0]; }
};

size_t workspace(const struct cuda_task *t)
{
    return sum_tree::workspace(t, 1);
}

int enqueue(const struct cuda_task *t)
{
    return with_products(t, [t](auto s, auto a, auto fuse) {
        return dot_tree::run<products_sum<decltype(a), decltype(fuse)::value>, decltype(s)>(t);
    });
}

} // namespace

extern "C" const struct cuda_method dot_tiled_cuda = {workspace, no_workspace, enqueue};
