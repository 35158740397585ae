/* sum/sumk, sum/sumk4, sum/sumk5: sums of three, four and five words.
 *
 * The order is kernels/sum/sumk.c's; how a GPU goes about it stands in tiled.cuh. */
#include "kernels/blocks/tiled.cuh"
#include "kernels/device/two_sum.cuh"

/* Pieces of K words, as kernels/sum/sumk.c adds them up. */
template <typename A, unsigned K> struct sumk_sum : words_of<A, K> {
    using words_of<A, K>::w;
    typedef sumk_sum tile;

    /* An element brings one error to each level. */
    __device__ void append(A x)
    {
#pragma unroll
        for (unsigned k = 0; k < K - 1; k++) {
            sum_and_error<A> s = two_sum(w[k], x);
            w[k] = s.sum;
            x = s.error;
        }
        w[K - 1] = add(w[K - 1], x);
    }

    /* error[]: what the additions of the word above lost, in the order in which they lost it. */
    __device__ void join(const sumk_sum &b)
    {
        A error[K - 1];
#pragma unroll
        for (unsigned k = 0; k < K - 1; k++) {
            sum_and_error<A> s = two_sum(w[k], b.w[k]);
#pragma unroll
            for (unsigned i = 0; i < k; i++) {
                A from_above = error[i];
                error[i] = s.error;
                s = two_sum(s.sum, from_above);
            }
            error[k] = s.error;
            w[k] = s.sum;
        }
        A errors = error[0];
#pragma unroll
        for (unsigned i = 1; i < K - 1; i++)
            errors = add(errors, error[i]);
        w[K - 1] = add(w[K - 1], add(b.w[K - 1], errors));
    }

    __device__ A value() const
    {
        bool finite = true, zero = true;
        A t[K];
#pragma unroll
        for (unsigned k = 0; k < K; k++) {
            t[k] = w[k];
            finite = finite && (k == 0 || is_finite(w[k]));
            zero = zero && (k == 0 || is_zero(w[k]));
        }
        if (!finite || zero)
            return w[0];
#pragma unroll
        for (unsigned sweep = 0; sweep < K - 1; sweep++)
#pragma unroll
            for (unsigned k = K - 1; k > 0; k--) {
                sum_and_error<A> s = two_sum(t[k - 1], t[k]);
                if (!is_finite(s.sum))
                    return s.sum;
                t[k - 1] = s.sum;
                t[k] = s.error;
            }
        A sum = t[K - 1];
#pragma unroll
        for (unsigned k = K - 1; k > 0; k--)
            sum = add(t[k - 1], sum);
        return sum;
    }
};

namespace
{

template <typename A> using sumk3_sum = sumk_sum<A, 3>;
template <typename A> using sumk4_sum = sumk_sum<A, 4>;
template <typename A> using sumk5_sum = sumk_sum<A, 5>;

typedef sum_tree::method<sumk3_sum> three;
typedef sum_tree::method<sumk4_sum> four;
typedef sum_tree::method<sumk5_sum> five;

} // namespace

extern "C" const struct cuda_method sum_sumk_cuda = {three::workspace, no_workspace,
                                                     three::enqueue};
extern "C" const struct cuda_method sum_sumk4_cuda = {four::workspace, no_workspace, four::enqueue};
extern "C" const struct cuda_method sum_sumk5_cuda = {five::workspace, no_workspace, five::enqueue};
