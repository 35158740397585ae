/* sum/tiled: the order of n alone, at the speed of memory.
 *
 * The order is kernels/sum/tiled.c's: tiles of 2048 elements, then tiles of tile sums, and so on.
 * Everything here is a schedule for it, in one launch:
 *
 *   - A block takes a run of consecutive tiles, each warp a tile at a time (tile.cuh).
 *   - 2048 tile sums are a tile of the next level, a group. The runs of a group share a counter.
 *     A block that is done with its run takes a ticket; the one with the last ticket knows that
 *     the group's sums are all there, and sums them. So it goes on, level by level, until the
 *     block that finds nobody else left writes the result.
 *   - A counter wraps to zero with its last ticket, and so is ready for the next launch.
 *
 * A run has a power of two tiles, 2048 at most, so that none belongs to two groups. */
#include "kernels/sum/tile.cuh"

namespace
{

struct schedule {
    size_t n, tiles, runs;
    unsigned run; /* tiles */
    bool wide;    /* aligned to 16 bytes */
};

/* Takes a ticket. Is it the last of `count`? The whole block learns it, and if so sees what the
 * blocks with the others wrote before. */
__device__ bool last_ticket(unsigned *ticket, unsigned count)
{
    __shared__ bool last;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicInc(ticket, count - 1) == count - 1;
        __threadfence();
    }
    __syncthreads();
    return last;
}

/* Sums the block's `present` values in shared memory; every lane of the first warp gets it. */
template <typename A> __device__ A sum_shared(const A *shared, unsigned present)
{
    return threadIdx.x < warp_lanes ? sum_any_tile<A>(shared, present, threadIdx.x)
                                    : minus_zero<A>();
}

/* After run `run` of the first level's `count` sums is there: sums every group that is thereby
 * complete, one level after the other. Levels follow each other in `sums`, groups in `tickets`. */
template <typename A>
__device__ void climb(const schedule &s, size_t run, A *sums, unsigned *tickets, A *shared, A *out)
{
    size_t count = s.tiles, per_ticket = s.run, index = run * s.run;
    for (;;) {
        size_t groups = groups_of(count, TILE), group = index / TILE, begin = group * TILE;
        unsigned present = count - begin < TILE ? (unsigned)(count - begin) : TILE;
        if (!last_ticket(tickets + group, (unsigned)groups_of(present, per_ticket)))
            return;
        for (unsigned i = threadIdx.x; i < present; i += blockDim.x)
            shared[i] = __ldcg(&sums[begin + i]);
        __syncthreads();
        A sum = sum_shared(shared, present);
        A *to = groups == 1 ? out : sums + count + group;
        if (threadIdx.x == 0)
            *to = sum;
        if (groups == 1)
            return;
        sums += count;
        tickets += groups;
        count = groups;
        index = group;
        per_ticket = 1;
    }
}

template <typename S, typename A>
__global__ __launch_bounds__(block_lanes) void sum_runs(const S *x, schedule s, A *sums,
                                                        unsigned *tickets, A *out)
{
    __shared__ A shared[TILE];
    unsigned lane = threadIdx.x % warp_lanes, warp = threadIdx.x / warp_lanes;
    unsigned warps = blockDim.x / warp_lanes;
    for (size_t run = blockIdx.x; run < s.runs; run += gridDim.x) {
        size_t first = run * s.run, end = s.tiles - first < s.run ? s.tiles : first + s.run;
        for (size_t tile = first + warp; tile < end; tile += warps) {
            const S *at = x + tile * TILE;
            size_t present = s.n - tile * TILE;
            A sum = s.wide && present >= TILE ? sum_full_tile<S, A>(at, lane)
                                              : sum_any_tile<A>(at, present, lane);
            if (lane == 0)
                *(s.runs == 1 ? shared + tile : sums + tile) = sum;
        }
        if (s.runs > 1) {
            climb(s, run, sums, tickets, shared, out);
            continue;
        }
        __syncthreads();
        A sum = sum_shared(shared, (unsigned)s.tiles);
        if (threadIdx.x == 0)
            *out = sum_of(s.n, sum);
    }
}

schedule schedule_for(const struct cuda_task *t)
{
    schedule s = {};
    s.n = t->n;
    s.tiles = t->n > 0 ? groups_of(t->n, TILE) : 1;
    s.wide = (uintptr_t)t->in % sizeof(uint4) == 0;
    size_t least = lanes_for(t->threads) / warp_lanes, share = groups_of(s.tiles, t->blocks);
    s.run = 1;
    while (s.run < TILE && (s.run < least || s.run < share))
        s.run *= 2;
    s.runs = groups_of(s.tiles, s.run);
    return s;
}

/* Sums of all levels but the last, and groups of all levels. */
size_t all_sums(size_t tiles)
{
    size_t sums = 0;
    for (size_t count = tiles; count > 1; count = groups_of(count, TILE))
        sums += count;
    return sums;
}

size_t ticket_bytes(size_t tiles)
{
    return groups_of((all_sums(tiles) / TILE + 8) * sizeof(unsigned), 256) * 256;
}

template <typename S, typename A> int run(const struct cuda_task *t)
{
    schedule s = schedule_for(t);
    unsigned blocks = s.runs < t->blocks ? (unsigned)s.runs : t->blocks;
    char *workspace = (char *)t->workspace;
    sum_runs<<<blocks, lanes_for(t->threads), 0, (cudaStream_t)t->stream>>>(
        (const S *)t->in, s, (A *)(workspace + ticket_bytes(s.tiles)), (unsigned *)workspace,
        (A *)t->out);
    return cudaGetLastError();
}

size_t workspace(const struct cuda_task *t)
{
    size_t tiles = groups_of(t->n, TILE);
    return ticket_bytes(tiles) + all_sums(tiles) * sizeof(double);
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
