/* A and B as matrix instructions read them, without gaps, in memory of a task's own.
 *
 * An instruction multiplies `row` bytes of k: 32, of doubles 128. Where sums are promoted each
 * chain of products begins with an instruction, and the last one of a chain ends with zeros, as
 * that of k does; so do rows and columns beyond the last, and instructions beyond the last up to a
 * whole step of a kernel. Values are moved as they are stored. Both layouts are units of 16 bytes:
 *
 *   FRAGMENTS  for mma.sync: of 16 rows (or columns) and one instruction, what each lane has of
 *              them, as kernels/mma/sync.cuh says, side by side: words t + 4 q of rows g and g + 8,
 *              q = 0, 1, ...
 *   CORES      for wgmma: of a tile's rows and a step of four instructions, the first 16 bytes of
 *              each row, then the second ones, ...: core matrices of 8 rows by 16 bytes, not
 *              swizzled */
#pragma once

#include "kernels/gemm/elements.cuh"

namespace gemm
{

enum layout { FRAGMENTS, CORES };
enum { CORE_STEP = 4, CORE_ROW = 32 }; /* instructions of a step; bytes of one */

/* How k is cut into instructions. */
struct chains {
    size_t k, chain;                          /* products; of a chain, k where there is but one */
    unsigned each;                            /* products of an instruction */
    unsigned per_chain, instructions, padded; /* padded: to whole steps */
};

inline struct chains chains_of(size_t k, size_t promote, unsigned each, unsigned step)
{
    const size_t chain = promote && promote < k ? promote : k, whole = chain ? (k - 1) / chain : 0;
    const size_t per_chain = groups_of(chain, each);
    const size_t count = whole * per_chain + groups_of(k - whole * chain, each);
    return {k,
            chain,
            each,
            (unsigned)per_chain,
            (unsigned)count,
            (unsigned)(groups_of(count, step) * step)};
}

struct packing {
    struct factor from;
    struct chains k;
    unsigned row;         /* bytes of an instruction's k */
    unsigned tile, tiles; /* rows of a tile; tiles */
    uint4 *to;
};

inline size_t packing_units(const struct packing &p)
{
    return (size_t)p.tiles * p.tile * p.k.padded * p.row / 16;
}

/* Elements `at`, `at` + 1, ... of an instruction's, of a row. */
template <typename S, int count>
__device__ inline void pick(S *to, const struct packing &p, size_t row, unsigned instruction,
                            unsigned at)
{
    const size_t chain = instruction / p.k.per_chain;
    const size_t within = (size_t)(instruction % p.k.per_chain) * p.k.each + at;
    const size_t first = chain * p.k.chain + within;
    const size_t end =
        p.k.k - chain * p.k.chain < p.k.chain ? p.k.k - chain * p.k.chain : p.k.chain;
    const bool there = instruction < p.k.instructions && row < p.from.many;
    const S *from = (const S *)p.from.data + row * p.from.step + first * p.from.next;
    if (count * sizeof(S) == 16 && there && within + count <= end && p.from.next == 1 &&
        (size_t)from % 16 == 0) {
        *(uint4 *)to = *(const uint4 *)from;
        return;
    }
#pragma unroll
    for (int i = 0; i < count; i++)
        to[i] = there && within + i < end ? from[i * p.from.next] : S(0);
}

/* S: unsigned integers as wide as an element. */
template <typename S>
__global__ static void pack_fragments(const __grid_constant__ struct packing p, size_t units)
{
    constexpr int word = sizeof(S) == 8 ? 8 : 4, words = 16 / word, of_word = word / sizeof(S);
    const size_t grid = (size_t)gridDim.x * blockDim.x;
    for (size_t u = (size_t)blockIdx.x * blockDim.x + threadIdx.x; u < units; u += grid) {
        const unsigned lane = u % 32, parts = p.row / 32, part = u / 32 % parts;
        const size_t group = u / 32 / parts, groups = p.tile / 16; /* of 16 rows */
        const unsigned instruction = group / groups % p.k.padded;
        const size_t row = group / groups / p.k.padded * p.tile + group % groups * 16 + lane / 4;
        alignas(16) S unit[16 / sizeof(S)];
#pragma unroll
        for (int w = 0; w < words; w++) {
            const unsigned number = part * words + w;
            pick<S, of_word>(unit + w * of_word, p, row + number % 2 * 8, instruction,
                             (lane % 4 + number / 2 * 4) * of_word);
        }
        p.to[u] = *(const uint4 *)unit;
    }
}

template <typename S>
__global__ static void pack_cores(const __grid_constant__ struct packing p, size_t units)
{
    constexpr unsigned columns = CORE_STEP * CORE_ROW / 16, of_unit = 16 / sizeof(S);
    const size_t grid = (size_t)gridDim.x * blockDim.x;
    const unsigned steps = p.k.padded / CORE_STEP;
    for (size_t u = (size_t)blockIdx.x * blockDim.x + threadIdx.x; u < units; u += grid) {
        /* Lanes side by side read side by side. */
        const size_t image = u / (columns * p.tile);
        const unsigned within = u % (columns * p.tile);
        const unsigned column = p.from.next == 1 ? within % columns : within / p.tile;
        const unsigned of_row = p.from.next == 1 ? within / columns : within % p.tile;
        const unsigned instruction = image % steps * CORE_STEP + column / 2;
        alignas(16) S unit[of_unit];
        pick<S, of_unit>(unit, p, image / steps * p.tile + of_row, instruction,
                         column % 2 * of_unit);
        p.to[image * columns * p.tile + column * p.tile + of_row] = *(const uint4 *)unit;
    }
}

template <enum layout layout, typename S> int pack_as(const struct packing &p, cudaStream_t stream)
{
    const size_t units = packing_units(p);
    const unsigned grid = grid_for(groups_of(units, 256));
    if (units == 0)
        return cudaSuccess;
    if constexpr (layout == CORES)
        pack_cores<S><<<grid, 256, 0, stream>>>(p, units);
    else
        pack_fragments<S><<<grid, 256, 0, stream>>>(p, units);
    return cudaGetLastError();
}

template <enum layout layout> int pack(const struct packing &p, cudaStream_t stream)
{
    switch (format_facts[p.from.format].bytes) {
    case 1:
        return pack_as<layout, unsigned char>(p, stream);
    case 2:
        return pack_as<layout, unsigned short>(p, stream);
    case 4:
        return pack_as<layout, unsigned>(p, stream);
    default:
        if constexpr (layout == FRAGMENTS)
            return pack_as<layout, unsigned long long>(p, stream);
        return cudaErrorInvalidValue;
    }
}

} // namespace gemm
