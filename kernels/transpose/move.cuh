/* What moves elements as they are encoded, whatever they mean. */
#pragma once

#include "kernels/device/device.cuh"
#include "kernels/method/matrix.h"
#include "kernels/transpose/tile.h"

/* Calls `use` with a value of the unsigned type that is as wide as the storage's format. */
template <typename Use> int with_word(const struct cuda_task *t, Use use)
{
    switch (t->of->in.format) {
    case FP16:
    case BF16:
        return use((unsigned short)0);
    case FP32:
        return use((unsigned)0);
    case FP64:
        return use((unsigned long long)0);
    case E4M3:
    case E5M2:
        return use((unsigned char)0);
    }
    return cudaErrorInvalidValue;
}

namespace transpose
{

/* A thread moves 64 bytes of a tile, or less: a warp reads and writes 32 elements that lie side by
 * side. */
template <typename W> constexpr unsigned threads = sizeof(W) == 8 ? 512 : 256;

/* `pitch`: how far apart rows of the tile are in shared memory. Tiles that are moved at one time
 * lie below each other, so that what they write lies side by side: an H200 moves 2^28 fp64 elements
 * at 0.93 of a copy's rate so, and at 0.87 where what they read lies side by side. */
template <unsigned pitch, typename W>
__global__ __launch_bounds__(threads<W>) void move_tiles(const W *x, W *out, size_t rows,
                                                         size_t columns)
{
    constexpr unsigned apart = threads<W> / TRANSPOSE_TILE, each = TRANSPOSE_TILE / apart;
    __shared__ W tile[TRANSPOSE_TILE * pitch];
    unsigned side = threadIdx.x % TRANSPOSE_TILE, first = threadIdx.x / TRANSPOSE_TILE;
    size_t below = groups_of(rows, TRANSPOSE_TILE);
    size_t tiles = below * groups_of(columns, TRANSPOSE_TILE);
    for (size_t i = blockIdx.x; i < tiles; i += gridDim.x) {
        size_t row = i % below * TRANSPOSE_TILE, column = i / below * TRANSPOSE_TILE;
        unsigned down = (unsigned)min((size_t)TRANSPOSE_TILE, rows - row);
        unsigned wide = (unsigned)min((size_t)TRANSPOSE_TILE, columns - column);
        const W *from = x + row * columns + column;
        W *to = out + column * rows + row;
        W moving[each];
#pragma unroll
        for (unsigned k = 0; k < each; k++)
            if (side < wide && first + k * apart < down)
                moving[k] = __ldcs(from + (first + k * apart) * columns + side);
#pragma unroll
        for (unsigned k = 0; k < each; k++)
            tile[(first + k * apart) * pitch + side] = moving[k];
        __syncthreads();
#pragma unroll
        for (unsigned k = 0; k < each; k++)
            if (side < down && first + k * apart < wide)
                __stcs(to + (first + k * apart) * rows + side,
                       tile[side * pitch + first + k * apart]);
        __syncthreads();
    }
}

/* `padding`: bytes between rows of the tile in shared memory, at least an element's where any. */
template <unsigned padding> int enqueue(const struct cuda_task *t)
{
    return with_word(t, [t](auto word) {
        typedef decltype(word) W;
        constexpr unsigned more = padding > sizeof(W) ? padding / sizeof(W) : padding > 0;
        size_t rows = t->of->bins, columns = matrix_length(t->of->in.n, rows);
        size_t tiles = groups_of(rows, TRANSPOSE_TILE) * groups_of(columns, TRANSPOSE_TILE);
        if (t->of->in.n > 0)
            move_tiles<TRANSPOSE_TILE + more>
                <<<grid_for(tiles), threads<W>, 0, (cudaStream_t)t->stream>>>(
                    (const W *)t->of->in.data, (W *)t->out, rows, columns);
        return (int)cudaGetLastError();
    });
}

} // namespace transpose
