/* How the rows of a matrix are shared out among the threads that enclose their sums (enclose.cuh).
 * Any way will do: no result depends on it. */
#pragma once

#include "kernels/device/device.cuh"
#include "kernels/method/matrix.h"

namespace rows_exact_sum
{

constexpr unsigned threads = 256;                   /* of a block */
constexpr size_t busy = (size_t)1 << 19;            /* threads that keep a device busy */
constexpr size_t short_row = 128, least_share = 64; /* elements: of a thread of a part */

struct plan {
    size_t rows, length, stride;
    size_t parts, part; /* of each row; elements of each but the last, which may have fewer */
    unsigned lanes;     /* of a part, by enclose_vectors; 0: by enclose_columns */
    unsigned beside;    /* rows side by side of a thread: 1, or as many as 4 bytes of elements */
    unsigned columns, deep; /* a unit: threads side by side, and as many of each row */
    size_t groups;          /* units side by side, which make a batch */
    size_t additions;       /* that an error goes through, before parts are joined */

    __host__ __device__ size_t units() const
    {
        return (lanes > 0 ? rows : rows / stride * groups) * parts;
    }
    __host__ __device__ unsigned per_block() const
    {
        return threads / (lanes > 0 ? lanes : columns * deep);
    }
    /* The same parts where elements are not aligned to 4 bytes. */
    void take_one_by_one()
    {
        beside = 1;
        groups = columns > 0 ? groups_of(stride, columns) : 0;
    }
    __device__ size_t end_of(size_t piece) const { return min(length, (piece + 1) * part); }
};

inline plan plan_of(const struct cuda_task *t)
{
    plan p = {};
    p.rows = t->of->bins;
    p.length = matrix_length(t->of->in.n, t->of->bins);
    p.stride = t->of->stride;
    if (p.stride == 1) {
        p.lanes = 8;
        while (p.lanes < warp_lanes && p.rows * p.lanes < busy && p.length >= least_share * p.lanes)
            p.lanes *= 2;
    } else {
        size_t share = t->of->in.n / least_share >= busy ? least_share : 16;
        unsigned bytes = (unsigned)format_facts[t->of->in.format].bytes;
        p.beside = p.stride * bytes % sizeof(unsigned) == 0 && bytes < sizeof(unsigned)
                       ? sizeof(unsigned) / bytes
                       : 1;
        p.groups = groups_of(p.stride / p.beside, threads / 4);
        p.columns = (unsigned)groups_of(p.stride / p.beside, p.groups);
        p.deep = (unsigned)min((size_t)threads / p.columns, max(p.length / share, (size_t)1));
    }
    size_t each = max(p.lanes, p.deep), beside = max(p.beside, 1u);
    size_t parts = min(groups_of(busy, p.rows / beside * each), p.length / (least_share * each));
    p.part = groups_of(p.length, max(parts, (size_t)1));
    p.parts = groups_of(p.length, p.part);
    /* Of a thread, whose share has a vector more at either end; of the doublings of 1. */
    p.additions = groups_of(p.part, each) + 2 * sizeof(uint4) + 2 * 8;
    return p;
}

} // namespace rows_exact_sum
