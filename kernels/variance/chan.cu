/* variance/chan: means and scatters of parts, merged in the tree of sum/tiled (the steps are
 * kernels/variance/chan.c's).
 *
 * A launch for each level. In a tile of elements that is full, counts are known beforehand, and so
 * is what they are divided by: a warp merges it (kernels/blocks/tile.cuh). Any other tile is a
 * block's, each thread merging a column of it, then the columns by halving. */
#include "kernels/variance/chan.cuh"
#include "kernels/blocks/tile.cuh"

namespace
{

constexpr unsigned tiles_of_block = TILE_COLUMNS / warp_lanes;

/* The leaves of the first level, and of those above. */
template <typename A, typename S> __device__ inline part<A> part_of(const S *x)
{
    A element = convert<A>(__ldcs(x));
    return {1, element, subtract(element, element)};
}
template <typename A> __device__ inline part<A> part_of(const part<A> *x)
{
    return *x;
}

/* Column c of a tile of `present` leaves. */
template <typename A, typename L>
__device__ inline part<A> column(const L *tile, unsigned present, unsigned c)
{
    part<A> sum = {};
    for (unsigned i = c; i < present; i += TILE_COLUMNS)
        if (i == c)
            sum = part_of<A>(tile + i);
        else
            merge(sum, part_of<A>(tile + i));
    return sum;
}

/* A piece of a full tile (kernels/blocks/piece.cuh), whose count all lanes know at each step. */
template <typename A> struct known_part : words_of<A, 2> {
    unsigned count;

    /* Quotients of 1 by 2 to 8 have no digits that look like a tie: rounded to double first, they
     * round as they would at once. */
    __device__ void append(const known_part &b)
    {
        merge(b, rounded<A>(1.0 / (count + 1)));
        count++;
    }
    /* Of as many elements. */
    __device__ void join(const known_part &b)
    {
        merge(b, rounded<A>(0.5f));
        count *= 2;
    }

  private:
    /* A holds the count: it is below 8, or a power of two. */
    __device__ void merge(const known_part &b, A share)
    {
        A known = rounded<A>((float)count), *w = this->w;
        part<A> sum = {0, w[0], w[1]};
        merge_by(sum, part<A>{0, b.w[0], b.w[1]}, share, [=](A x) { return multiply(x, known); });
        w[0] = sum.mean;
        w[1] = sum.scatter;
    }
};

template <typename A> struct known_elements {
    template <typename S> __device__ known_part<A> leaf_of(S element) const
    {
        known_part<A> leaf;
        leaf.w[0] = convert<A>(element);
        leaf.w[1] = subtract(leaf.w[0], leaf.w[0]);
        leaf.count = 1;
        return leaf;
    }
};

/* Tile `tile` of `count` leaves, by a block with a thread for each column; the first thread gets
 * it.
 */
template <typename A, typename L>
__device__ inline part<A> merge_tile(const L *leaf, size_t count, size_t tile, part<A> *shared)
{
    unsigned present = (unsigned)min((size_t)TILE, count - tile * TILE), c = threadIdx.x;
    unsigned columns = min(present, (unsigned)TILE_COLUMNS);
    shared[c] = column<A>(leaf + tile * TILE, present, c);
    __syncthreads();
    for (unsigned stride = TILE_COLUMNS / 2; stride > 0; stride /= 2) {
        if (c < stride && c + stride < columns)
            merge(shared[c], shared[c + stride]);
        __syncthreads();
    }
    return shared[0];
}

/* The variance of n elements, of which there is but one part left; else the part of a tile. */
template <typename A> __device__ inline void put(part<A> sum, size_t n, part<A> *to, A *out)
{
    if (sum.count == n)
        *out = quotient(sum.scatter, n);
    else
        *to = sum;
}

/* `full` tiles of elements, a warp's each; the others a block's each, from block `first` on. */
template <typename A, typename S>
__global__ __launch_bounds__(TILE_COLUMNS) void merge_elements(const S *x, size_t n, size_t full,
                                                               unsigned first, part<A> *to, A *out)
{
    __shared__ part<A> shared[TILE_COLUMNS];
    if (blockIdx.x >= first) {
        size_t tile = full + blockIdx.x - first;
        part<A> sum = merge_tile<A>(x, n, tile, shared);
        if (threadIdx.x == 0)
            put(sum, n, to + tile, out);
        return;
    }
    size_t tile = (size_t)blockIdx.x * tiles_of_block + threadIdx.x / warp_lanes;
    if (tile >= full)
        return;
    known_part<A> sum = tile_by_warp<known_part<A>>(x + tile * TILE, known_elements<A>());
    if (threadIdx.x % warp_lanes == 0)
        put({TILE, sum.w[0], sum.w[1]}, n, to + tile, out);
}

template <typename A>
__global__ __launch_bounds__(TILE_COLUMNS) void merge_parts(const part<A> *leaf, size_t count,
                                                            size_t n, part<A> *to, A *out)
{
    __shared__ part<A> shared[TILE_COLUMNS];
    part<A> sum = merge_tile<A>(leaf, count, blockIdx.x, shared);
    if (threadIdx.x == 0)
        put(sum, n, to + blockIdx.x, out);
}

template <typename S, typename A> int run(const struct cuda_task *t)
{
    cudaStream_t stream = (cudaStream_t)t->stream;
    part<A> *from = (part<A> *)t->workspace;
    A *out = (A *)t->out;
    size_t count = t->of->in.n > 0 ? groups_of(t->of->in.n, TILE) : 1;
    size_t full = (uintptr_t)t->of->in.data % sizeof(uint4) == 0 ? t->of->in.n / TILE : 0;
    unsigned first = (unsigned)groups_of(full, tiles_of_block);
    merge_elements<<<first + (unsigned)(count - full), TILE_COLUMNS, 0, stream>>>(
        (const S *)t->of->in.data, t->of->in.n, full, first, from, out);
    cudaError_t error = cudaGetLastError();
    while (count > 1 && error == cudaSuccess) {
        size_t groups = groups_of(count, TILE);
        merge_parts<<<(unsigned)groups, TILE_COLUMNS, 0, stream>>>(from, count, t->of->in.n,
                                                                   from + count, out);
        error = cudaGetLastError();
        from += count;
        count = groups;
    }
    return error;
}

/* The parts of all levels, one after the other. */
size_t workspace(const struct cuda_task *t)
{
    size_t parts = 0;
    for (size_t count = t->of->in.n; count > 1; parts += count)
        count = groups_of(count, TILE);
    return parts * sizeof(part<double>);
}

} // namespace

extern "C" const struct cuda_method variance_chan_cuda = {workspace, no_workspace, BY_TYPES(run)};
