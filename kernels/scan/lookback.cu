/* scan/lookback: a single pass with decoupled look-back (Merrill and Garland 2016).
 *
 * A block takes a tile, scans it, and publishes its sum without waiting. It still lacks the sum of
 * all tiles before, its prefix. So it looks back, 32 tiles at a time, a lane for each:
 * every tile there has published its sum or, if it is done itself, the sum of everything up to its
 * own end, which ends the search. Then the block publishes its own sum up to the end, for those
 * behind, and writes its prefixes. The elements are read once and the prefixes written once.
 *
 * What the lanes find depends on how far the other blocks are by then, and so does which sums are
 * added to which: the next run may give other bits.
 *
 * It cannot deadlock. Blocks may start in any order, and more of them than fit may have to wait for
 * others to end; so a block's tile is not its index but the ticket that it draws when it has
 * started. The tiles before are then all in the hands of blocks that have started too, and those
 * stay on the device until they are done. Each publishes its tile's sum before it waits for
 * anything. So a block that looks back finds after a while a sum at least in each place, whatever
 * has not started yet.
 *
 * A run draws a ticket for each tile, and the counter goes on from run to run: so the number of the
 * run, the round, is known from the ticket. What a tile publishes is marked with the round, and
 * marks of earlier rounds count as none. So nothing needs to be cleared between runs.
 *
 * In a tile a warp has 16 rows of 32 consecutive elements, one to a lane. Rows are scanned by
 * shuffles, rows are added serially, and so are warps. Threads are rounded up to whole warps. */
#include "kernels/device/device.cuh"

