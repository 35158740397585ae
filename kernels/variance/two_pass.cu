/* variance/two_pass: the mean first, then the mean of the squared distances from it.
 *
 * The order is kernels/variance/two_pass.c's; each pass goes as kernels/blocks/tiled.cuh says. The
 * second finds the mean in the workspace. */
#include "kernels/mean/tiled.cuh"
#include "kernels/device/two_sum.cuh"

namespace
{

template <typename A> struct squared_distances {
    const A *of_all;
    A mean;
    __device__ void begin() { mean = *of_all; }
    template <typename S> __device__ A leaf_of(S x) const
    {
        A distance = subtract(convert<A>(x), mean);
        return multiply(distance, distance);
    }
    template <typename P> __device__ A result(size_t n, const P &root) const
    {
        return quotient(root.value(), n);
    }
};

constexpr size_t mean_bytes = 256; /* what follows is as round an address */

size_t workspace(const struct cuda_task *t)
{
    return mean_bytes + sum_tree::workspace(t, 1);
}

int enqueue(const struct cuda_task *t)
{
    return with_types(t, [t](auto s, auto a) {
        typedef decltype(s) S;
        typedef decltype(a) A;
        struct cuda_task second = *t, first;
        second.workspace = (char *)t->workspace + mean_bytes;
        first = second;
        first.out = t->workspace;
        int error = sum_tree::run<plain_sum<A>, S>(&first, divided_elements<A>());
        squared_distances<A> distances = {(const A *)t->workspace, A()};
        return error == cudaSuccess ? sum_tree::run<plain_sum<A>, S>(&second, distances) : error;
    });
}

} // namespace

extern "C" const struct cuda_method variance_two_pass_cuda = {workspace, no_workspace, enqueue};
