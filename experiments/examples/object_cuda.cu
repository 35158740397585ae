/* A CUDA kernel under the scope: each block adds its share in shared memory, and then to the result
 * with an atomic, in whatever order blocks finish.
 *
 *     nvcc -O2 -shared -Xcompiler -fPIC -Ikernels experiments/examples/object_cuda.cu -o
 * build/mine_cuda.so build/ulpscope run variance --device cuda --method build/mine_cuda.so:blocks
 * --runs 100
 */
#include <cuda_runtime.h>

#include "ulpscope_subject.h"

__global__ static void add_blocks(const float *x, size_t n, float *out)
{
    extern __shared__ float part[];
    float sum = 0;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
         i += (size_t)gridDim.x * blockDim.x)
        sum += x[i];
    part[threadIdx.x] = sum;
    for (unsigned width = blockDim.x / 2; width > 0; width /= 2) {
        __syncthreads();
        if (threadIdx.x < width)
            part[threadIdx.x] += part[threadIdx.x + width];
    }
    if (threadIdx.x == 0)
        atomicAdd(out, part[0]);
}

static int sum_blocks(const struct ulpscope_task *t)
{
    cudaStream_t stream = (cudaStream_t)t->stream;
    unsigned threads = 32, blocks = t->blocks ? t->blocks : 256; /* 0: our choice */
    while (2 * threads <= (t->threads ? t->threads : 256))
        threads *= 2;
    cudaMemsetAsync(t->out, 0, sizeof(float), stream);
    add_blocks<<<blocks, threads, threads * sizeof(float), stream>>>((const float *)t->in, t->n,
                                                                     (float *)t->out);
    return (int)cudaGetLastError(); /* ulpscope waits for the stream */
}

static const struct ulpscope_subject subject[] = {{
    "blocks",
    "a sum per block, added with atomics",
    ULPSCOPE_SUM,
    ULPSCOPE_DEVICE,
    ULPSCOPE_NO_PROMISE,
    ULPSCOPE_PAIR(ULPSCOPE_FP32, ULPSCOPE_FP32),
    ULPSCOPE_READS_THREADS | ULPSCOPE_READS_BLOCKS,
    sum_blocks,
}};

const struct ulpscope_subjects ulpscope_subjects = {ULPSCOPE_SUBJECT_VERSION, 1, subject};
