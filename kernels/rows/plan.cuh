/* How the rows of a matrix are shared out among the threads that enclose their sums (enclose.cuh).
 * Any way will do: no result depends on it. */
#pragma once

#include "kernels/device/device.cuh"
#include "kernels/method/matrix.h"
#include "kernels/rows/summed.cuh"

namespace rows_exact_sum
{

constexpr unsigned warps_of_block = threads / warp_lanes;
/* Elements: a row of fewer is added by one thread. */
constexpr size_t short_row = 128;
template <typename S> constexpr size_t short_consecutive = sizeof(S) == 8 ? 32 : short_row;

/* What a warp has on its way (ring.cuh): stages, and how often 16 bytes a lane has in each; and how
 * many blocks a processor has room for. */
constexpr unsigned ring_stages = 3, ring_vectors = 4;
constexpr unsigned strip_stages = 2, strip_vectors = 4, strip_bytes = 128;
constexpr size_t strip_least = 32; /* elements of a row */
constexpr unsigned ring_blocks = 4;

struct plan {
    size_t rows, length, stride;
    size_t parts, part; /* of each row; elements of each but the last, which may have fewer */
    unsigned lanes;     /* of a part, by enclose_vectors; 0: by enclose_strips or enclose_columns */
    unsigned tall;      /* warps of a strip, all of a block or one */
    unsigned stages;    /* of a unit of a ring */
    unsigned blocks;    /* that a device has room for */
    /* By enclose_columns, rows side by side of a thread: 1, or as many as 4 bytes of elements; */
    unsigned beside;
    unsigned columns, deep; /* a unit: threads side by side, and as many of each row */
    size_t groups;          /* units side by side, which make a batch */
    size_t share;           /* elements that a thread adds at most */
    size_t additions;       /* that an error goes through, before parts are joined */

    __host__ __device__ size_t units() const { return rows / stride * groups * parts; }
    __host__ __device__ unsigned per_block() const { return threads / (columns * deep); }
    /* Units of a warp, or of `tall` of them. */
    __host__ __device__ size_t ring_units(unsigned bytes) const
    {
        return parts * (lanes > 0 ? groups_of(rows, warp_lanes / lanes)
                                  : rows / stride * groups_of(stride * bytes, strip_bytes));
    }
    /* The same parts where elements are not aligned to 4 bytes. */
    void take_one_by_one()
    {
        beside = 1;
        groups = groups_of(stride, columns);
    }
    __device__ size_t end_of(size_t piece) const { return min(length, (piece + 1) * part); }
};

/* The number of parts, at most `most` and at least `fewest`, with which `workers` have nearly equal
 * shares of `units` times as many. */
inline size_t equal_parts(size_t units, size_t workers, size_t fewest, size_t most)
{
    size_t turns = groups_of(units, workers), found = 0;
    double best = -1;
    for (size_t k = turns; k < turns + 8; k++) {
        size_t parts = max(min(k * workers / units, most), fewest), all = parts * units;
        double busy = (double)all / (double)(groups_of(all, workers) * workers);
        if (busy > best + (best < 0 ? 0 : 0.02)) {
            best = busy;
            found = parts;
        }
    }
    return found;
}

inline plan plan_of(const struct cuda_task *t)
{
    plan p = {};
    unsigned bytes = (unsigned)format_facts[t->of->in.format].bytes;
    int device = 0, processors = 0;
    if (cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device) != cudaSuccess)
        processors = 1;
    p.rows = t->of->bins;
    p.length = matrix_length(t->of->in.n, t->of->bins);
    p.stride = t->of->stride;
    p.blocks = (unsigned)processors * ring_blocks;
    p.parts = 1;
    size_t each, least, unit; /* of a part: threads that share an element's row; elements */
    if (p.stride == 1) {
        p.lanes = 8;
        while (p.lanes < warp_lanes && p.length * bytes >= 256 * p.lanes)
            p.lanes *= 2;
        each = p.lanes;
        least = 4096 / bytes;
        unit = sizeof(uint4) / bytes;
        p.tall = 1;
    } else {
        p.beside = p.stride * bytes % sizeof(unsigned) == 0 && bytes < sizeof(unsigned)
                       ? sizeof(unsigned) / bytes
                       : 1;
        p.groups = groups_of(p.stride / p.beside, threads / 4);
        p.columns = (unsigned)groups_of(p.stride / p.beside, p.groups);
        p.deep = (unsigned)min((size_t)threads / p.columns, max(p.length / 16, (size_t)1));
        p.tall = p.length >= 512 ? warps_of_block : 1;
        each = min(p.tall, p.deep);
        least = 64 * p.tall;
        unit = 4;
    }
    size_t fewest = groups_of(p.length, each * (share_most / 4));
    if (p.stride > 1 || p.lanes == warp_lanes)
        p.parts = equal_parts(p.ring_units(bytes), p.blocks * warps_of_block / p.tall, fewest,
                              max(p.length / least, fewest));
    p.part = groups_of(groups_of(p.length, p.parts), unit) * unit;
    p.parts = groups_of(p.length, p.part);
    if (p.stride == 1) {
        /* One vector more where rows do not begin with one. */
        bool aligned = p.length % unit == 0 && (uintptr_t)t->of->in.data % sizeof(uint4) == 0;
        p.stages = (unsigned)groups_of(groups_of(p.part, unit) + !aligned, p.lanes * ring_vectors);
    } else {
        p.stages = (unsigned)groups_of(p.part * strip_bytes,
                                       p.tall * strip_vectors * warp_lanes * sizeof(uint4));
    }
    /* A thread has a vector more at either end; sums of a block's threads are joined. */
    p.share = groups_of(p.part, each) + 2 * sizeof(uint4);
    p.additions = p.share + 2 * 16;
    return p;
}

} // namespace rows_exact_sum
