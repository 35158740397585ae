/* scan/hillis_steele: log n rounds of n additions.
 *
 * A kernel gives every element a thread. In round d each thread adds to its element what stands d
 * places before it, and d doubles from round to round: after the round of 1 each element holds the
 * sum of two, after that of 2 the sum of four, and after the last one everything before it as well.
 * A thread must see what its neighbour held before the round, not what it makes of it. So a round
 * reads one buffer and writes the other, and the next round, which trades them, is a kernel of its
 * own: the end of a kernel is the barrier that the whole grid waits at. All this reads and writes
 * the array log n times, and adds where a serial scan has long been done; but no tree is lower. */
#include "kernels/device/device.cuh"

namespace
{

constexpr unsigned threads = 256;

__device__ size_t own_element()
{
    return (size_t)blockIdx.x * blockDim.x + threadIdx.x;
}

template <typename S, typename A> __global__ void load(const S *x, size_t n, A *v)
{
    size_t i = own_element();
    if (i < n)
        v[i] = convert<A>(x[i]);
}

template <typename A> __global__ void add_before(const A *v, size_t n, size_t d, A *next)
{
    size_t i = own_element();
    if (i < n)
        next[i] = i >= d ? add(v[i - d], v[i]) : v[i];
}

/* An exclusive scan is the inclusive one, shifted. */
template <typename A, typename O>
__global__ void store(const A *v, size_t n, bool exclusive, O *out)
{
    size_t i = own_element();
    if (i < n)
        out[i] = !exclusive ? convert<O>(v[i]) : i > 0 ? convert<O>(v[i - 1]) : rounded<O>(0.0f);
}

size_t buffer_bytes(const struct cuda_task *t)
{
    return groups_of(t->of->in.n * format_facts[t->accumulator].bytes, 256) * 256;
}

template <typename S, typename A, typename O> int run(const struct cuda_task *t)
{
    cudaStream_t stream = (cudaStream_t)t->stream;
    A *v = (A *)t->workspace, *next = (A *)((char *)t->workspace + buffer_bytes(t));
    unsigned blocks = (unsigned)groups_of(t->of->in.n, threads); /* they fit: 2^39 elements do */
    load<<<blocks, threads, 0, stream>>>((const S *)t->of->in.data, t->of->in.n, v);
    for (size_t d = 1; d < t->of->in.n; d *= 2) {
        add_before<<<blocks, threads, 0, stream>>>((const A *)v, t->of->in.n, d, next);
        A *sums = next;
        next = v;
        v = sums;
    }
    store<<<blocks, threads, 0, stream>>>((const A *)v, t->of->in.n, t->of->exclusive, (O *)t->out);
    return cudaGetLastError();
}

size_t workspace(const struct cuda_task *t)
{
    return 2 * buffer_bytes(t);
}

int enqueue(const struct cuda_task *t)
{
    if (t->of->in.n == 0)
        return cudaSuccess;
    return with_scan_types(
        t, [t](auto s, auto a, auto o) { return run<decltype(s), decltype(a), decltype(o)>(t); });
}

} // namespace

extern "C" const struct cuda_method scan_hillis_steele_cuda = {workspace, no_workspace, enqueue};
