/* The elements of an array, shared out among all lanes of a grid, in no order that anybody may rely
 * on, at the speed of memory: for sums whose result does not depend on it. `loads`: the vectors of
 * a lane that are on their way at once, a batch. */
#ifndef ULPSCOPE_SUM_VECTORS_CUH
#define ULPSCOPE_SUM_VECTORS_CUH

#include "kernels/device.cuh"

template <typename S, unsigned loads> struct vectors {
    static constexpr unsigned width = sizeof(uint4) / sizeof(S);

    const S *x;
    size_t n;
    unsigned before; /* elements before the first one that is aligned to 16 bytes */
    size_t whole;    /* vectors from there on; fewer elements than a vector has are left over */

    vectors(const void *from, size_t count) : x((const S *)from), n(count)
    {
        size_t off = (uintptr_t)from % sizeof(uint4);
        size_t skip = off % sizeof(S) ? n : off ? (sizeof(uint4) - off) / sizeof(S) : 0;
        before = (unsigned)(skip < n ? skip : n);
        whole = (n - before) / width;
    }

    /* Batches of blocks of so many threads: as many as it takes to cover all vectors. */
    __host__ __device__ size_t batches(unsigned threads) const
    {
        return groups_of(whole, (size_t)threads * loads);
    }

    /* The most elements that `each` gives a lane. */
    __device__ size_t most_by_lane() const
    {
        return groups_of(batches(blockDim.x), gridDim.x) * loads * width + 2;
    }

    /* use(element) for a lane's share, and end() after the elements of each batch. At least 16
     * threads to a block. */
    template <typename Use, typename End> __device__ void each(Use use, End end) const
    {
        const uint4 *from = (const uint4 *)(x + before) + threadIdx.x;
        size_t count = batches(blockDim.x);
        size_t batch = blockIdx.x, whole_batches = whole / ((size_t)blockDim.x * loads);
        uint4 coming[loads], now[loads];
        if (batch < whole_batches)
            load(coming, from + batch * blockDim.x * loads);
        for (; batch < whole_batches; batch += gridDim.x) {
            copy(now, coming);
            if (batch + gridDim.x < whole_batches)
                load(coming, from + (batch + gridDim.x) * blockDim.x * loads);
#pragma unroll
            for (unsigned i = 0; i < loads; i++)
                one_vector(now[i], use);
            end();
        }
        if (batch < count) {
            for (size_t v = batch * blockDim.x * loads; v + threadIdx.x < whole; v += blockDim.x)
                one_vector(__ldcs(from + v), use);
            end();
        }
        if (blockIdx.x > 0)
            return;
        size_t rest = before + whole * width + threadIdx.x;
        if (threadIdx.x < before)
            use(x[threadIdx.x]);
        if (rest < n)
            use(x[rest]);
        end();
    }

  private:
    template <typename Use> static __device__ void one_vector(uint4 bytes, Use use)
    {
        S element[width];
        memcpy(element, &bytes, sizeof bytes);
#pragma unroll
        for (unsigned i = 0; i < width; i++)
            use(element[i]);
    }
    static __device__ void load(uint4 (&to)[loads], const uint4 *from)
    {
#pragma unroll
        for (unsigned i = 0; i < loads; i++)
            to[i] = __ldcs(from + i * blockDim.x);
    }
    static __device__ void copy(uint4 (&to)[loads], const uint4 (&from)[loads])
    {
#pragma unroll
        for (unsigned i = 0; i < loads; i++)
            to[i] = from[i];
    }
};

#endif
