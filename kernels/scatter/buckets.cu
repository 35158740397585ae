/* Partition into buckets, and of heavy ones into bins.
 *
 * Into buckets CUB's radix sort puts the elements, stably, by the upper bits of their keys. A heavy
 * bucket is cut into chunks, and a chunk into tiles (partition.cuh). Unit u of the first `buckets`
 * is the first chunk of bucket u; further chunks begin at most once in any window of part_chunk
 * places, so the windows are the other units. */
#include "kernels/scatter/buckets.cuh"

#include "kernels/scatter/partition.cuh"
#include "kernels/scatter/sorted.cuh"

namespace
{

/* Where each bucket begins, found in the sorted keys. */
__global__ void find_buckets(bucketed b)
{
    unsigned bucket = blockIdx.x * blockDim.x + threadIdx.x, low = 0, high = b.n;
    if (bucket == 0)
        *b.heavy = 0;
    if (bucket > b.buckets)
        return;
    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        if (b.keys[middle] >> b.shift < bucket)
            low = middle + 1;
        else
            high = middle;
    }
    b.first[bucket] = low;
}

__device__ inline part_range unit_range(const bucketed &b, unsigned unit)
{
    unsigned at = unit < b.buckets ? 0 : (unit - b.buckets) * part_chunk;
    part_range r = {0, 0, unit < b.buckets ? unit : b.keys[at] >> b.shift};
    if (is_light(b, r.bucket))
        return r;
    unsigned first = b.first[r.bucket], end = b.first[r.bucket + 1], chunk = 0;
    if (unit >= b.buckets) {
        chunk = (at - first + part_chunk - 1) / part_chunk;
        if (chunk == 0 || chunk > (end - first - 1) / part_chunk)
            return r;
    }
    r.begin = first + chunk * part_chunk;
    r.end = min(end, r.begin + part_chunk);
    return r;
}

/* The unit that chunk `chunk` of a bucket is, which begins at `first`. */
__device__ inline unsigned unit_of_chunk(const bucketed &b, unsigned bucket, unsigned first,
                                         unsigned chunk)
{
    return chunk == 0 ? bucket : b.buckets + first / part_chunk + chunk;
}

__global__ __launch_bounds__(part_threads) void count_bins(bucketed b)
{
    __shared__ unsigned count[bucket_bins];
    if (*b.heavy == 0)
        return;
    for (unsigned unit = blockIdx.x; unit < b.units; unit += gridDim.x) {
        part_range r = unit_range(b, unit);
        if (r.begin == r.end)
            continue;
        const uint32_t *key = b.keys + r.begin;
        unsigned first = bins_of(b, r.bucket).first;
        count_chunk<bucket_bins>(count, r.end - r.begin,
                                 b.before + (size_t)unit * part_tiles * bucket_bins,
                                 [&](unsigned i) { return key[i] - first; });
        for (unsigned d = threadIdx.x; d < bucket_bins; d += part_threads)
            b.table[(size_t)unit * bucket_bins + d] = count[d];
        __syncthreads();
    }
}

/* A block for each bucket: where its bins begin, and what of each is ahead of a unit. */
__global__ __launch_bounds__(bucket_bins) void sum_bins_before(bucketed b)
{
    unsigned bucket = blockIdx.x;
    if (*b.heavy == 0 || is_light(b, bucket))
        return;
    unsigned first = b.first[bucket], count = b.first[bucket + 1] - first, sum = 0;
    unsigned chunks = (count + part_chunk - 1) / part_chunk;
    constexpr unsigned ahead = 8;
    for (unsigned chunk = 0; chunk < chunks; chunk += ahead) {
        unsigned *place[ahead], own[ahead];
#pragma unroll
        for (unsigned k = 0; k < ahead; k++) {
            place[k] = b.table + threadIdx.x +
                       (size_t)unit_of_chunk(b, bucket, first, chunk + k) * bucket_bins;
            if (chunk + k < chunks)
                own[k] = *place[k];
        }
#pragma unroll
        for (unsigned k = 0; k < ahead; k++)
            if (chunk + k < chunks) {
                *place[k] = sum;
                sum += own[k];
            }
    }
    bin_range bins = bins_of(b, bucket);
    sum = sum_before<bucket_bins>(sum);
    if (bins.first + threadIdx.x < bins.end)
        b.begin[bins.first + threadIdx.x] = first + sum;
}

/* `at`: places of the unit that are ahead of the tile. */
template <typename V>
__device__ inline void place_unit_tile(const bucketed &b, void *memory, unsigned unit, part_range r,
                                       unsigned at)
{
    bin_range bins = bins_of(b, r.bucket);
    const uint16_t *before = b.before + ((size_t)unit * part_tiles + at / part_tile) * bucket_bins;
    const unsigned *table = b.table + (size_t)unit * bucket_bins;
    const unsigned long long *begin = b.begin + bins.first;
    const uint32_t *key = b.keys + r.begin + at;
    const V *x = (const V *)b.values + r.begin + at;
    place_tile<bucket_bins, V>(
        memory, min(r.end - r.begin - at, part_tile),
        [&](unsigned i) { return key[i] - bins.first; }, [&](unsigned i) { return x[i]; },
        [&](unsigned d) {
            return bins.first + d < bins.end ? (unsigned)begin[d] + table[d] + before[d] : 0;
        },
        [&](unsigned to, V e) { ((V *)b.sorted)[to] = e; });
    __syncthreads();
}

