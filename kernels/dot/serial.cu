/* dot/serial: one after the other.
 *
 * One thread walks both arrays from left to right, as sum/serial walks one. */
#include "kernels/blocks/product.cuh"

namespace
{

enum { AHEAD = 8 };

template <bool fuse, typename S, typename A>
__global__ void walk(const S *x, const S *y, size_t n, A *out)
{
    A sum = minus_zero<A>();
    size_t i = 0;
    for (; n - i >= AHEAD; i += AHEAD) {
        S a[AHEAD], b[AHEAD];
        for (int k = 0; k < AHEAD; k++) {
            a[k] = x[i + k];
            b[k] = y[i + k];
        }
        for (int k = 0; k < AHEAD; k++)
            sum = add_product<fuse>(sum, a[k], b[k]);
    }
    for (; i < n; i++)
        sum = add_product<fuse>(sum, x[i], y[i]);
    *out = sum_of(n, sum);
}

template <bool fuse, typename S, typename A> int run(const struct cuda_task *t)
{
    walk<fuse><<<1, 1, 0, (cudaStream_t)t->stream>>>(
        (const S *)t->of->in.data, (const S *)t->of->in2.data, t->of->in.n, (A *)t->out);
    return cudaGetLastError();
}

int enqueue(const struct cuda_task *t)
{
    return with_products(t, [t](auto s, auto a, auto fuse) {
        return run<decltype(fuse)::value, decltype(s), decltype(a)>(t);
    });
}

} // namespace

extern "C" const struct cuda_method dot_serial_cuda = {no_workspace, no_workspace, enqueue};
