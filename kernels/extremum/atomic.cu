/* minimum/atomic and so on: an atomic comparison per element.
 *
 * There is one key, in memory, and an atomicMin for every element. Of indices, the word holds key
 * and index, the key above: so of equal keys the lower index is the less. Where the two have no
 * room in a word, it is the index alone, and the key is that of the element there, which an element
 * of a lesser one is exchanged for by compare and swap. Whoever comes first, the bits are the same.
 */
#include "kernels/extremum/key.cuh"

namespace
{

typedef unsigned long long word;

/* Does a word hold key and index? */
template <typename S> bool fits(const struct cuda_task *t)
{
    return sizeof(key<S>) < sizeof(word) && t->of->in.n <= (size_t)1 << 32;
}

template <typename S> __global__ void offer_keys(const S *x, extremum_task t, key<S> *least)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x, grid = (size_t)gridDim.x * blockDim.x;
    for (; i < t.n; i += grid)
        atomicMin(least, key_of(x[i], t.seek));
}

template <typename S> __global__ void offer_both(const S *x, extremum_task t, word *least)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x, grid = (size_t)gridDim.x * blockDim.x;
    for (; i < t.n; i += grid)
        atomicMin(least, (word)key_of(x[i], t.seek) << 32 | i);
}

template <typename S> __global__ void offer_indices(const S *x, extremum_task t, word *best)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x, grid = (size_t)gridDim.x * blockDim.x;
    for (; i < t.n; i += grid) {
        found<S> own = {key_of(x[i], t.seek), i};
        word seen = *(volatile word *)best, before;
        do {
            before = seen;
            if (!own.better_than({key_of(x[before], t.seek), before}))
                break;
            seen = atomicCAS(best, before, (word)i);
        } while (seen != before);
    }
}

/* Before the first: no key is more, or the index of the first element. */
__global__ void start(word *cell, word least)
{
    *cell = least;
}

template <typename S> __global__ void finish(extremum_task t, const word *cell, bool both)
{
    found<S> best = {(key<S>)*cell, (size_t)*cell};
    if (both)
        best.index = *cell & 0xffffffff;
    write_extremum(t, best);
}

size_t workspace(const struct cuda_task *)
{
    return sizeof(word);
}

template <typename S> int run(const struct cuda_task *t, unsigned seek)
{
    extremum_task task = extremum_task_of(t, seek);
    cudaStream_t stream = (cudaStream_t)t->stream;
    const S *x = (const S *)t->of->in.data;
    word *cell = (word *)t->workspace;
    unsigned blocks = grid_for(groups_of(t->of->in.n, t->threads));
    bool index = seek & SEEK_INDEX, both = index && fits<S>(t);
    start<<<1, 1, 0, stream>>>(cell, index && !both ? 0 : ~(word)0);
    if (t->of->in.n > 0 && !index)
        offer_keys<<<blocks, t->threads, 0, stream>>>(x, task, (key<S> *)cell);
    else if (t->of->in.n > 0 && both)
        offer_both<<<blocks, t->threads, 0, stream>>>(x, task, cell);
    else if (t->of->in.n > 0)
        offer_indices<<<blocks, t->threads, 0, stream>>>(x, task, cell);
    finish<S><<<1, 1, 0, stream>>>(task, cell, both);
    return cudaGetLastError();
}

} // namespace

#define METHOD(sought, seek) EXTREMUM_ON_GPU(sought, atomic, seek)
EXTREMA_ON_GPU(METHOD)
