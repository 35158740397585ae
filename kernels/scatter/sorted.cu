#include "kernels/scatter/sorted.cuh"

#include <cub/device/device_radix_sort.cuh>

namespace
{

constexpr size_t alignment = 256;

size_t aligned(size_t bytes)
{
    return groups_of(bytes, alignment) * alignment;
}

/* Bits that tell bins apart; at least one, which CUB wants. */
int bits_of_bins(size_t bins)
{
    int bits = 1;
    while ((bins - 1) >> bits)
        bits++;
    return bits;
}

/* Where `storage` is NULL, sets `bytes` to what it needs. `low`: the first bit that is read. */
template <typename V, typename N>
int sort(void *storage, size_t *bytes, const struct cuda_task *t, int low, const sorted &s, N n)
{
    return cub::DeviceRadixSort::SortPairs(storage, *bytes, t->of->keys, s.keys,
                                           (const V *)t->of->in.data, (V *)s.values, n, low,
                                           bits_of_bins(t->of->bins), (cudaStream_t)t->stream);
}

/* CUB's sort is faster where it is told by the type of n that places are of 32 bits. */
template <typename V>
int sort(void *storage, size_t *bytes, const struct cuda_task *t, int low, const sorted &s)
{
    return t->of->in.n <= UINT32_MAX ? sort<V>(storage, bytes, t, low, s, (uint32_t)t->of->in.n)
                                     : sort<V>(storage, bytes, t, low, s, t->of->in.n);
}

int sort_by_width(void *storage, size_t *bytes, const struct cuda_task *t, int low, const sorted &s)
{
    switch (t->of->in.format) {
    case FP16:
    case BF16:
        return sort<unsigned short>(storage, bytes, t, low, s);
    case FP32:
        return sort<unsigned>(storage, bytes, t, low, s);
    case FP64:
        return sort<unsigned long long>(storage, bytes, t, low, s);
    case E4M3:
    case E5M2:
        break;
    }
    return cudaErrorInvalidValue;
}

/* Lays out what lies at `place`; returns the bytes ahead of CUB's. */
size_t lay_out(const struct cuda_task *t, char *place, struct sorted *s)
{
    size_t limits = t->of->bins * sizeof *s->begin, keys = aligned(t->of->in.n * sizeof *s->keys);
    size_t values = aligned(t->of->in.n * (size_t)format_facts[t->of->in.format].bytes);
    s->begin = (unsigned long long *)place;
    s->end = s->begin + t->of->bins;
    place += aligned(2 * limits);
    s->keys = (uint32_t *)place;
    s->values = place + keys;
    s->storage = place + keys + values;
    return aligned(2 * limits) + keys + values;
}

constexpr unsigned threads = 256;

__global__ void find_limits(sorted s, size_t n)
{
    for (size_t i = (size_t)blockIdx.x * threads + threadIdx.x; i < n;
         i += (size_t)gridDim.x * threads) {
        uint32_t key = s.keys[i];
        if (i == 0 || s.keys[i - 1] != key)
            s.begin[key] = i;
        if (i + 1 == n || s.keys[i + 1] != key)
            s.end[key] = i + 1;
    }
}

} // namespace

size_t sorted_workspace(const struct cuda_task *t)
{
    struct sorted s = {};
    size_t bytes = 0, ahead = lay_out(t, NULL, &s);
    if (t->of->in.n > 0 && sort_by_width(NULL, &bytes, t, 0, s) != cudaSuccess)
        bytes = 0; /* the sort will say why */
    return ahead + aligned(bytes);
}

int sorted_pairs_enqueue(const struct cuda_task *t, int low, void *place, struct sorted *s)
{
    size_t bytes = SIZE_MAX; /* enough: asking again at every run would take time */
    lay_out(t, (char *)place, s);
    return sort_by_width(s->storage, &bytes, t, low, *s);
}

int sorted_enqueue(const struct cuda_task *t, void *place, struct sorted *s)
{
    cudaStream_t stream = (cudaStream_t)t->stream;
    int error = sorted_pairs_enqueue(t, 0, place, s);
    if (error == cudaSuccess)
        error = cudaMemsetAsync(s->begin, 0, 2 * t->of->bins * sizeof *s->begin, stream);
    if (error != cudaSuccess)
        return error;
    find_limits<<<grid_for(groups_of(t->of->in.n, threads)), threads, 0, stream>>>(*s, t->of->in.n);
    return cudaGetLastError();
}
