/* sum/split: a lane walks a chunk from its first element to its last.
 *
 * The chunks of a warp's lanes lie far apart, so the warp copies a piece of each to shared memory,
 * 16 bytes at a time, a few pieces ahead of the lanes that add them up. What lies before the first
 * address of a chunk that is a multiple of 16, or behind the last, its lane reads by itself. A
 * second kernel, of one block, adds the stored sums: one thread adds, the others fetch. */
#include <cuda_pipeline.h>

#include "kernels/device/device.cuh"

namespace
{

enum {
    PIECE = 8,          /* vectors of a chunk that are copied at a time */
    PLACES = 4,         /* pieces of a lane */
    PITCH = PIECE + 1,  /* vectors from a lane's piece to the next: lanes read other banks */
    STORED_LANES = 256, /* of the second kernel */
    STORED_COUNT = 1024 /* sums that are fetched at a time */
};

/* A chunk: elements begin .. end-1, of which `vectors` whole ones begin at `body`. */
template <typename S> struct chunk {
    static constexpr unsigned each = sizeof(uint4) / sizeof(S);
    size_t begin, body, vectors, end;

    __device__ chunk(const S *x, size_t n, size_t length, size_t which)
    {
        begin = min(n, which * length);
        end = min(n, begin + length);
        size_t off = (uintptr_t)(x + begin) % sizeof(uint4) / sizeof(S);
        body = min(end, begin + (off ? each - off : 0));
        vectors = (end - body) / each;
    }
};

template <typename S, typename A>
__global__ void add_chunks(const S *x, size_t n, size_t length, unsigned chunks, S *stored)
{
    constexpr unsigned each = chunk<S>::each;
    __shared__ uint4 places[PLACES][warp_lanes * PITCH];
    unsigned lane = threadIdx.x, first = blockIdx.x * warp_lanes;
    const chunk<S> mine(x, n, length, first + lane);
    /* Lanes copy for each other: a vector of every fourth chunk. */
    const uint4 *from[PIECE];
    size_t left[PIECE];
    unsigned at = lane % PIECE, row = lane / PIECE;
    for (unsigned i = 0; i < PIECE; i++) {
        const chunk<S> c(x, n, length, first + row + i * (warp_lanes / PIECE));
        from[i] = (const uint4 *)(x + c.body) + at;
        left[i] = c.vectors > at ? c.vectors - at : 0;
    }
    size_t pieces = groups_of(mine.vectors, PIECE);
    for (unsigned stride = warp_lanes / 2; stride > 0; stride /= 2)
        pieces = max(pieces, (size_t)__shfl_xor_sync(whole_warp, pieces, stride));
    auto fetch = [&](size_t p) {
#pragma unroll
        for (unsigned i = 0; i < PIECE; i++)
            if (p * PIECE < left[i])
                __pipeline_memcpy_async(
                    &places[p % PLACES][(row + i * (warp_lanes / PIECE)) * PITCH + at],
                    from[i] + p * PIECE, sizeof(uint4));
        __pipeline_commit();
    };
    A sum = minus_zero<A>();
    auto take = [&](uint4 vector) {
        S element[each];
        memcpy(element, &vector, sizeof vector);
#pragma unroll
        for (unsigned i = 0; i < each; i++)
            sum = add(sum, convert<A>(element[i]));
    };
    for (size_t p = 0; p < PLACES - 1; p++)
        fetch(p);
    for (size_t i = mine.begin; i < mine.body; i++)
        sum = add(sum, convert<A>(x[i]));
    for (size_t p = 0; p < pieces; p++) {
        __pipeline_wait_prior(PLACES - 2);
        __syncwarp();
        const uint4 *piece = &places[p % PLACES][lane * PITCH];
        if ((p + 1) * PIECE <= mine.vectors)
#pragma unroll
            for (unsigned v = 0; v < PIECE; v++)
                take(piece[v]);
        else
            for (size_t v = p * PIECE; v < mine.vectors; v++)
                take(piece[v % PIECE]);
        __syncwarp(); /* before its place is filled again */
        fetch(p + PLACES - 1);
    }
    for (size_t i = mine.body + mine.vectors * each; i < mine.end; i++)
        sum = add(sum, convert<A>(x[i]));
    if (first + lane < chunks)
        stored[first + lane] = convert<S>(sum);
}

template <typename S, typename A>
__global__ void add_stored(const S *stored, unsigned chunks, size_t n, A *out)
{
    __shared__ A part[2][STORED_COUNT];
    auto fetch = [&](unsigned begin, unsigned lanes) {
        for (unsigned i = threadIdx.x + lanes - STORED_LANES;
             i < STORED_COUNT && i < chunks - begin; i += lanes)
            part[begin / STORED_COUNT % 2][i] = convert<A>(stored[begin + i]);
    };
    A sum = minus_zero<A>();
    fetch(0, STORED_LANES);
    for (unsigned begin = 0; begin < chunks; begin += STORED_COUNT) {
        __syncthreads();
        if (threadIdx.x == 0) {
            const A *at = part[begin / STORED_COUNT % 2];
            unsigned count = min((unsigned)STORED_COUNT, chunks - begin);
#pragma unroll 16
            for (unsigned i = 0; i < count; i++)
                sum = add(sum, at[i]);
        } else if (threadIdx.x >= warp_lanes && begin + STORED_COUNT < chunks) {
            fetch(begin + STORED_COUNT, STORED_LANES - warp_lanes);
        }
    }
    if (threadIdx.x == 0)
        *out = sum_of(n, sum);
}

template <typename S, typename A> int run(const struct cuda_task *t)
{
    size_t n = t->of->in.n, length = groups_of(n, t->blocks);
    unsigned chunks = n > 0 ? (unsigned)groups_of(n, length) : 0;
    cudaStream_t stream = (cudaStream_t)t->stream;
    S *stored = (S *)t->workspace;
    if (chunks > 0)
        add_chunks<S, A><<<grid_for(groups_of(chunks, warp_lanes)), warp_lanes, 0, stream>>>(
            (const S *)t->of->in.data, n, length, chunks, stored);
    add_stored<S, A><<<1, STORED_LANES, 0, stream>>>(stored, chunks, n, (A *)t->out);
    return cudaGetLastError();
}

size_t workspace(const struct cuda_task *t)
{
    return t->blocks * sizeof(double);
}

} // namespace

extern "C" const struct cuda_method sum_split_cuda = {workspace, no_workspace, BY_TYPES(run)};
