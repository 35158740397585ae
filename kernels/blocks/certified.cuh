/* Exact values of one array, rounded once: sum/exact, and what follows from a sum or from a sum of
 * squares. The result does not depend on who adds what to what; so everything here is a schedule,
 * made for the device at hand.
 *
 *   - enclose_sums reads the elements once, at the speed of memory: each lane, then each block,
 * then the block that finishes last finds an enclosure of the sum (enclosure.cuh). Where all that
 * is enclosed rounds to one value, that is the result.
 *   - Else sum_exactly reads them again, into fixed point (kernels/blocks/superaccumulator.cuh). It
 * is launched each time, since only the device knows, and ends at once where there is a result.
 *
 * A value V of the storage S and the accumulator A has
 *   words               what is summed in fixed point
 *   enclosing           what a lane adds its elements to, batch by batch
 *   additions           the most that each element takes there
 *   add(word, stride, x)                adds what an element is to a lane's words: the specials
 *   certified(e, additions, n, &result) the result, where an enclosure tells it
 *   rounded_once(sum, n)                the result, of the exact sum */
#pragma once

#include <type_traits>

#include "kernels/blocks/exact.cuh"
#include "kernels/blocks/vectors.cuh"
#include "kernels/device/two_sum.cuh"

namespace certified_value
{

constexpr unsigned enclose_loads = 4, exact_loads = 4;

/* Zeros, but for the partial enclosures, before and after each launch. */
template <typename Words> struct state {
    unsigned finished; /* blocks */
    unsigned claims;   /* as `each` of vectors.cuh has it */
    unsigned most;     /* batches that a block took */
    bool unknown;      /* no result yet; set anew by every launch */
    total<Words> exact;
    enclosure part[blocks_most];
};

/* What a lane adds its elements to, batch by batch. */
template <typename S> struct in_doubles {
    enclosure e = enclose_nothing();
    __device__ void add(S x) { enclose(e, convert<double>(x)); }
    __device__ void end_of_batch() {}
};

/* fp16 has 40 bits, so that a double adds 2^12 elements without an error: no need to look. */
struct halves {
    enclosure e = enclose_nothing();
    double run = -0.0;
    __device__ void add(__half x) { run = __dadd_rn(run, convert<double>(x)); }
    __device__ void end_of_batch()
    {
        enclose(e, run);
        run = -0.0;
    }
};

/* A batch is added up in fp32, which costs a fraction of fp64, its errors in fp64. They go through
 * fewer additions than a batch has elements, which is batch_share of `additions_least` at most: so
 * their magnitudes count for that much less. */
constexpr double batch_share = 0x1p-7;
constexpr size_t additions_least = 1 << 12;
template <typename S> struct in_floats {
    static_assert(enclose_loads * sizeof(uint4) / sizeof(S) <= batch_share * additions_least, "");
    enclosure e = enclose_nothing();
    float run = -0.0f;
    double error = 0, magnitude = 0;
    __device__ void add(S x)
    {
        sum_and_error<float> both = two_sum(run, convert<float>(x));
        run = both.sum;
        error = __dadd_rn(error, both.error);
        magnitude = __dadd_rn(magnitude, fabs((double)both.error));
    }
    __device__ void end_of_batch()
    {
        enclose(e, run);
        enclose(e, error == 0 ? -0.0 : error); /* +0 would change a sum of -0 */
        e.magnitude = __dadd_rn(e.magnitude, __dmul_rn(magnitude, batch_share));
        run = -0.0f;
        error = magnitude = 0;
    }
};

/* An accumulator of fp64 needs smaller errors than those of a batch in fp32. */
template <typename S, typename A>
using by_width =
    typename std::conditional<sizeof(S) == 8 || sizeof(A) == 8, in_doubles<S>, in_floats<S>>::type;
template <typename S, typename A>
using enclosing_of =
    typename std::conditional<std::is_same<S, __half>::value, halves, by_width<S, A>>::type;

template <typename V, typename S, typename A>
__global__ __launch_bounds__(enclose_threads) void enclose_sums(vectors<S, enclose_loads> x,
                                                                state<typename V::words> *s, A *out)
{
    typename V::enclosing sum;
    unsigned taken = x.each(
        &s->claims, [&](S element) { sum.add(element); }, [&] { sum.end_of_batch(); });
#if __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion(); /* sum_exactly may be launched, but not go on */
#endif
    enclosure e = enclose_block(sum.e);
    if (threadIdx.x == 0) {
        s->part[blockIdx.x] = e;
        atomicMax(&s->most, taken);
    }
    if (!last_block(&s->finished))
        return;
    enclose_grid(e, s->part);
    if (threadIdx.x == 0) {
        size_t additions = V::additions * x.elements_in(__ldcg(&s->most)) + additions_in_grid;
        additions = max(additions, additions_least);
        A result;
        s->unknown = !V::certified(e, additions, x.n, &result);
        s->claims = s->most = 0;
        if (!s->unknown)
            *out = result;
    }
}

template <typename V, typename S, typename A>
__global__ __launch_bounds__(V::words::threads) void sum_exactly(vectors<S, exact_loads> x,
                                                                 state<typename V::words> *s,
                                                                 A *out)
{
#if __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize(); /* until all of enclose_sums is done */
#endif
    if (!s->unknown)
        return;
    sum_in_words(
        &s->exact, &s->finished, out,
        [&](long long *word) {
            unsigned specials = 0;
            x.each(
                NULL, [&](S element) { specials |= V::add(word, blockDim.x, element); }, [] {});
            return specials;
        },
        [=](const settled<typename V::words> &sum) { return V::rounded_once(sum, x.n); });
}

/* What the device at hand has room for: blocks at a time, and the threads and bytes of those that
 * sum exactly. */
struct room {
    int device;
    unsigned enclosing, exact, threads, bytes;
    bool early; /* a kernel may be launched while the one before it ends */
};

/* A cudaError_t. */
template <typename V, typename S, typename A> int room_on_device(room *r)
{
    static room known = {-1, 0, 0, 0, 0, false}; /* for these kernels, on the device asked last */
    room now = {};
    int processors = 0, major = 0, enclosing = 0, exact = 0;
    cudaError_t error = cudaGetDevice(&now.device);
    *r = known;
    if (error != cudaSuccess || now.device == known.device)
        return error;
    auto sum = sum_exactly<V, S, A>;
    auto enclose = enclose_sums<V, S, A>;
    auto check = [&](cudaError_t e) { error = error == cudaSuccess ? e : error; };
    check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, now.device));
    check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, now.device));
    check(room_for_words<typename V::words>(sum, now.device, &now.threads, &now.bytes));
    if (error != cudaSuccess)
        return error;
    /* The same division of the cache as the other has: changing it takes time. */
    check(cudaFuncSetAttribute(enclose, cudaFuncAttributePreferredSharedMemoryCarveout,
                               cudaSharedmemCarveoutMaxShared));
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&enclosing, enclose, enclose_threads, 0));
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&exact, sum, (int)now.threads, now.bytes));
    now.early = major >= 9;
    now.enclosing = (unsigned)(enclosing * processors);
    now.exact = (unsigned)(exact * processors);
    if (error == cudaSuccess && (now.enclosing == 0 || now.exact == 0))
        error = cudaErrorInvalidConfiguration;
    if (error == cudaSuccess)
        *r = known = now;
    return error;
}

