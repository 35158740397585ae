/* One thread walks the array from left to right, as a loop on paper would. The rest of the GPU
 * looks on. All that is done for speed is to fetch a few elements ahead, since fetching has no
 * order.
 *
 * A walk W is what it keeps on the way: step(x, k) takes the k-th element, k from 1 on, as it is
 * stored; result(n) is what is written after n of them. */
#pragma once

#include "kernels/device/device.cuh"

namespace serial_order
{

enum { AHEAD = 16 };

template <typename W, typename S, typename A> __global__ void walk(const S *x, size_t n, A *out)
{
    W on_the_way;
    size_t i = 0;
    for (; n - i >= AHEAD; i += AHEAD) {
        S next[AHEAD];
        for (int k = 0; k < AHEAD; k++)
            next[k] = x[i + k];
        for (int k = 0; k < AHEAD; k++)
            on_the_way.step(next[k], i + k + 1);
    }
    for (; i < n; i++)
        on_the_way.step(x[i], i + 1);
    *out = on_the_way.result(n);
}

/* A method whose walk for the accumulator A is Kind<A>, in every format. */
template <template <typename> class Kind> struct method {
    static int enqueue(const struct cuda_task *t)
    {
        return with_stored_types(t, [t](auto s, auto a) {
            typedef decltype(s) S;
            typedef decltype(a) A;
            walk<Kind<A>><<<1, 1, 0, (cudaStream_t)t->stream>>>((const S *)t->of->in.data,
                                                                t->of->in.n, (A *)t->out);
            return (int)cudaGetLastError();
        });
    }
};

} // namespace serial_order
