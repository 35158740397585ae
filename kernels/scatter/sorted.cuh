/* Elements sorted by bin, on a GPU: what scatter/sort and scatter/exact begin with.
 *
 * cub::DeviceRadixSort sorts them stably, over as many bits as the bins' numbers have. It moves
 * bits and adds nothing. */
#pragma once

#include "kernels/device/device.cuh"
#include "kernels/blocks/tiled.h"

/* Device addresses, in the workspace. */
struct sorted {
    unsigned long long *begin, *end; /* of each bin: its places below; both 0 where it has none */
    uint32_t *keys;                  /* of each place, ascending */
    void *values;                    /* of each place: an element as it is stored */
    void *storage;                   /* CUB's */
};

/* Bytes that sorting takes. */
size_t sorted_workspace(const struct cuda_task *t);
/* Enqueues the sort of a task with n >= 1 elements, in memory at `place`, aligned to 256 bytes; a
 * cudaError_t. */
int sorted_enqueue(const struct cuda_task *t, void *place, struct sorted *s);
/* The same, but by the bits of a bin's number from `low` on alone, and that `begin` and `end` are
 * not filled. */
int sorted_pairs_enqueue(const struct cuda_task *t, int low, void *place, struct sorted *s);

/* scatter/sort, for methods that do as it does. */
size_t sorted_sum_workspace(const struct cuda_task *t);
int sorted_sum_enqueue(const struct cuda_task *t);

/* Tiles of bins. A bin's elements are cut into tiles of TILE, of which the last may be short; a
 * warp takes a tile. The first tile of bin b is unit b. Further tiles begin at most once in any
 * window of TILE places, since a bin's next one is TILE places on, and another bin's further tiles
 * begin more than that behind its own begin: so the windows are the other units. */
struct tile_unit {
    bool any;
    size_t bin, first, count; /* the bin's places: the first, and how many */
    size_t tile;              /* which tile of the bin */

    /* Takes the tile that begins in the window of TILE places from `at` on, if one does. */
    __device__ void seek(size_t at)
    {
        tile = groups_of(at - first, TILE);
        any = tile > 0 && tile * TILE < count;
    }
    __device__ size_t begin() const { return first + tile * TILE; }
    __device__ unsigned present() const { return (unsigned)min(count - tile * TILE, (size_t)TILE); }
    __device__ size_t tiles() const { return groups_of(count, TILE); }
    /* Where the results of a bin's tiles go, if it has several: from this place on, of
     * tile_places(n). The next such bin begins more than TILE (tiles - 1) >= TILE / 2 tiles places
     * on. */
    __device__ size_t place() const { return first / (TILE / 2); }
};

inline size_t tile_places(size_t n)
{
    return groups_of(n, TILE / 2) + 1;
}

/* The same in bytes, a multiple of 256. */
inline size_t tile_bytes(size_t n, size_t bytes)
{
    return groups_of(tile_places(n) * bytes, 256) * 256;
}

__device__ inline tile_unit unit_of_window(const sorted &s, size_t window)
{
    tile_unit u = {};
    size_t at = window * TILE;
    u.bin = s.keys[at];
    u.first = s.begin[u.bin];
    u.count = s.end[u.bin] - u.first;
    u.seek(at);
    return u;
}

__device__ inline tile_unit unit_of_bin(const sorted &s, size_t bin)
{
    tile_unit u = {};
    u.any = true;
    u.bin = bin;
    u.first = s.begin[bin];
    u.count = s.end[bin] - u.first;
    return u;
}

constexpr unsigned unit_threads = 256, unit_warps = unit_threads / warp_lanes;
