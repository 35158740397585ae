/* The tree of scan/tiled (its words stand in tiled.c) on a GPU, in one pass over memory, for
 * anything that can be added: scan/tiled, scan/compensated and scan/segmented.
 *
 * Everything here is a schedule:
 *
 *   - A block takes one tile after the other (pipeline.cuh). Each of its first warps has a row of
 *     the tile, each lane a chunk (row.cuh). The others do not touch elements (look_back.cuh): the
 *     publisher claims tiles and publishes their sums, the completer those of groups, and scouts
 *     find out what lies before a tile.
 *   - A tile is fetched into shared memory, later summed, later scanned there and stored. A block
 *     has several tiles on the way: one is fetched, the next ones have been summed and published,
 *     and wait until the sum of everything before them is known. So every sum that is needed was
 *     published some time ago, and memory is busy all the time.
 *   - Every tile publishes its sum alone. The last tile of a group publishes the group's too, and
 *     the last one of a super-group the sum of all elements up to there: of that chain, which is
 *     the only one, 1024 tiles are a link.
 *   - Where all tiles have room on the device at once, or nearly, time is latency: then each has a
 *     block of its own (one_tile.cuh).
 *
 * Why it cannot deadlock, however many blocks run at a time: tiles are claimed in ascending order,
 * by blocks that run, and a block sums its tiles in that order. Consider the lowest tile whose sum
 * is not published. What keeps its block is at most the scanning of a lower tile, or a completer
 * with the group that a lower tile ends; both wait for the sums of tiles lower still, which are
 * published, and of groups and super-groups below, which wait for nothing but such sums. (A scout
 * that lingers waits for tiles of its own block, which are summed before the tile that it is about
 * is scanned.) */
#pragma once

#include "kernels/scan/one_tile.cuh"
#include "kernels/scan/pipeline.cuh"

namespace scan_pass
{

inline bool aligned(const void *address)
{
    return (uintptr_t)address % sizeof(uint4) == 0;
}

/* What a device has room for. Memory is shared memory, in bytes. */
struct room {
    int device, multiprocessors;
    int blocks;      /* on a multiprocessor, for all but their memory */
    int memory, own; /* a multiprocessor's; a block's beside its stages */
    int most;        /* for the stages of a block */
};

/* A cudaError_t. */
template <typename P, typename S, typename O> int room_on_device(room *r)
{
    static room known = {-1, 0, 0, 0, 0, 0}; /* for this kernel, on the device asked last */
    auto kernel = scan_tiles<P, S, O>;
    cudaFuncAttributes facts;
    room now = {};
    cudaError_t error = cudaGetDevice(&now.device);
    *r = known;
    if (error != cudaSuccess || now.device == known.device)
        return error;
    auto ask = [&](int *value, cudaDeviceAttr attribute) {
        if (error == cudaSuccess)
            error = cudaDeviceGetAttribute(value, attribute, now.device);
    };
    ask(&now.multiprocessors, cudaDevAttrMultiProcessorCount);
    ask(&now.memory, cudaDevAttrMaxSharedMemoryPerMultiprocessor);
    ask(&now.own, cudaDevAttrReservedSharedMemoryPerBlock);
    ask(&now.most, cudaDevAttrMaxSharedMemoryPerBlockOptin);
    if (error == cudaSuccess)
        error = cudaFuncGetAttributes(&facts, kernel);
    if (error != cudaSuccess)
        return error;
    now.own += (int)facts.sharedSizeBytes;
    now.most -= (int)facts.sharedSizeBytes;
    error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, now.most);
    if (error == cudaSuccess)
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&now.blocks, kernel,
                                                              crew<P, S, O>::threads, 0);
    if (error == cudaSuccess)
        *r = known = now;
    return error;
}

struct schedule {
    unsigned blocks, stages;
};

/* Stages of a block where a multiprocessor has so many blocks. */
inline unsigned stages_for(const room &r, unsigned blocks, size_t stage)
{
    int bytes = min(r.memory / (int)blocks - r.own, r.most);
    return bytes < 0 ? 0 : (unsigned)min(bytes / stage, (size_t)stages_most);
}

/* So many stages hide the time that sums take to become known. Exact pieces cost so many
 * instructions that a second block does more good; where rows have starts, only if it leaves more
 * stages. (All measured on an H200.) */
template <typename P> constexpr unsigned enough_stages = P::starts ? 6 : P::exact ? 3 : 11;

/* Few tiles: as many blocks as there is room for, each with room for all of its tiles. Many: as
 * many blocks as leave each enough stages. False where a block has no room for two. */
inline bool make_schedule(schedule *s, const room &r, size_t stage, unsigned tiles, unsigned enough)
{
    for (int each = r.blocks; each > 0; each--) {
        unsigned blocks = min((unsigned)(each * r.multiprocessors), tiles);
        unsigned share = (tiles - 1) / blocks + 1, stages = stages_for(r, (unsigned)each, stage);
        *s = {blocks, min(stages, share / 2 + 3)};
        if (stages > share || stages >= enough)
            break;
    }
    return s->stages >= 2;
}

/* A block for each tile is faster up to so many tiles, and up to so many bytes in all (measured on
 * an H200). */
constexpr size_t few_tiles = 512, few_bytes = 10 << 20;

template <typename P, typename S, typename O>
int launch(const pass<S, O> &p, const schedule &s, cudaStream_t stream)
{
    constexpr size_t tile = SCAN_ROWS * SCAN_CHUNKS * chunk_bytes<S, O>;
    if (p.tiles <= few_tiles || p.tiles * tile <= few_bytes)
        scan_one_tile<P><<<p.tiles, SCAN_ROWS * warp_lanes, tile, stream>>>(p);
    else
        scan_tiles<P>
            <<<s.blocks, crew<P, S, O>::threads, s.stages * crew<P, S, O>::stage, stream>>>(p);
    return cudaGetLastError();
}

inline unsigned tiles_of(const struct cuda_task *t)
{
    return (unsigned)groups_of(t->of->in.n, SCAN_TILE);
}

template <typename P, typename S, typename O>
int run(const struct cuda_task *t, const doubts &d = {})
{
    room r;
    schedule s = {0, 0};
    if (t->of->in.n == 0)
        return cudaSuccess;
    int error = room_on_device<P, S, O>(&r);
    if (error != cudaSuccess)
        return error;
    if (!make_schedule(&s, r, crew<P, S, O>::stage, tiles_of(t), enough_stages<P>))
        return cudaErrorInvalidConfiguration;
    pass<S, O> p = {(const S *)t->of->in.data,
                    t->of->heads,
                    (O *)t->out,
                    t->of->in.n,
                    tiles_of(t),
                    s.stages,
                    t->of->exclusive,
                    aligned(t->of->in.data),
                    aligned(t->of->heads),
                    aligned(t->out),
                    (state *)t->workspace,
                    d};
    return launch<P>(p, s, (cudaStream_t)t->stream);
}

/* `words`: those of a sum. */
inline size_t workspace(const struct cuda_task *t, unsigned words)
{
    return sizeof(state) + 2 * places(tiles_of(t)).count() * words * sizeof(word);
}

} // namespace scan_pass
