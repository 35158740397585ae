/* sum/double_word: pairs whose low word carries on where the high word ends.
 *
 * The order is kernels/sum/double_word.c's; how a GPU goes about it stands in tiled.cuh. */
#include "kernels/blocks/tiled.cuh"
#include "kernels/device/two_sum.cuh"

namespace
{

template <typename A> struct double_word_sum : words_of<A, 2> {
    using words_of<A, 2>::w;
    typedef double_word_sum tile;

    __device__ void keep(sum_and_error<A> z, A sum)
    {
        bool kept = !is_zero(z.sum) && is_finite(z.error);
        w[0] = kept ? z.sum : sum;
        w[1] = kept ? z.error : rounded<A>(0.0f);
    }
    __device__ void append(A x)
    {
        sum_and_error<A> s = two_sum(w[0], x);
        keep(fast_two_sum(s.sum, add(w[1], s.error)), s.sum);
    }
    __device__ void join(const double_word_sum &b)
    {
        sum_and_error<A> s = two_sum(w[0], b.w[0]), t = two_sum(w[1], b.w[1]);
        sum_and_error<A> v = fast_two_sum(s.sum, add(s.error, t.sum));
        keep(fast_two_sum(v.sum, add(t.error, v.error)), s.sum);
    }
    __device__ A value() const { return w[0]; }
};

struct side : sum_tree::method<double_word_sum> {
    static int enqueue(const struct cuda_task *t)
    {
        return with_types(t, [t](auto s, auto a) -> int {
            if constexpr (sizeof a >= sizeof(float))
                return sum_tree::run<double_word_sum<decltype(a)>, decltype(s)>(t);
            else
                return cudaErrorInvalidValue;
        });
    }
};

} // namespace

extern "C" const struct cuda_method sum_double_word_cuda = {side::workspace, no_workspace,
                                                            side::enqueue};
