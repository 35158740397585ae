/* Pieces of K words, as kernels/sum/sumk.c adds them up. */
#ifndef ULPSCOPE_SUM_SUMK_CUH
#define ULPSCOPE_SUM_SUMK_CUH

#include "kernels/blocks/tiled.cuh"
#include "kernels/device/two_sum.cuh"

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

#endif
