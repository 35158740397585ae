/* scan/three_kernel: tile sums, a scan of the tile sums, the tiles again.
 *
 * No block knows what lies before its tile until all blocks before have been added up. So this is
 * done in three steps, which the ends of kernels keep apart: a first kernel adds up each tile and
 * keeps nothing but its sum; the tile sums, an array itself, are scanned; and a last kernel reads
 * each tile again, scans it, and adds what lies before it. The elements are read twice, which is
 * why scans of a single pass were invented (scan/lookback, scan/tiled).
 *
 * A tile is 4 T elements for a block of T threads, and each thread owns four consecutive ones. For
 * the sum of a tile the threads' sums are folded by halving; for its scan they are scanned as in
 * scan/hillis_steele, in shared memory. A prefix is (tiles before + threads before) + serial sum
 * inside the thread. The scan of the tile sums is exclusive, by this same rule, with tiles of tile
 * sums where there are many.
 *
 * Where there is no element, -0 takes its place, which adds nothing; so does nothing itself, of
 * tiles, threads or elements before, until it is the result. */
#include "kernels/device/device.cuh"

namespace
{

constexpr unsigned owned = 4;

/* The elements of a thread become serial sums. Lanes beyond `threads` own nothing. */
template <typename A, typename S>
__device__ void sum_own(const S *x, size_t n, size_t begin, unsigned threads, A (&v)[owned])
{
#pragma unroll
    for (unsigned j = 0; j < owned; j++) {
        bool present = threadIdx.x < threads && begin + j < n;
        v[j] = present ? convert<A>(x[begin + j]) : minus_zero<A>();
        if (j > 0)
            v[j] = add(v[j - 1], v[j]);
    }
}

/* The sum of the threads before this one, by rounds d = 1, 2, 4, ...; `shared` has block_lanes
 * places, which must not be in use. */
template <typename A> __device__ A sum_before(A sum, A *shared)
{
    shared[threadIdx.x] = sum;
    __syncthreads();
    for (unsigned d = 1; d < blockDim.x; d *= 2) {
        if (threadIdx.x >= d)
            sum = add(shared[threadIdx.x - d], sum);
        __syncthreads();
        shared[threadIdx.x] = sum;
        __syncthreads();
    }
    return threadIdx.x > 0 ? shared[threadIdx.x - 1] : minus_zero<A>();
}

template <typename S, typename A>
__global__ void sum_tiles(const S *x, size_t n, unsigned threads, size_t tiles, A *sum)
{
    __shared__ A shared[block_lanes];
    for (size_t k = blockIdx.x; k < tiles; k += gridDim.x) {
        A v[owned];
        sum_own(x, n, (k * threads + threadIdx.x) * owned, threads, v);
        A folded = block_halving(v[owned - 1], shared);
        if (threadIdx.x == 0)
            sum[k] = folded;
        __syncthreads();
    }
}

/* before[k]: the sum of all tiles before k; NULL: there are none. `nothing` is written where the
 * prefix covers no element. x and out may be one. */
template <typename S, typename A, typename O>
__global__ void scan_tiles(const S *x, size_t n, unsigned threads, size_t tiles, const A *before,
                           bool exclusive, float nothing, O *out)
{
    __shared__ A shared[block_lanes];
    for (size_t k = blockIdx.x; k < tiles; k += gridDim.x) {
        size_t begin = (k * threads + threadIdx.x) * owned;
        A v[owned];
        sum_own(x, n, begin, threads, v);
        A seed = sum_before(v[owned - 1], shared);
        seed = add(before ? before[k] : minus_zero<A>(), seed);
#pragma unroll
        for (unsigned j = 0; j < owned; j++) {
            A inside = !exclusive ? v[j] : j > 0 ? v[j - 1] : minus_zero<A>();
            O prefix = convert<O>(add(seed, inside));
            if (threadIdx.x < threads && begin + j < n)
                out[begin + j] = exclusive && begin + j == 0 ? rounded<O>(nothing) : prefix;
        }
        __syncthreads();
    }
}

size_t tiles_of(size_t n, unsigned threads)
{
    return groups_of(n, (size_t)owned * threads);
}

/* Places for so many tile sums, aligned for the next level's. */
size_t places_of(size_t tiles)
{
    return groups_of(tiles, 128) * 128;
}

/* Tile sums take the places from `sum` on; those of the next level follow them. */
template <typename S, typename A, typename O>
void scan(const S *x, size_t n, unsigned threads, A *sum, bool exclusive, float nothing, O *out,
          cudaStream_t stream)
{
    size_t tiles = tiles_of(n, threads);
    unsigned blocks = grid_for(tiles), lanes = lanes_for(threads);
    if (tiles > 1) {
        sum_tiles<<<blocks, lanes, 0, stream>>>(x, n, threads, tiles, sum);
        scan<A, A, A>(sum, tiles, threads, sum + places_of(tiles), true, -0.0f, sum, stream);
    }
    scan_tiles<<<blocks, lanes, 0, stream>>>(
        x, n, threads, tiles, tiles > 1 ? (const A *)sum : NULL, exclusive, nothing, out);
}

template <typename S, typename A, typename O> int run(const struct cuda_task *t)
{
    scan<S, A, O>((const S *)t->of->in.data, t->of->in.n, t->threads, (A *)t->workspace,
                  t->of->exclusive, 0.0f, (O *)t->out, (cudaStream_t)t->stream);
    return cudaGetLastError();
}

size_t workspace(const struct cuda_task *t)
{
    size_t places = 0;
    for (size_t n = t->of->in.n, tiles; (tiles = tiles_of(n, t->threads)) > 1; n = tiles)
        places += places_of(tiles);
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

extern "C" const struct cuda_method scan_three_kernel_cuda = {workspace, no_workspace, enqueue};
