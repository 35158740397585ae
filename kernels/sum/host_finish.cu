/* sum/host_finish: the host adds the last few numbers.
 *
 * The first kernel is that of sum/two_kernel: it leaves one sum for each block. These are copied
 * to the host, which adds them one after the other, block 0 first, and copies the sum back. All
 * of it is enqueued on the stream, the addition on the host as a function that the driver calls
 * when the copy has arrived; so runs follow each other without anybody waiting in between. */
#include "kernels/blocks/grid_stride.cuh"

namespace
{

/* What the host needs for its part, in pinned memory; every run of a task writes the same. The
 * block results follow it. */
struct finish {
    enum format format;
    size_t n;
    unsigned count;
    uint64_t sum; /* encoded */
};

template <typename S, typename A>
__global__ void first_stage(const S *x, size_t n, unsigned threads, unsigned blocks, A *result)
{
    __shared__ A shared[block_lanes];
    A sum = grid_stride_sum(x, n, threads, blocks, shared);
    if (threadIdx.x == 0)
        result[blockIdx.x] = sum;
}

double result_of(const struct finish *f, unsigned b)
{
    uint64_t bits = 0;
    size_t bytes = format_facts[f->format].bytes;
    memcpy(&bits, (const char *)(f + 1) + b * bytes, bytes);
    return format_decode(f->format, bits);
}

void CUDART_CB add_results(void *data)
{
    struct finish *f = (struct finish *)data;
    double sum = f->n > 0 ? result_of(f, 0) : 0;
    for (unsigned b = 1; b < f->count; b++)
        sum = format_add(f->format, sum, result_of(f, b));
    f->sum = format_encode(f->format, sum);
}

template <typename S, typename A> int run(const struct cuda_task *t)
{
    cudaStream_t stream = (cudaStream_t)t->stream;
    struct finish *f = (struct finish *)t->host_workspace;
    f->format = t->accumulator;
    f->n = t->of->in.n;
    f->count = grid_stride_grid(t);

    first_stage<<<f->count, lanes_for(t->threads), 0, stream>>>(
        (const S *)t->of->in.data, t->of->in.n, t->threads, t->blocks, (A *)t->workspace);
    cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(f + 1, t->workspace, f->count * sizeof(A), cudaMemcpyDeviceToHost,
                                stream);
    if (error == cudaSuccess)
        error = cudaLaunchHostFunc(stream, add_results, f);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(t->out, &f->sum, sizeof(A), cudaMemcpyHostToDevice, stream);
    return error;
}

size_t workspace(const struct cuda_task *t)
{
    return grid_stride_grid(t) * sizeof(double);
}

size_t host_workspace(const struct cuda_task *t)
{
    return sizeof(struct finish) + grid_stride_grid(t) * sizeof(double);
}

} // namespace

extern "C" const struct cuda_method sum_host_finish_cuda = {workspace, host_workspace,
                                                            BY_TYPES(run)};
