/* scan/blelloch: up-sweep and down-sweep over one balanced tree.
 *
 * Think of a binary tree over the array. On the way up each node learns the sum of the elements
 * under it. On the way down each node gets the sum of everything before it: it passes this on to
 * its left child, and this + the left child's sum to its right child. In the end the leaves have
 * their exclusive prefixes. This takes 2 n additions, where scan/hillis_steele takes n log n.
 *
 * A block has 1024 elements in shared memory, where the tree needs no room of its own: a node lives
 * at the last of its elements, as long as no other node needs that place. The array's tree is that
 * of its blocks, with the tree of the block sums on top of them. So a first kernel sweeps each
 * block up and keeps its sum; the block sums are scanned exclusively by this same rule, which is
 * done when there is a single block; and a second kernel sweeps each block up again, tells its root
 * what the block sums' scan found, and sweeps it down.
 *
 * Elements beyond the end are -0. Nodes above them are wrong, but no prefix asks for them. */
#include "kernels/device/device.cuh"

namespace
{

constexpr unsigned block_threads = 512, block_elements = 2 * block_threads;

/* Each thread loads two elements, half a block apart. */
template <typename A, typename S>
__device__ void load_block(const S *x, size_t n, size_t begin, A (&own)[2], A *tree)
{
#pragma unroll
    for (unsigned k = 0; k < 2; k++) {
        unsigned i = k * block_threads + threadIdx.x;
        own[k] = begin + i < n ? convert<A>(x[begin + i]) : minus_zero<A>();
        tree[i] = own[k];
    }
    __syncthreads();
}

/* Level by level: the pairs of children that are `stride` apart, as far as there are threads. */
template <typename A> __device__ void sweep_up(A *tree)
{
    for (unsigned stride = 1; stride < block_elements; stride *= 2) {
        unsigned right = (2 * threadIdx.x + 2) * stride - 1;
        if (right < block_elements)
            tree[right] = add(tree[right - stride], tree[right]);
        __syncthreads();
    }
}

template <typename A> __device__ void sweep_down(A *tree)
{
    for (unsigned stride = block_elements / 2; stride > 0; stride /= 2) {
        unsigned right = (2 * threadIdx.x + 2) * stride - 1;
        if (right < block_elements) {
            A told = tree[right], left = tree[right - stride];
            tree[right - stride] = told;
            tree[right] = add(told, left);
        }
        __syncthreads();
    }
}

template <typename S, typename A> __global__ void sum_blocks(const S *x, size_t n, A *sum)
{
    __shared__ A tree[block_elements];
    A own[2];
    load_block(x, n, (size_t)blockIdx.x * block_elements, own, tree);
    sweep_up(tree);
    if (threadIdx.x == 0)
        sum[blockIdx.x] = tree[block_elements - 1];
}

/* before[b]: the sum of all blocks before b; NULL: there are none. `nothing` is written where the
 * prefix covers no element. x and out may be one. */
template <typename S, typename A, typename O>
__global__ void scan_blocks(const S *x, size_t n, const A *before, bool exclusive, float nothing,
                            O *out)
{
    __shared__ A tree[block_elements];
    size_t begin = (size_t)blockIdx.x * block_elements;
    A own[2];
    load_block(x, n, begin, own, tree);
    sweep_up(tree);
    if (threadIdx.x == 0)
        tree[block_elements - 1] = before ? before[blockIdx.x] : minus_zero<A>();
    __syncthreads();
    sweep_down(tree);
#pragma unroll
    for (unsigned k = 0; k < 2; k++) {
        unsigned i = k * block_threads + threadIdx.x;
        A prefix = exclusive ? tree[i] : add(tree[i], own[k]);
        if (begin + i < n)
            out[begin + i] = exclusive && begin + i == 0 ? rounded<O>(nothing) : convert<O>(prefix);
    }
}

/* They fit a grid: 2^41 elements do. */
unsigned blocks_of(size_t n)
{
    return (unsigned)groups_of(n, block_elements);
}

/* Places for the sums of so many blocks, aligned for the next level's. */
size_t places_of(unsigned blocks)
{
    return groups_of(blocks, 128) * 128;
}

/* Block sums take the places from `sum` on; those of the next level follow them. Inside, nothing is
 * -0, so that it is skipped. */
template <typename S, typename A, typename O>
void scan(const S *x, size_t n, A *sum, bool exclusive, float nothing, O *out, cudaStream_t stream)
{
    unsigned blocks = blocks_of(n);
    if (blocks > 1) {
        sum_blocks<<<blocks, block_threads, 0, stream>>>(x, n, sum);
        scan<A, A, A>(sum, blocks, sum + places_of(blocks), true, -0.0f, sum, stream);
    }
    scan_blocks<<<blocks, block_threads, 0, stream>>>(x, n, blocks > 1 ? (const A *)sum : NULL,
                                                      exclusive, nothing, out);
}

template <typename S, typename A, typename O> int run(const struct cuda_task *t)
{
    scan<S, A, O>((const S *)t->of->in.data, t->of->in.n, (A *)t->workspace, t->of->exclusive, 0.0f,
                  (O *)t->out, (cudaStream_t)t->stream);
    return cudaGetLastError();
}

size_t workspace(const struct cuda_task *t)
{
    size_t places = 0;
    for (unsigned blocks = blocks_of(t->of->in.n); blocks > 1; blocks = blocks_of(blocks))
        places += places_of(blocks);
    return places * sizeof(double);
}

int enqueue(const struct cuda_task *t)
{
    if (t->of->in.n == 0)
        return cudaSuccess;
    return with_scan_types(
        t, [t](auto s, auto a, auto o) { return run<decltype(s), decltype(a), decltype(o)>(t); });
}

} // namespace

extern "C" const struct cuda_method scan_blelloch_cuda = {workspace, no_workspace, enqueue};