namespace
{

constexpr unsigned rows = 16;
typedef unsigned long long counter;

/* What a tile publishes. `mark` is 2 round + 1 once the tile's sum is known, and 2 round + 2 once
 * the prefix is, the sum of everything up to the tile's end; it is written after what it
 * announces, and read before. The first round is 0, and zero-filled tiles have published nothing.
 */
template <typename A> struct tile {
    counter mark;
    A sum, prefix;
};

__device__ inline void publish(counter *mark, counter value)
{
    __threadfence();
    *(volatile counter *)mark = value;
}

__device__ inline counter published(const counter *mark)
{
    counter value = *(const volatile counter *)mark;
    __threadfence();
    return value;
}

/* By a warp: the sum of all tiles before tile k. Every lane gets the result. */
template <typename A> __device__ A look_back(const tile<A> *tiles, size_t k, counter round)
{
    unsigned lane = threadIdx.x % warp_lanes;
    A gathered = minus_zero<A>();
    for (;; k -= warp_lanes) {
        counter mark = 2 * round + 2;
        A seen = minus_zero<A>();
        if (lane < k) {
            const tile<A> *before = &tiles[k - 1 - lane];
            while ((mark = published(&before->mark)) <= 2 * round)
                ;
            seen = __ldcg(mark == 2 * round + 2 ? &before->prefix : &before->sum);
        }
        /* The nearest prefix covers all beyond it; beyond the first tile there is nothing. */
        unsigned done = __ballot_sync(whole_warp, mark == 2 * round + 2);
        unsigned last = done ? __ffs(done) - 1 : warp_lanes;
        gathered = add(warp_halving(lane <= last ? seen : minus_zero<A>()), gathered);
        if (done)
            return gathered;
    }
}

/* v[r] becomes what the lanes of row r add up to, up to this one. */
template <typename A> __device__ void scan_rows(A (&v)[rows])
{
    unsigned lane = threadIdx.x % warp_lanes;
    for (unsigned d = 1; d < warp_lanes; d *= 2)
#pragma unroll
        for (unsigned r = 0; r < rows; r++) {
            A before = __shfl_up_sync(whole_warp, v[r], d);
            v[r] = lane >= d ? add(before, v[r]) : v[r];
        }
}

/* What a warp's rows add up to; every lane gets the result. */
template <typename A> __device__ A sum_rows(const A (&v)[rows])
{
    A sum = minus_zero<A>();
#pragma unroll
    for (unsigned r = 0; r < rows; r++)
        sum = add(sum, __shfl_sync(whole_warp, v[r], warp_lanes - 1));
    return sum;
}

/* Publishes this block's tile and returns, to all threads, the sum of what lies before it. */
template <typename A>
__device__ A exchange(tile<A> *tiles, size_t k, counter round, A tile_sum, A *before)
{
    if (threadIdx.x == 0 && k > 0) {
        tiles[k].sum = tile_sum;
        publish(&tiles[k].mark, 2 * round + 1);
    }
    if (threadIdx.x < warp_lanes) {
        __syncwarp();
        A sum = k > 0 ? look_back(tiles, k, round) : minus_zero<A>();
        if (threadIdx.x == 0) {
            tiles[k].prefix = add(sum, tile_sum);
            publish(&tiles[k].mark, 2 * round + 2);
            *before = sum;
        }
    }
    __syncthreads();
    return *before;
}

template <typename S, typename A, typename O>
__global__ __launch_bounds__(block_lanes) void single_pass(const S *x, size_t n, bool exclusive,
                                                           counter *tickets, tile<A> *tiles, O *out)
{
    __shared__ A warp_sum[block_lanes / warp_lanes], before_tile;
    __shared__ counter ticket;
    if (threadIdx.x == 0)
        ticket = atomicAdd(tickets, 1);
    __syncthreads();
    size_t k = ticket % gridDim.x;
    unsigned lane = threadIdx.x % warp_lanes, warp = threadIdx.x / warp_lanes;
    size_t begin = (k * blockDim.x + warp * warp_lanes) * rows + lane;

    A v[rows];
#pragma unroll
    for (unsigned r = 0; r < rows; r++) {
        size_t i = begin + r * warp_lanes;
        v[r] = i < n ? convert<A>(x[i]) : minus_zero<A>();
    }
    scan_rows(v);
    A own = sum_rows(v);
    if (lane == 0)
        warp_sum[warp] = own;
    __syncthreads();

    A before_warp = minus_zero<A>(), tile_sum = minus_zero<A>();
    for (unsigned w = 0; w < blockDim.x / warp_lanes; w++) {
        before_warp = w == warp ? tile_sum : before_warp;
        tile_sum = add(tile_sum, warp_sum[w]);
    }
    A seed = exchange(tiles, k, ticket / gridDim.x, tile_sum, &before_tile);
    seed = add(seed, before_warp);
#pragma unroll
    for (unsigned r = 0; r < rows; r++) {
        size_t i = begin + r * warp_lanes;
        A row_sum = __shfl_sync(whole_warp, v[r], warp_lanes - 1);
        A previous = __shfl_up_sync(whole_warp, v[r], 1);
        A inside = !exclusive ? v[r] : lane > 0 ? previous : minus_zero<A>();
        if (i < n)
            out[i] = convert<O>(sum_of(exclusive ? i : i + 1, add(seed, inside)));
        seed = add(seed, row_sum);
    }
}

constexpr size_t ticket_bytes = 256; /* so that the tiles behind them are aligned */

size_t tiles_of(const struct cuda_task *t)
{
    return groups_of(t->of->in.n, (size_t)lanes_for(t->threads) * rows);
}

/* A block for each tile: they fit a grid, 2^40 elements do. */
template <typename S, typename A, typename O> int run(const struct cuda_task *t)
{
    char *workspace = (char *)t->workspace;
    single_pass<<<(unsigned)tiles_of(t), lanes_for(t->threads), 0, (cudaStream_t)t->stream>>>(
        (const S *)t->of->in.data, t->of->in.n, t->of->exclusive, (counter *)workspace,
        (tile<A> *)(workspace + ticket_bytes), (O *)t->out);
    return cudaGetLastError();
}

size_t workspace(const struct cuda_task *t)
{
    return ticket_bytes + tiles_of(t) * sizeof(tile<double>);
}

int enqueue(const struct cuda_task *t)
{
    if (t->of->in.n == 0)
        return cudaSuccess;
    return with_scan_types(
        t, [t](auto s, auto a, auto o) { return run<decltype(s), decltype(a), decltype(o)>(t); });
}

} // namespace

extern "C" const struct cuda_method scan_lookback_cuda = {workspace, no_workspace, enqueue};
