/* A row of a tile (kernels/scan/tiled.h) in shared memory: fetched, summed, scanned and stored by a
 * warp, each lane a chunk. */
#pragma once

#include <cuda_pipeline.h>
#include <type_traits>

#include "kernels/device/device.cuh"
#include "kernels/scan/piece.cuh"
#include "kernels/scan/tiled.h"

namespace scan_pass
{

static_assert(SCAN_CHUNKS == warp_lanes, "a row is a warp's");
static_assert(SCAN_ROWS <= warp_lanes, "a warp folds them");

/* In shared memory a chunk has a place of its own, for its elements and then for its outputs. */
template <typename S, typename O>
constexpr unsigned chunk_bytes = SCAN_CHUNK *(sizeof(S) > sizeof(O) ? sizeof(S) : sizeof(O));
template <typename P, typename S, typename O> struct place_of_row {
    uint4 vector[SCAN_CHUNKS * chunk_bytes<S, O> / sizeof(uint4)];
    /* The sum of the chunks before in the row: of exact sums a double (exact_row.cuh). */
    std::conditional_t<P::starts, double, P> before[SCAN_CHUNKS];
    __device__ place_of_row() = delete;
};

template <typename T> struct chunk {
    static constexpr unsigned vectors = SCAN_CHUNK * sizeof(T) / sizeof(uint4);
    union {
        uint4 vector[vectors];
        T x[SCAN_CHUNK];
    };
    __device__ chunk() {}
};

/* Vector v of a row of chunks of T whose places have `bytes` bytes. The eight vectors of 128 bytes
 * are permuted, so that the lanes of a quarter warp read different banks, for the vectors of their
 * own chunks as for neighbouring ones. */
template <typename T, unsigned bytes> __device__ inline uint4 *vector_at(uint4 *row, unsigned v)
{
    constexpr unsigned each = chunk<T>::vectors;
    unsigned place = v / each * (bytes / sizeof(uint4)) + v % each;
    return row + (place ^ place / 8 % 8);
}
/* Element i of it. */
template <typename T, unsigned bytes> __device__ inline T *element_at(uint4 *row, unsigned i)
{
    constexpr unsigned each = sizeof(uint4) / sizeof(T);
    return (T *)vector_at<T, bytes>(row, i / each) + i % each;
}

template <typename T, unsigned bytes> __device__ inline void load_chunk(chunk<T> &c, uint4 *row)
{
#pragma unroll
    for (unsigned i = 0; i < chunk<T>::vectors; i++)
        c.vector[i] = *vector_at<T, bytes>(row, threadIdx.x % warp_lanes * chunk<T>::vectors + i);
}
template <typename T, unsigned bytes>
__device__ inline void store_chunk(const chunk<T> &c, uint4 *row)
{
#pragma unroll
    for (unsigned i = 0; i < chunk<T>::vectors; i++)
        *vector_at<T, bytes>(row, threadIdx.x % warp_lanes * chunk<T>::vectors + i) = c.vector[i];
}

/* Begins to fetch a row, by the lanes of a warp. What lies beyond n is -0. */
template <typename S, unsigned bytes>
__device__ inline void fetch_row(const S *x, size_t n, size_t begin, bool aligned, uint4 *row)
{
    unsigned lane = threadIdx.x % warp_lanes;
    if (aligned && begin + SCAN_ROW <= n) {
        const uint4 *from = (const uint4 *)(x + begin);
#pragma unroll
        for (unsigned i = 0; i < chunk<S>::vectors; i++) {
            unsigned v = i * warp_lanes + lane;
            __pipeline_memcpy_async(vector_at<S, bytes>(row, v), from + v, sizeof(uint4));
        }
    } else {
        for (unsigned i = lane; i < SCAN_ROW; i += warp_lanes)
            *element_at<S, bytes>(row, i) =
                begin + i < n ? x[begin + i] : convert<S>(minus_zero<float>());
    }
}

/* The heads of a lane's chunk, a bit each. */
struct flags {
    uint4 byte;
    __device__ void load(const uint8_t *heads, size_t n, size_t begin, bool aligned)
    {
        begin += threadIdx.x % warp_lanes * SCAN_CHUNK;
        if (heads && aligned && begin + SCAN_CHUNK <= n) {
            byte = *(const uint4 *)(heads + begin);
            return;
        }
        unsigned w[4] = {0, 0, 0, 0};
#pragma unroll
        for (unsigned i = 0; i < SCAN_CHUNK; i++)
            if (heads && begin + i < n)
                w[i / 4] |= (unsigned)heads[begin + i] << i % 4 * 8;
        byte = make_uint4(w[0], w[1], w[2], w[3]);
        if (begin == 0)
            byte.x |= 1;
    }
    __device__ unsigned mask(bool first) const
    {
        const unsigned w[4] = {byte.x, byte.y, byte.z, byte.w};
        unsigned bits = first;
#pragma unroll
        for (unsigned i = 0; i < SCAN_CHUNK; i++)
            bits |= (unsigned)((w[i / 4] >> i % 4 * 8 & 0xff) != 0) << i;
        return bits;
    }
};
static_assert(SCAN_CHUNK == sizeof(uint4), "a flag is a byte");

/* The sum of a lane's chunk. */
template <typename P, typename S, unsigned bytes>
__device__ inline P sum_chunk(uint4 *row, unsigned heads)
{
    chunk<S> c;
    load_chunk<S, bytes>(c, row);
    if constexpr (P::exact)
        return P::sum_elements(c.x);
    P sum = P::leaf(convert<typename P::accumulator>(c.x[0]), heads & 1);
#pragma unroll
    for (unsigned j = 1; j < SCAN_CHUNK; j++)
        sum = join(sum, P::leaf(convert<typename P::accumulator>(c.x[j]), heads >> j & 1));
    return sum;
}

/* v of all chunks in the row up to this one; as in scan/hillis_steele. */
template <typename P> __device__ inline P scan_chunks(P v)
{
    unsigned lane = threadIdx.x % warp_lanes;
#pragma unroll
    for (unsigned d = 1; d < warp_lanes; d *= 2) {
        P before = v.up(d);
        if (lane >= d)
            v = join(before, v);
    }
    return v;
}

/* The adjacent fold of the first `count` lanes, a power of two. Lanes that have nothing pass on
 * what the others have. All of those lanes get it. */
template <unsigned count, typename P> __device__ inline P fold_lanes(P v)
{
    unsigned lane = threadIdx.x % warp_lanes;
#pragma unroll
    for (unsigned stride = 1; stride < count; stride *= 2) {
        P other = v.across(stride);
        v = lane & stride ? join(other, v) : join(v, other);
    }
    return v;
}

/* The prefixes of a lane's chunk: use(j, prefix j). */
template <bool exclusive, typename P, typename S, typename Use>
__device__ inline void prefixes(const S (&x)[SCAN_CHUNK], P seed, unsigned heads, Use use)
{
    P inside = P::nothing();
#pragma unroll
    for (unsigned j = 0; j < SCAN_CHUNK; j++) {
        P leaf = P::leaf(convert<typename P::accumulator>(x[j]), heads >> j & 1);
        P before = inside;
        inside = j == 0 ? leaf : join(inside, leaf);
        use(j, !exclusive ? join(seed, inside) : j == 0 ? seed : join(seed, before));
    }
}

/* Replaces the elements of a lane's chunk by its prefixes. Returns whether one of them is doubtful:
 * only a piece that is exact has doubts. */
template <bool exclusive, typename P, typename S, typename O>
__device__ inline bool scan_chunk(uint4 *row, P seed, unsigned heads, bool first)
{
    typedef typename P::accumulator A;
    chunk<S> c;
    chunk<O> o;
    load_chunk<S, chunk_bytes<S, O>>(c, row);
    bool doubtful = false;
    auto use = [&](unsigned j, P prefix) {
        A value = prefix.value(&doubtful);
        if (exclusive && (P::segmented ? heads >> j & 1 : j == 0 && first))
            value = convert<A>(0.0f); /* the sum of nothing */
        o.x[j] = convert<O>(value);
    };
    if constexpr (P::exact)
        P::template prefixes<exclusive>(c.x, seed, use);
    else
        prefixes<exclusive>(c.x, seed, heads, use);
    store_chunk<O, chunk_bytes<S, O>>(o, row);
    return doubtful;
}

template <typename O, unsigned bytes>
__device__ inline void store_row(uint4 *row, O *out, size_t n, size_t begin, bool aligned)
{
    unsigned lane = threadIdx.x % warp_lanes;
    if (aligned && begin + SCAN_ROW <= n) {
        uint4 *to = (uint4 *)(out + begin);
#pragma unroll
        for (unsigned i = 0; i < chunk<O>::vectors; i++) {
            unsigned v = i * warp_lanes + lane;
            __stcs(to + v, *vector_at<O, bytes>(row, v));
        }
    } else {
        for (unsigned i = lane; i < SCAN_ROW && begin + i < n; i += warp_lanes)
            out[begin + i] = *element_at<O, bytes>(row, i);
    }
}

/* The sum of a tile from those of its rows; all lanes get it. */
template <typename P> __device__ inline P sum_rows(const P *row)
{
    unsigned lane = threadIdx.x % warp_lanes;
    P sum = lane < SCAN_ROWS ? row[lane] : P::nothing();
    return fold_lanes<SCAN_ROWS>(sum).of(0);
}

} // namespace scan_pass
