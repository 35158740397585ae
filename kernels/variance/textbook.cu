/* variance/textbook: the mean of the squares less the square of the mean, in one pass.
 *
 * The order is kernels/variance/textbook.c's: two sums side by side in the tree of sum/tiled, as
 * kernels/blocks/tiled.cuh goes about it. */
#include "kernels/mean/quotient.cuh"
#include "kernels/blocks/tiled.cuh"
#include "kernels/device/two_sum.cuh"

namespace
{

/* The sum of the elements, and that of their squares. */
template <typename A> struct two_sums : words_of<A, 2> {
    typedef two_sums tile;
    static constexpr bool commutes = true;
    __device__ void append(const two_sums &b) { join(b); }
    __device__ void join(const two_sums &b)
    {
        this->w[0] = add(this->w[0], b.w[0]);
        this->w[1] = add(this->w[1], b.w[1]);
    }
};

template <typename A> struct elements_and_squares {
    __device__ void begin() {}
    template <typename S> __device__ two_sums<A> leaf_of(S x) const
    {
        two_sums<A> both;
        both.w[0] = convert<A>(x);
        both.w[1] = product<A>(x, x);
        return both;
    }
    __device__ A result(size_t n, const two_sums<A> &root) const
    {
        A mean = quotient(root.w[0], n);
        return subtract(quotient(root.w[1], n), multiply(mean, mean));
    }
};

size_t workspace(const struct cuda_task *t)
{
    return sum_tree::workspace(t, 2);
}

int enqueue(const struct cuda_task *t)
{
    return with_types(t, [t](auto s, auto a) {
        typedef decltype(a) A;
        return sum_tree::run<two_sums<A>, decltype(s)>(t, elements_and_squares<A>());
    });
}

} // namespace

extern "C" const struct cuda_method variance_textbook_cuda = {workspace, no_workspace, enqueue};
