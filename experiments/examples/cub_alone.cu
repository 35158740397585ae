/* CUB alone: what DeviceReduce gives for one or two elements where determinism from GPU to GPU is
 * required. Shows that the bits in reports/recorded/README.md ("One sum is not the sum") are not
 * ours.
 *
 *   nvcc -std=c++17 -arch=sm_90 -I CCCL/include/cccl -o cub_alone experiments/examples/cub_alone.cu
 */
#include <cub/device/device_reduce.cuh>
#include <cuda/__execution/determinism.h>
#include <cuda/__execution/require.h>
#include <cuda/std/execution>
#include <cstdio>
#include <cmath>
template <class T> void one(const T *h, int n, const char *what)
{
    T *in, *out;
    cudaMalloc(&in, n * sizeof(T));
    cudaMalloc(&out, sizeof(T));
    cudaMemcpy(in, h, n * sizeof(T), cudaMemcpyHostToDevice);
    auto env = cuda::execution::require(cuda::execution::determinism::gpu_to_gpu);
    cudaError_t e = cub::DeviceReduce::Reduce(in, out, n, cuda::std::plus<>{}, T(0), env);
    T r;
    cudaMemcpy(&r, out, sizeof(T), cudaMemcpyDeviceToHost);
    printf("%s: %a (%s)\n", what, (double)r,
           cudaGetErrorString(e == cudaSuccess ? cudaDeviceSynchronize() : e));
}
int main()
{
    float z[2] = {0.f, 0.f}, i[1] = {INFINITY}, s[2] = {0x1p-149f, 0x1p-149f}, o[1] = {1.f},
          t[2] = {1e-30f, 2e-30f}, m[1] = {3.4e38f};
    one(z, 1, "float {+0}");
    one(z, 2, "float {+0,+0}");
    one(i, 1, "float {inf}");
    one(s, 2, "float {2^-149,2^-149}");
    one(o, 1, "float {1}");
    one(t, 2, "float {1e-30,2e-30}");
    one(m, 1, "float {3.4e38}");
    double dz[1] = {0}, di[1] = {INFINITY}, dt[1] = {1e-300};
    one(dz, 1, "double {+0}");
    one(di, 1, "double {inf}");
    one(dt, 1, "double {1e-300}");
}
