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

#include "kernels/device.cuh"

namespace
{

/* Where `storage` is NULL, sets `bytes` to those of temporary storage that CUB needs. */
template <typename S, typename A, typename O>
int scan(void *storage, size_t *bytes, const struct cuda_task *t)
{
    const S *in = (const S *)t->in;
    O *out = (O *)t->out;
    cuda::std::plus<A> plus;
    cudaStream_t stream = (cudaStream_t)t->stream;
    if (t->exclusive)
        return cub::DeviceScan::ExclusiveScan(storage, *bytes, in, out, plus, A(0.0f), t->n,
                                              stream);
    return cub::DeviceScan::InclusiveScan(storage, *bytes, in, out, plus, t->n, stream);
}

template <typename S, typename A>
int scan_to(void *storage, size_t *bytes, const struct cuda_task *t)
{
    if (t->output == t->accumulator)
        return scan<S, A, A>(storage, bytes, t);
    if (t->output == t->storage)
        return scan<S, A, S>(storage, bytes, t);
    return cudaErrorInvalidValue;
}

int scan_pair(void *storage, size_t *bytes, const struct cuda_task *t)
{
    switch (FORMATS * t->storage + t->accumulator) {
    case FORMATS *FP16 + FP16:
        return scan_to<__half, __half>(storage, bytes, t);
    case FORMATS *BF16 + BF16:
        return scan_to<__nv_bfloat16, __nv_bfloat16>(storage, bytes, t);
    case FORMATS *FP32 + FP32:
        return scan_to<float, float>(storage, bytes, t);
    case FORMATS *FP64 + FP64:
        return scan_to<double, double>(storage, bytes, t);
    case FORMATS *FP16 + FP32:
        return scan_to<__half, float>(storage, bytes, t);
    case FORMATS *BF16 + FP32:
        return scan_to<__nv_bfloat16, float>(storage, bytes, t);
    case FORMATS *FP32 + FP64:
        return scan_to<float, double>(storage, bytes, t);
    default:
        return cudaErrorInvalidValue;
    }
}

size_t workspace(const struct cuda_task *t)
{
    size_t bytes = 0;
    return scan_pair(NULL, &bytes, t) == cudaSuccess ? bytes : 0;
}

int enqueue(const struct cuda_task *t)
{
    if (t->n == 0)
        return cudaSuccess;
    size_t bytes = SIZE_MAX; /* enough: asking again at every run would be unfair to CUB */
    return scan_pair(t->workspace, &bytes, t);
}

} // namespace

extern "C" {
extern const struct cuda_method cub_scan_cuda;
const struct cuda_method cub_scan_cuda = {workspace, no_workspace, enqueue};
}
