/* cub/scan: cub::DeviceScan::InclusiveScan and ExclusiveScan.
 *
 * CUB adds in the type that its operator returns, and has tuned its kernels for cuda::std::plus, so
 * that is the operator, with the accumulator's type spelled out: plus<float> adds halves as floats.
 * It is a plain +, which the build's flags keep from being contracted. CUB converts elements to the
 * accumulator's type itself, exactly for the pairs that are offered, and rounds prefixes once to
 * the outputs' type as it stores them.
 *
 * An exclusive scan of CUB begins from an initial value. It is +0 here, so that out[0] is +0 as it
 * should be. Where a prefix covers nothing but -0 it is +0 too, and not -0: +0 is added, where our
 * methods skip. The inclusive scan has no initial value and keeps such a -0. */
#include <cub/device/device_scan.cuh>

#include "kernels/cub/pairs.cuh"
#include "kernels/cub/storage.cuh"

namespace
{

template <typename S, typename A, typename O>
int scan(void *storage, size_t *bytes, const struct cuda_task *t)
{
    const S *in = (const S *)t->of->in.data;
    O *out = (O *)t->out;
    cuda::std::plus<A> plus;
    cudaStream_t stream = (cudaStream_t)t->stream;
    if (t->of->exclusive)
        return cub::DeviceScan::ExclusiveScan(storage, *bytes, in, out, plus, A(0.0f), t->of->in.n,
                                              stream);
    return cub::DeviceScan::InclusiveScan(storage, *bytes, in, out, plus, t->of->in.n, stream);
}

template <typename S, typename A>
int scan_to(void *storage, size_t *bytes, const struct cuda_task *t)
{
    if (t->output == t->accumulator)
        return scan<S, A, A>(storage, bytes, t);
    if (t->output == t->of->in.format)
        return scan<S, A, S>(storage, bytes, t);
    return cudaErrorInvalidValue;
}

int scan_pair(void *storage, size_t *bytes, const struct cuda_task *t)
{
    return with_pair(
        t, [&](auto s, auto a) { return scan_to<decltype(s), decltype(a)>(storage, bytes, t); });
}

} // namespace

extern "C" const struct cuda_method cub_scan_cuda = {storage_bytes<scan_pair>, no_workspace,
                                                     enqueue_scan<scan_pair>};
