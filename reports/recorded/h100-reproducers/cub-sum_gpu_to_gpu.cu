/* cub-sum_gpu_to_gpu.cu
 *
 * cub/sum_gpu_to_gpu on cuda:0: a sum of fp32 in fp32, n = 1, gives a number that no order gives.
 * Found: 0x0p+0; and the result is another.
 * Exit status: 1 where this is seen, 0 where it is not, 2 for other failures.
 *
 * library: CUDA 13.0, CCCL 3.5.0, cuBLAS 13.1.0, compiled by NVIDIA 13.0.88
 * machine: Intel(R) Xeon(R) Processor, Linux 6.18.44-fc-v657-gpu x86_64 (Ubuntu 24.04.3 LTS)
 * device: NVIDIA H100 80GB HBM3, compute capability 9.0, the driver's CUDA 13.0
 * written by ulpscope 0.2.0 (commit 28f0cd5dc33d89a14ee0c694402bd694bb0a7f20), which found it by:
 *     printf '%s\n' 0x0p+0 | ulpscope check cub/sum_gpu_to_gpu --special --data /dev/stdin --device cuda:0 --storage fp32 --accumulator fp32
 *
 *     nvcc -O2 -x cu cub-sum_gpu_to_gpu.cu -o reproducer -I CCCL && ./reproducer (CCCL: headers, 3.1 or later)
 */
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cub/device/device_reduce.cuh>
#include <thrust/iterator/transform_iterator.h>

using std::isinf, std::isnan, std::signbit;

static const char *path;

typedef float element;
typedef uint32_t result; /* the encoding of fp32 */

enum { N = 1, OUTPUTS = 1, FROM = 0, END = 1 };
enum { RUNS = 100, SECONDS = 10 }; /* at most; whichever is first */

/* fp32 */
static const element input_0[] = {
    0x0p+0f,
};

/* How the first result is had, and the others. */
static const struct {
    const element *in;
    size_t offset;        /* elements off an aligned address */
    unsigned char around; /* all bytes around the input */
    unsigned threads, blocks;
} setting[2] = {
    {input_0, 0, 0xff, 0, 0},
    {input_0, 0, 0xff, 0, 0},
};

static double value(result bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Is this among the results that are possible? */
static int possible(double x)
{
    if (isnan(x))
        return 0;
    if (isinf(x))
        return x > 0 ? 0 : 0;
    if (x == 0)
        return signbit(x) ? 0 : 1;
    return 0;
}

/* Ends the program where a call of CUDA's or of a library's fails. */
#define GOOD(call)                                                                \
    do {                                                                          \
        int error_ = (int)(call);                                                 \
        if (error_ != 0) {                                                        \
            fprintf(stderr, "%s: error %d\n", #call, error_);                    \
            exit(2);                                                              \
        }                                                                         \
    } while (0)

/* What this runs on. */
__attribute__((constructor)) static void device(void)
{
    int driver = 0, runtime = 0;
    cudaDeviceProp is;
    GOOD(cudaGetDeviceProperties(&is, 0));
    GOOD(cudaDriverGetVersion(&driver));
    GOOD(cudaRuntimeGetVersion(&runtime));
    printf("%s, driver's CUDA %d, runtime %d\n", is.name, driver, runtime);
}

typedef float S; /* of elements */
typedef float A; /* in which they are added */
typedef float O; /* of results */

struct rounded {
    __device__ A operator()(A a, A b) const { return __fadd_rn(a, b); }
};

#define ELEMENTS(x) (x)

static int begin(const char *unused)
{
    (void)unused;
    return 0;
}

/* The call that is tried. */
static int call(const S *x, const S *y, O *out, int k)
{
    (void)y;
    (void)k;
    return cub::DeviceReduce::Reduce(ELEMENTS(x), out, int(N), cuda::std::plus<A>(), A(-0.0f),
                                     cuda::execution::require(cuda::execution::determinism::gpu_to_gpu));
}

/* Copies N elements to device memory, where they shall lie. */
static S *place(int k, const element *from)
{
    enum { MARGIN = 4096 };
    unsigned char *memory;
    size_t bytes = N * sizeof(element);
    GOOD(cudaMalloc(&memory, 2 * MARGIN + bytes + 256));
    GOOD(cudaMemset(memory, setting[k].around, 2 * MARGIN + bytes + 256));
    unsigned char *to = memory + MARGIN + setting[k].offset * sizeof(element);
    GOOD(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice));
    return (S *)to;
}

static int run(int k, result *out)
{
    static S *x[2], *y[2];
    static O *results;
    if (!results)
        GOOD(cudaMalloc(&results, OUTPUTS * sizeof *results));
    if (!x[k])
        x[k] = place(k, setting[k].in);
    GOOD(cudaMemset(results, 0xff, OUTPUTS * sizeof *results));
    GOOD(call(x[k], y[k], results, k));
    GOOD(cudaDeviceSynchronize());
    GOOD(cudaMemcpy(out, results, OUTPUTS * sizeof *out, cudaMemcpyDeviceToHost));
    return 0;
}

static void show(const char *is, long i, result bits)
{
    printf("%s: output %ld is %a (bits 0x%0*llx)\n", is, i, value(bits),
           2 * (int)sizeof bits, (unsigned long long)bits);
}

int main(int argc, char **argv)
{
    static result other[OUTPUTS];
    if (argc > 1)
        path = argv[1];
    if (begin(path) != 0)
        return 2;
    long done = 0;
    time_t begun = time(NULL);
    for (; done < RUNS && time(NULL) - begun <= SECONDS; done++) {
        if (run(1, other) != 0)
            return 2;
        for (long i = FROM; i < END; i++)
            if (!possible(value(other[i]))) {
                show("found", i, other[i]);
                printf("expected: %s\n", "0x0p+0");
                return 1;
            }
    }
    printf("not seen in %ld runs\n", done);
    return 0;
}
