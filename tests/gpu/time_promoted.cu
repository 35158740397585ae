/* Times gemm/promoted as each way of promoting does it (kernels/gemm/promoted.cuh), beside wgmma
 * without promotion, packing alone and, of fp16, cuBLAS, taking turns.
 *
 *     time_promoted [SIZE [PROMOTE]]
 *
 * SIZE: rows, columns and k, 4096 if not said; PROMOTE: 128. A row of CSV a format and way: the
 * median of 15 runs, the least and the greatest, 2 SIZE^3 operations a second, and whether D has
 * the bits of the first way. Exit status: 0; 1 where bits differ, 2 for a wrong call, 4 where the
 * device does not run it. */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include <cublas_v2.h>

#include "kernels/gemm/instruction.cu"

namespace
{

enum { WARM = 3, RUNS = 15 };

struct way {
    std::string name;
    std::function<int(const struct cuda_task *)> run;
    bool promotes;
    std::vector<float> ms;
};

void need(int error, const char *doing)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "time_promoted: %s: %s\n", doing, cudaGetErrorString((cudaError_t)error));
    exit(4);
}

/* Numbers between 1/2 and 2 of either sign. */
template <typename S, int exponent_at, int bias>
__global__ void fill(S *to, size_t n, unsigned long long seed)
{
    const size_t grid = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += grid) {
        unsigned long long x = (i + 1) * 0x9e3779b97f4a7c15ull + seed;
        x ^= x >> 31, x *= 0xbf58476d1ce4e5b9ull, x ^= x >> 29;
        const unsigned low = (unsigned)x & ((1u << exponent_at) - 1);
        const unsigned sign = x >> 40 & 1, exponent = bias - (x >> 41 & 1);
        to[i] = (S)(sign << (8 * sizeof(S) - 1) | exponent << exponent_at | low);
    }
}

int pack_both(const struct cuda_task *t)
{
    const struct gemm::plan plan = gemm::group_plan<true>(t);
    const int error = gemm::pack<gemm::CORES>(plan.a, (cudaStream_t)t->stream);
    return error ? error : gemm::pack<gemm::CORES>(plan.b, (cudaStream_t)t->stream);
}

cublasHandle_t handle;

int by_cublas(const struct cuda_task *t)
{
    const float one = 1, zero = 0;
    const struct gemm_shape *s = &t->of->gemm;
    const char *a = (const char *)t->of->in.data, *b = a + 2 * gemm_b_begins(s);
    const int n = (int)s->n, m = (int)s->m, k = (int)s->k;
    return cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, b, CUDA_R_16F, n, a,
                        CUDA_R_16F, k, &zero, t->out, CUDA_R_32F, n, CUBLAS_COMPUTE_32F,
                        CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_SUCCESS
               ? cudaSuccess
               : cudaErrorUnknown;
}

/* Returns how many ways have other bits. */
int time_format(enum format f, size_t size, size_t promote)
{
    const size_t outputs = size * size;
    struct operands of = {};
    of.gemm.m = of.gemm.n = of.gemm.k = size;
    of.gemm.no_c = true;
    of.in.format = f, of.in.n = 2 * outputs;
    of.c.format = FP32, of.c.n = outputs;
    of.bins = outputs, of.promote = promote;
    need(cudaMalloc(&of.in.data, 2 * outputs * format_facts[f].bytes), "memory");
    need(cudaMalloc(&of.c.data, outputs * 4), "memory");
    need(cudaMemset(of.c.data, 0, outputs * 4), "memory");
    if (f == FP16)
        fill<unsigned short, 10, 15><<<1024, 256>>>((unsigned short *)of.in.data, of.in.n, 1);
    else
        fill<unsigned char, 3, 7><<<1024, 256>>>((unsigned char *)of.in.data, of.in.n, 1);
    struct cuda_task t = {};
    t.of = &of, t.accumulator = t.output = FP32;
    const size_t bytes =
        std::max(gemm::group_workspace<true>(&t), gemm::group_workspace<false>(&t));
    need(cudaMalloc(&t.workspace, bytes), "memory");
    need(cudaMalloc(&t.out, outputs * 4), "memory");
    std::vector<struct way> ways = {
        {"zeroed", gemm::run_group<true, gemm::ZEROED>, true, {}},
        {"fresh", gemm::run_group<true, gemm::FRESH>, true, {}},
        {"turns", gemm::run_group<true, gemm::TURNS>, true, {}},
        {"pairs", gemm::run_group<true, gemm::PAIRS>, true, {}},
        {"wgmma", gemm::run_group<false, gemm::TURNS>, false, {}},
        {"packing", pack_both, false, {}},
    };
    if (f == FP16)
        ways.push_back({"cublas", by_cublas, false, {}});
    std::vector<unsigned> first(outputs), found(outputs);
    std::vector<size_t> other(ways.size(), 0);
    cudaEvent_t begin, end;
    need(cudaEventCreate(&begin), "events");
    need(cudaEventCreate(&end), "events");
    for (int r = 0; r < WARM + RUNS; r++)
        for (size_t w = 0; w < ways.size(); w++) {
            float ms = 0;
            need(cudaMemset(t.out, 0xff, outputs * 4), "D");
            need(cudaEventRecord(begin), "events");
            need(ways[w].run(&t), ways[w].name.c_str());
            need(cudaEventRecord(end), "events");
            need(cudaEventSynchronize(end), ways[w].name.c_str());
            need(cudaEventElapsedTime(&ms, begin, end), "events");
            if (r >= WARM)
                ways[w].ms.push_back(ms);
            if (!ways[w].promotes || r > 0)
                continue;
            need(cudaMemcpy(found.data(), t.out, outputs * 4, cudaMemcpyDeviceToHost), "D");
            if (w == 0)
                first = found;
            for (size_t i = 0; i < outputs; i++)
                other[w] += found[i] != first[i];
        }
    int differ = 0;
    for (size_t w = 0; w < ways.size(); w++) {
        std::vector<float> &ms = ways[w].ms;
        std::sort(ms.begin(), ms.end());
        printf("%s,%s,%zu,%zu,%.4f,%.4f,%.4f,%.1f,%s,%zu\n", format_facts[f].name,
               ways[w].name.c_str(), size, promote, ms[RUNS / 2], ms[0], ms[RUNS - 1],
               2e-9 * (double)size * (double)outputs / ms[RUNS / 2],
               ways[w].promotes ? other[w] == 0 ? "yes" : "no" : "", other[w]);
        differ += other[w] > 0;
    }
    cudaFree(of.in.data), cudaFree(of.c.data), cudaFree(t.workspace), cudaFree(t.out);
    return differ;
}

} // namespace

int main(int argc, char **argv)
{
    const long size = argc > 1 ? atol(argv[1]) : 4096, promote = argc > 2 ? atol(argv[2]) : 128;
    if (argc > 3 || size < 1 || size > 32768 || promote < 1) {
        fprintf(stderr, "time_promoted: expected [SIZE [PROMOTE]], of 1 .. 32768 and 1 or more\n");
        return 2;
    }
    if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) {
        fprintf(stderr, "time_promoted: no cuBLAS on this device\n");
        return 4;
    }
    printf("format,way,size,promote,median_ms,least_ms,greatest_ms,tflops,same_bits,differ\n");
    const int differ = time_format(FP16, (size_t)size, (size_t)promote) +
                       time_format(E4M3, (size_t)size, (size_t)promote);
    return differ > 0;
}
