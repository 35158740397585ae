/* sum/tiled: the order of n alone, at the speed of memory.
 *
 * The order is kernels/sum/tiled.c's: tiles of 2048 elements, then tiles of tile sums, and so on.
 * Everything here is a schedule for it, in one launch:
 *
 *   - A block takes a run of consecutive tiles, each warp a tile at a time (tile.cuh). Tiles that
 *     are not full, or not aligned to 16 bytes, are summed by the block together.
 *   - It leaves the tile sums where other blocks find them (mailbox.cuh). 2048 of them are a tile
 *     of the next level, a group. The block that had the last run of a group waits for the sums of
 *     the others, sums the group, and leaves that sum for the next level; and so on, until the
 *     block with the last run of all writes the result.
 *   - Where there are few tiles, time is latency. Then each tile has a block, and each column a
 *     thread: the shortest way from the first load to the last addition.
 *
 * A run has a power of two tiles, 2048 at most, so that none belongs to two groups. */
#include "kernels/sum/mailbox.cuh"
#include "kernels/sum/tile.cuh"

namespace
{

struct schedule {
    size_t n;
    unsigned tiles, full; /* full: tiles that are full, if x is aligned to 16 bytes, else 0 */
    unsigned run_log2;    /* tiles of a run */
};

/* Tile `tile` of x, by the whole block. */
template <typename A, typename S>
__device__ A sum_of_tile(const S *x, size_t n, unsigned tile, A *shared)
{
    size_t begin = (size_t)tile * TILE;
    unsigned present = (unsigned)min((size_t)TILE, n - begin);
    return tile_by_block(shared, [=](unsigned c) { return column_sum<A>(x + begin, present, c); });
}

/* The serial sum of column c of a group of `present` sums, as soon as they are there. */
template <typename A> __device__ A awaited_sum(place<A> *group, unsigned present, unsigned c)
{
    unsigned rows = c < present ? (present - c - 1) / TILE_COLUMNS + 1 : 0;
    A value[TILE_ROWS], sum = minus_zero<A>();
    take(group + c, TILE_COLUMNS, rows, value);
#pragma unroll
    for (unsigned row = 0; row < TILE_ROWS; row++)
        if (row < rows)
            sum = add(sum, value[row]);
    return sum;
}

/* After this block has left the first level's sums up to `end`, the last of them its own: sums
 * every group that ends there, one level after the other. Levels follow each other in `sums`. */
template <typename A>
__device__ void climb(const schedule &s, unsigned end, place<A> *sums, A *shared, A *out)
{
    unsigned count = s.tiles;
    while (end % TILE == 0 || end == count) {
        unsigned group = (end - 1) / TILE, groups = (count - 1) / TILE + 1;
        place<A> *first = sums + (size_t)group * TILE;
        A sum = tile_by_block(
            shared, [=](unsigned c) { return awaited_sum<A>(first, end - group * TILE, c); });
        if (groups == 1) {
            if (threadIdx.x == 0)
                *out = sum_of(s.n, sum);
            return;
        }
        sums += count;
        if (threadIdx.x == 0)
            leave(sums + group, sum);
        count = groups;
        end = group + 1;
        __syncthreads();
    }
}

template <typename S, typename A>
__global__ __launch_bounds__(TILE_THREADS_MAX, 1) void sum_runs(const S *x, schedule s,
                                                                place<A> *sums, A *out)
{
    __shared__ A shared[TILE_COLUMNS];
    unsigned warp = threadIdx.x / warp_lanes, warps = blockDim.x / warp_lanes;
    unsigned run = 1u << s.run_log2;
    for (unsigned first = blockIdx.x * run; first < s.tiles; first += gridDim.x * run) {
        unsigned end = min(first + run, s.tiles);
        for (unsigned tile = first + warp; tile < min(end, s.full); tile += warps) {
            A sum = tile_by_warp<S, A>(x + (size_t)tile * TILE);
            if (threadIdx.x % warp_lanes == 0)
                leave(sums + tile, sum);
        }
        for (unsigned tile = max(first, s.full); tile < end; tile++) {
            A sum = sum_of_tile<A>(x, s.n, tile, shared);
            if (threadIdx.x == 0)
                leave(sums + tile, sum);
            __syncthreads();
        }
        climb(s, end, sums, shared, out);
    }
}

template <typename S, typename A>
__global__ __launch_bounds__(TILE_COLUMNS) void sum_few(const S *x, schedule s, place<A> *sums,
                                                        A *out)
{
    __shared__ A shared[TILE_COLUMNS];
    A sum = sum_of_tile<A>(x, s.n, blockIdx.x, shared);
    if (threadIdx.x == 0 && s.tiles == 1)
        *out = sum_of(s.n, sum);
    if (s.tiles == 1)
        return;
    if (threadIdx.x == 0)
        leave(sums + blockIdx.x, sum);
    __syncthreads();
    climb(s, blockIdx.x + 1, sums, shared, out);
}

/* One for the sum of nothing. They fit: 2^32 tiles are more than any memory. */
unsigned tiles_of(size_t n)
{
    return n > 0 ? (unsigned)groups_of(n, TILE) : 1;
}

schedule schedule_for(const struct cuda_task *t)
{
    schedule s = {};
    s.n = t->n;
    s.tiles = tiles_of(t->n);
    s.full = (uintptr_t)t->in % sizeof(uint4) == 0 ? (unsigned)(t->n / TILE) : 0;
    size_t least = lanes_for(t->threads) / warp_lanes, share = groups_of(s.tiles, t->blocks);
    while (1u << s.run_log2 < TILE && (1u << s.run_log2 < least || 1u << s.run_log2 < share))
        s.run_log2++;
    return s;
}

template <typename S, typename A> int run(const struct cuda_task *t)
{
    schedule s = schedule_for(t);
    cudaStream_t stream = (cudaStream_t)t->stream;
    const S *x = (const S *)t->in;
    place<A> *sums = (place<A> *)t->workspace;
    if (s.tiles <= TILE_FEW && t->threads == TILE_COLUMNS && t->blocks == s.tiles) {
        sum_few<<<s.tiles, TILE_COLUMNS, 0, stream>>>(x, s, sums, (A *)t->out);
    } else {
        unsigned runs = ((s.tiles - 1) >> s.run_log2) + 1;
        sum_runs<<<min(runs, t->blocks), lanes_for(t->threads), 0, stream>>>(x, s, sums,
                                                                             (A *)t->out);
    }
    return cudaGetLastError();
}

/* Places for the sums of all levels, but not for the result. */
size_t workspace(const struct cuda_task *t)
{
    size_t count = tiles_of(t->n), sums = count;
    while (count > TILE) {
        count = groups_of(count, TILE);
        sums += count;
    }
    return sums * sizeof(double);
}

int enqueue(const struct cuda_task *t)
{
    return with_types(t, [t](auto s, auto a) { return run<decltype(s), decltype(a)>(t); });
}

} // namespace

extern "C" {
extern const struct cuda_method sum_tiled_cuda;
const struct cuda_method sum_tiled_cuda = {workspace, no_workspace, enqueue};
}
