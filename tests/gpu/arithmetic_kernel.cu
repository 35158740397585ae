#include "tests/gpu/arithmetic_kernel.h"

#include "kernels/device/device.cuh"

namespace
{

template <typename S, typename A> __global__ void convert_all(const S *in, size_t n, A *out)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = convert<A>(in[i]);
}

template <typename A> __global__ void add_all(const A *a, const A *b, size_t n, A *out)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = add(a[i], b[i]);
}

/* A device copy of n values, or room for them. */
template <typename T> struct copy {
    T *device = NULL;
    size_t bytes;
    cudaError_t error;
    copy(const void *host, size_t n) : bytes(n * sizeof(T))
    {
        error = cudaMalloc(&device, bytes);
        if (error == cudaSuccess && host)
            error = cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice);
    }
    ~copy() { (void)cudaFree(device); }
    int back(void *host) { return cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost); }
};

} // namespace

int gpu_arithmetic_convert(enum format from, enum format to, const void *in, size_t n, void *out)
{
    struct operands of = {};
    of.in.format = from;
    struct cuda_task pair = {};
    pair.of = &of;
    pair.accumulator = to;
    return with_stored_types(&pair, [&](auto s, auto a) {
        copy<decltype(s)> x(in, n);
        copy<decltype(a)> results(NULL, n);
        if (x.error || results.error)
            return (int)(x.error ? x.error : results.error);
        convert_all<<<grid_for(groups_of(n, 256)), 256>>>(x.device, n, results.device);
        return results.back(out);
    });
}

int gpu_arithmetic_add(enum format f, const void *a, const void *b, size_t n, void *out)
{
    return with_type(f, [&](auto type) {
        copy<decltype(type)> left(a, n), right(b, n), results(NULL, n);
        if (left.error || right.error || results.error)
            return (int)(left.error ? left.error : right.error ? right.error : results.error);
        add_all<<<grid_for(groups_of(n, 256)), 256>>>(left.device, right.device, n, results.device);
        return results.back(out);
    });
}
