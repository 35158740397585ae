/* minimum/tree and so on, at the speed of memory.
 *
 * The tree does not show in a bit (kernels/extremum/extremum.h). So here blocks take vectors of 16
 * bytes as they come (kernels/blocks/vectors.cuh), lanes meet by shuffles, warps in shared memory,
 * and the block that finishes last finds the best of all blocks'.
 *
 * A lane does not ask each element for its index: it keeps the least key and the number of the
 * vector where it first was, and looks for the element in there at the end. Elements of 16 bits are
 * compared two at a time by instructions that are IEEE 754-2019's minimum and minimumNumber. */
#include <type_traits>

#include "kernels/extremum/key.cuh"
#include "kernels/blocks/vectors.cuh"
#include "kernels/blocks/superaccumulator.cuh"

namespace
{

constexpr unsigned loads = 4, threads_most = 512, blocks_most = 4096;

/* Zeros before and after each launch, but for the parts. */
struct state {
    unsigned finished, claims;       /* as last_block and each_vector have them */
    found<double> part[blocks_most]; /* those of blocks, of any format */
};

template <bool number, typename S2> __device__ inline S2 least_of_two(S2 a, S2 b)
{
    if constexpr (number)
        return __hmin2(a, b);
    else
        return __hmin2_nan(a, b);
}

/* Of a vector of pairs S2 of elements of 16 bits. */
template <bool number, typename S, typename S2>
__device__ inline key<S> least_of_pairs(uint4 bytes, unsigned seek)
{
    unsigned word[4] = {bytes.x, bytes.y, bytes.z, bytes.w};
    S2 pair[4];
#pragma unroll
    for (unsigned i = 0; i < 4; i++) {
        word[i] ^= seek & SEEK_LARGEST ? 0x80008000 : 0;
        memcpy(&pair[i], &word[i], sizeof word[i]);
    }
    S2 least = least_of_two<number>(least_of_two<number>(pair[0], pair[1]),
                                    least_of_two<number>(pair[2], pair[3]));
    unsigned seek_least = seek & ~(unsigned)SEEK_LARGEST;
    return min(key_of(least.x, seek_least), key_of(least.y, seek_least));
}

template <bool number, typename S> __device__ inline key<S> least_key(uint4 bytes, unsigned seek)
{
    if constexpr (std::is_same<S, __half>::value) {
        return least_of_pairs<number, __half, __half2>(bytes, seek);
    } else if constexpr (std::is_same<S, __nv_bfloat16>::value) {
        return least_of_pairs<number, __nv_bfloat16, __nv_bfloat162>(bytes, seek);
    } else {
        S element[sizeof bytes / sizeof(S)];
        memcpy(element, &bytes, sizeof bytes);
        key<S> least = key_of(element[0], seek);
#pragma unroll
        for (unsigned i = 1; i < sizeof bytes / sizeof(S); i++)
            least = min(least, key_of(element[i], seek));
        return least;
    }
}

/* The best of a lane. `vector` of x, the first with this key; none where it is beyond the last. */
template <typename S>
__device__ inline found<S> element_in(const vectors<S, loads> &x, key<S> k, size_t vector,
                                      unsigned seek)
{
    found<S> best = {k, ~(size_t)0};
    if (vector >= x.whole)
        return best;
    size_t first = x.before + vector * x.width;
    for (unsigned i = 0; i < x.width && best.index == ~(size_t)0; i++)
        if (key_of(x.x[first + i], seek) == k)
            best.index = first + i;
    return best;
}

template <typename S, bool index, bool number>
__global__ __launch_bounds__(threads_most) void search(vectors<S, loads> x, extremum_task t,
                                                       state *s)
{
    __shared__ found<S> shared[warp_lanes];
    key<S> least = ~(key<S>)0;
    size_t vector = ~(size_t)0;
    found<S> best = found<S>::nothing();
    x.each_vector(
        &s->claims,
        [&](uint4 bytes, size_t v) {
            key<S> next = least_key<number, S>(bytes, t.seek);
            if (index && next < least)
                vector = v;
            least = min(least, next);
        },
        [&](size_t i) {
            best.join({key_of(x.x[i], t.seek), i});
        },
        [] {});
    best.join(element_in(x, least, index ? vector : ~(size_t)0, t.seek));
    best = best_of_block(best, shared);
    found<S> *part = (found<S> *)s->part;
    if (threadIdx.x == 0)
        part[blockIdx.x] = best;
    if (!last_block(&s->finished))
        return;
    best = found<S>::nothing();
    for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x)
        best.join({__ldcg(&part[b].k), __ldcg(&part[b].index)});
    best = best_of_block(best, shared);
    if (threadIdx.x == 0) {
        s->claims = 0;
        write_extremum(t, best);
    }
}

/* So many blocks as the device at hand runs at a time; a cudaError_t. */
template <typename S, bool index, bool number>
int blocks_at_a_time(unsigned lanes, unsigned *blocks)
{
    static struct {
        int device;
        unsigned lanes, blocks;
    } known = {-1, 0, 0}; /* what was asked last */
    int device, processors, each;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess && (device != known.device || lanes != known.lanes)) {
        auto kernel = search<S, index, number>;
        error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
        if (error == cudaSuccess)
            error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, (int)lanes, 0);
        if (error == cudaSuccess)
            known = {device, lanes, (unsigned)(each * processors)};
    }
    *blocks = known.blocks;
    return error;
}

template <typename S, bool index, bool number> int launch(const struct cuda_task *t, unsigned seek)
{
    unsigned lanes = lanes_for(t->threads), most;
    int error = blocks_at_a_time<S, index, number>(lanes, &most);
    if (error != cudaSuccess)
        return error;
    vectors<S, loads> x(t->of->in.data, t->of->in.n);
    size_t blocks = min(x.batches(lanes), (size_t)min(min(most, t->blocks), blocks_most));
    search<S, index, number><<<blocks ? (unsigned)blocks : 1, lanes, 0, (cudaStream_t)t->stream>>>(
        x, extremum_task_of(t, seek), (state *)t->workspace);
    return cudaGetLastError();
}

template <typename S> int run(const struct cuda_task *t, unsigned seek)
{
    return seek & SEEK_INDEX    ? launch<S, true, false>(t, seek)
           : seek & SEEK_NUMBER ? launch<S, false, true>(t, seek)
                                : launch<S, false, false>(t, seek);
}

size_t workspace(const struct cuda_task *)
{
    return sizeof(state);
}

} // namespace

#define METHOD(sought, seek) EXTREMUM_ON_GPU(sought, tree, seek)
EXTREMA_ON_GPU(METHOD)
