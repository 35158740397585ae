/* The elements of an array, shared out among all lanes of a grid, in no order that anybody may rely
 * on, at the speed of memory: for sums whose result does not depend on it. `loads`: the vectors of
 * a lane that are on their way at once, a batch of its block.
 *
 * Some multiprocessors are further from some memory than others. So where memory is what takes the
 * time, blocks claim chunks of batches, each as it comes to the end of the one before, and all end
 * at about the same time. */
#pragma once

#include "kernels/device/device.cuh"

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

    /* The most elements that a lane gets in so many batches of its block. */
    __device__ size_t elements_in(unsigned taken) const
    {
        return (size_t)taken * loads * width + 2;
    }

    /* use(element) for a lane's share, and end() after the elements of each batch. The rest is as
     * in each_vector. */
    template <typename Use, typename End>
    __device__ unsigned each(unsigned *claims, Use use, End end) const
    {
        return each_vector(
            claims,
            [&](uint4 bytes, size_t) {
                S element[width];
                memcpy(element, &bytes, sizeof bytes);
#pragma unroll
                for (unsigned i = 0; i < width; i++)
                    use(element[i]);
            },
            [&](size_t i) { use(x[i]); }, end);
    }

    /* take(bytes, v) for each vector of a lane's share, the v-th of all, in ascending order;
     * single(i) for an element, the i-th of all, that belongs to none. Returns the block's batches.
     * At least 16 threads to a block. `claims`: chunks claimed beyond one for each block, 0 before
     * the first block comes; NULL: shares are fixed. */
    template <typename Take, typename Single, typename End>
    __device__ unsigned each_vector(unsigned *claims, Take take, Single single, End end) const
    {
        __shared__ size_t claimed[2]; /* one is read while the next is written */
        const uint4 *from = (const uint4 *)(x + before) + threadIdx.x;
        size_t whole_batches = whole / (blockDim.x * loads);
        unsigned chunk = claims && whole_batches > 8 * gridDim.x ? 2 : 1;
        size_t batch = (size_t)blockIdx.x * chunk;
        unsigned taken = 0, turn = 0;
        uint4 coming[loads], now[loads];
        auto claim = [&] {
            if (claims && threadIdx.x == 0)
                claimed[turn] = ((size_t)gridDim.x + atomicAdd(claims, 1)) * chunk;
        };
        if (batch < whole_batches) {
            load(coming, from + batch * blockDim.x * loads);
            claim();
        }
        while (batch < whole_batches) {
            size_t v = batch * blockDim.x * loads + threadIdx.x;
            copy(now, coming);
            batch++;
            if (!claims) {
                batch += gridDim.x - 1;
            } else if (batch % chunk == 0) {
                __syncthreads();
                batch = claimed[turn];
                turn = !turn;
                if (batch < whole_batches)
                    claim();
            }
            if (batch < whole_batches)
                load(coming, from + batch * blockDim.x * loads);
#pragma unroll
            for (unsigned i = 0; i < loads; i++)
                take(now[i], v + i * blockDim.x);
            end();
            taken++;
        }
        if (batch == whole_batches) {
            for (size_t v = batch * blockDim.x * loads; v + threadIdx.x < whole; v += blockDim.x)
                take(__ldcs(from + v), v + threadIdx.x);
            end();
            taken++;
        }
        if (blockIdx.x > 0)
            return taken;
        size_t rest = before + whole * width + threadIdx.x;
        if (threadIdx.x < before)
            single(threadIdx.x);
        if (rest < n)
            single(rest);
        end();
        return taken;
    }

  private:
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