template <typename V> __global__ __launch_bounds__(part_threads, 2) void place_in_bins(bucketed b)
{
    extern __shared__ double memory[];
    if (*b.heavy == 0)
        return;
    for (unsigned i = blockIdx.x; i < b.units * part_tiles; i += gridDim.x) {
        unsigned unit = i / part_tiles, at = i % part_tiles * part_tile;
        part_range r = unit_range(b, unit);
        if (at < r.end - r.begin)
            place_unit_tile<V>(b, memory, unit, r, at);
    }
}

constexpr unsigned sweeps_most = 1024; /* blocks that take one unit after the other */

template <typename V> int place(const bucketed *b, cudaStream_t stream)
{
    constexpr int bytes = (int)place_bytes<bucket_bins, V>();
    int error =
        cudaFuncSetAttribute(place_in_bins<V>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (error != cudaSuccess)
        return error;
    place_in_bins<V><<<min(b->units, sweeps_most), part_threads, bytes, stream>>>(*b);
    return cudaGetLastError();
}

/* So many bins to a bucket that it has up to 7/8 of a light one's elements on average. 0: even
 * one bin would have more. */
unsigned shift_for(const struct cuda_task *t)
{
    size_t most = light_most((unsigned)format_facts[t->of->in.format].bytes) / 8 * 7;
    unsigned shift = 0;
    while (1u << shift < bucket_bins && (t->of->in.n << (shift + 1)) / t->of->bins <= most)
        shift++;
    return shift;
}

constexpr size_t alignment = 256;

/* Takes memory from `place` on. */
struct taker {
    char *place;
    size_t bytes;

    template <typename T> T *take(size_t count)
    {
        T *taken = (T *)(place + bytes);
        bytes += groups_of(count * sizeof(T), alignment) * alignment;
        return taken;
    }
};

/* Returns the bytes ahead of those of the sort. */
size_t lay_out(const struct cuda_task *t, char *place, bucketed *b)
{
    taker m = {place, 0};
    b->bytes = (unsigned)format_facts[t->of->in.format].bytes;
    b->n = (unsigned)t->of->in.n;
    b->bins = (unsigned)t->of->bins;
    b->shift = shift_for(t);
    b->buckets = (unsigned)groups_of(t->of->bins, (size_t)1 << b->shift);
    b->light = light_most(b->bytes);
    b->units = b->buckets + (unsigned)groups_of(t->of->in.n, part_chunk);
    b->first = m.take<unsigned>(b->buckets + 1);
    b->heavy = m.take<unsigned>(1);
    b->table = m.take<unsigned>((size_t)b->units * bucket_bins);
    b->before = m.take<uint16_t>((size_t)b->units * part_tiles * bucket_bins);
    b->sorted = m.take<char>(t->of->in.n * b->bytes);
    b->begin = m.take<unsigned long long>(t->of->bins);
    return m.bytes;
}

} // namespace

bool bucketed_fit(const struct cuda_task *t)
{
    constexpr size_t buckets_most = 4096, elements_most = (size_t)1 << 31;
    unsigned shift = t->of->in.n <= elements_most ? shift_for(t) : 0;
    return shift > 0 && groups_of(t->of->bins, (size_t)1 << shift) <= buckets_most;
}

size_t bucketed_workspace(const struct cuda_task *t)
{
    bucketed b = {};
    return lay_out(t, NULL, &b) + sorted_workspace(t);
}

int bucketed_enqueue(const struct cuda_task *t, void *place, bucketed *b)
{
    constexpr unsigned threads = 128;
    size_t ahead = lay_out(t, (char *)place, b);
    struct sorted s;
    int error = sorted_pairs_enqueue(t, (int)b->shift, (char *)place + ahead, &s);
    if (error != cudaSuccess)
        return error;
    b->keys = s.keys;
    b->values = s.values;
    find_buckets<<<b->buckets / threads + 1, threads, 0, (cudaStream_t)t->stream>>>(*b);
    return cudaGetLastError();
}

int bucketed_sort_heavy(const bucketed *b, cudaStream_t stream)
{
    count_bins<<<min(b->units, sweeps_most), part_threads, 0, stream>>>(*b);
    sum_bins_before<<<b->buckets, bucket_bins, 0, stream>>>(*b);
    switch (b->bytes) {
    case 2:
        return place<unsigned short>(b, stream);
    case 4:
        return place<unsigned>(b, stream);
    default:
        return place<unsigned long long>(b, stream);
    }
}
