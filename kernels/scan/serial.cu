/* scan/serial: one after the other.
 *
 * One thread walks the array from left to right, adds each element to what it has so far, and
 * writes down every sum on its way; where the scan is exclusive, it writes before it adds. The rest
 * of the GPU looks on. All that is done for speed is to fetch a few elements ahead, since fetching
 * has no order. */
#include "kernels/device/device.cuh"

namespace
{

constexpr unsigned ahead = 16;

template <typename S, typename A, typename O>
__global__ void walk(const S *x, size_t n, bool exclusive, O *out)
{
    A sum = minus_zero<A>();
    for (size_t begin = 0; begin < n; begin += ahead) {
        unsigned count = (unsigned)min((size_t)ahead, n - begin);
        S next[ahead];
#pragma unroll
        for (unsigned k = 0; k < ahead; k++)
            if (k < count)
                next[k] = x[begin + k];
#pragma unroll
        for (unsigned k = 0; k < ahead; k++)
            if (k < count) {
                A before = sum_of(begin + k, sum);
                sum = add(sum, convert<A>(next[k]));
                out[begin + k] = convert<O>(exclusive ? before : sum);
            }
    }
}

template <typename S, typename A, typename O> int run(const struct cuda_task *t)
{
    walk<S, A, O><<<1, 1, 0, (cudaStream_t)t->stream>>>((const S *)t->of->in.data, t->of->in.n,
                                                        t->of->exclusive, (O *)t->out);
    return cudaGetLastError();
}

int enqueue(const struct cuda_task *t)
{
    return with_scan_types(
        t, [t](auto s, auto a, auto o) { return run<decltype(s), decltype(a), decltype(o)>(t); });
}

} // namespace

extern "C" const struct cuda_method scan_serial_cuda = {no_workspace, no_workspace, enqueue};
