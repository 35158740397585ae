/* Elements of a scatter-add on a GPU, by bucket: a bucket is some neighbouring bins, a power of two
 * of them. In it the order of the array is kept.
 *
 * A bucket is light if its elements fit into a block's shared memory; on average they do. Heavy
 * ones, which have much of the array each, are sorted by bin in memory. */
#pragma once

#include "kernels/device/device.cuh"

constexpr unsigned bucket_bins = 512; /* of one, at most */

/* Addresses are device addresses, in the workspace. */
struct bucketed {
    unsigned bytes; /* of an element */
    unsigned n, bins;
    unsigned shift;            /* a bucket has 2^shift bins */
    unsigned buckets;          /* how many there are */
    unsigned light;            /* the most elements of a light bucket */
    const uint32_t *keys;      /* by bucket */
    const void *values;        /* likewise */
    unsigned *first;           /* of each bucket: its place; then n */
    unsigned *heavy;           /* are any? 0 when all are in buckets; who sees one sets it */
    unsigned units;            /* of heavy buckets, at most (buckets.cu) */
    unsigned *table;           /* units x bucket_bins: elements of a bin ahead of a unit */
    uint16_t *before;          /* units x part_tiles x bucket_bins: and then ahead of a tile */
    void *sorted;              /* heavy buckets' elements by bin */
    unsigned long long *begin; /* of each bin in a heavy bucket: its place there */
};

/* What is `light` for elements of so many bytes. Counters have 16 bits. */
constexpr unsigned light_bytes = 180 << 10;
__host__ __device__ constexpr unsigned light_most(unsigned bytes)
{
    return light_bytes / bytes < 0xffff ? light_bytes / bytes : 0xffff;
}

/* Has a task enough bins for buckets to be light on average? */
bool bucketed_fit(const struct cuda_task *t);
/* Bytes that buckets take. */
size_t bucketed_workspace(const struct cuda_task *t);
/* Enqueue the partition into buckets of a task with n >= 1 elements, in memory at `place`, aligned
 * to 256 bytes; and, where some turned out heavy, the sort of these. A cudaError_t. */
int bucketed_enqueue(const struct cuda_task *t, void *place, bucketed *b);
int bucketed_sort_heavy(const bucketed *b, cudaStream_t stream);

/* scatter/sort's order by buckets (bucket_sums.cu), for such tasks. */
size_t bucket_sum_workspace(const struct cuda_task *t);
int bucket_sum_enqueue(const struct cuda_task *t);

__device__ inline bool is_light(const bucketed &b, unsigned bucket)
{
    return b.first[bucket + 1] - b.first[bucket] <= b.light;
}

/* Bins first .. end-1 of a bucket. */
struct bin_range {
    unsigned first, end;
};

__device__ inline bin_range bins_of(const bucketed &b, unsigned bucket)
{
    return {bucket << b.shift, min(b.bins, (bucket + 1) << b.shift)};
}