template <typename V, typename S, typename A> int run(const struct cuda_task *t)
{
    room r;
    int error = room_on_device<V, S, A>(&r);
    if (error != cudaSuccess)
        return error;
    vectors<S, enclose_loads> x(t->of->in.data, t->of->in.n);
    vectors<S, exact_loads> y(t->of->in.data, t->of->in.n);
    auto blocks = [&](unsigned threads, unsigned most) {
        size_t batches = x.batches(threads);
        return batches == 0 ? 1 : (unsigned)min(batches, (size_t)min(most, blocks_most));
    };
    state<typename V::words> *s = (state<typename V::words> *)t->workspace;
    cudaStream_t stream = (cudaStream_t)t->stream;
    enclose_sums<V, S, A>
        <<<blocks(enclose_threads, r.enclosing), enclose_threads, 0, stream>>>(x, s, (A *)t->out);
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t exactly = {};
    exactly.gridDim = blocks(r.threads, r.exact);
    exactly.blockDim = r.threads;
    exactly.dynamicSmemBytes = r.bytes;
    exactly.stream = stream;
    exactly.attrs = &early;
    exactly.numAttrs = r.early;
    error = cudaLaunchKernelEx(&exactly, sum_exactly<V, S, A>, y, s, (A *)t->out);
    return error != cudaSuccess ? error : cudaGetLastError();
}

/* A method whose value is Value<S, A>, in every format. */
template <template <typename, typename> class Value> struct method {
    static size_t workspace(const struct cuda_task *)
    {
        return max(sizeof(state<typename Value<double, double>::words>),
                   sizeof(state<typename Value<float, float>::words>));
    }
    static int enqueue(const struct cuda_task *t)
    {
        return with_types(t, [t](auto s, auto a) {
            typedef decltype(s) S;
            typedef decltype(a) A;
            return run<Value<S, A>, S, A>(t);
        });
    }
};

} // namespace certified_value

/* A sum of elements: what values that follow from it have in common. */
template <typename S, typename A> struct value_of_sum {
    typedef typename words_for<S>::type words;
    typedef certified_value::enclosing_of<S, A> enclosing;
    static constexpr unsigned additions = 1;
    static __device__ unsigned add(long long *word, unsigned stride, S x)
    {
        return words::add(word, stride, convert<typename words::element>(x));
    }
};
