/* kernels/extremum/extremum.h on the device: elements as keys, unsigned numbers that are less where
 * the rank is less.
 *
 * Where the largest is sought, signs are changed first, so that it is the least. Then the encoding
 * of a positive number has its first bit set, and that of a negative one is complemented. The keys
 * of numbers are neither 0 nor all ones, which are the keys of NaNs that win or lose. */
#pragma once

#include "kernels/device/device.cuh"

enum seek : unsigned { SEEK_LARGEST = 1, SEEK_NUMBER = 2, SEEK_INDEX = 4 };

/* Calls METHOD(operation, what is sought) for each. */
#define EXTREMA_ON_GPU(METHOD)                                                                     \
    METHOD(minimum, 0)                                                                             \
    METHOD(maximum, SEEK_LARGEST)                                                                  \
    METHOD(minimum_number, SEEK_NUMBER)                                                            \
    METHOD(maximum_number, SEEK_NUMBER | SEEK_LARGEST)                                             \
    METHOD(argmin, SEEK_INDEX)                                                                     \
    METHOD(argmax, SEEK_INDEX | SEEK_LARGEST)

/* Elements of 16 bits stand in the upper half of a key. */
template <typename S> struct encoding {
    typedef unsigned key;
};
template <> struct encoding<double> {
    typedef unsigned long long key;
};
template <typename S> using key = typename encoding<S>::key;
template <typename S> constexpr unsigned key_bits = 8 * sizeof(key<S>);
template <typename S> constexpr unsigned unused_bits = key_bits<S> - 8 * sizeof(S);
template <typename S> constexpr key<S> sign_bit = (key<S>)1 << (key_bits<S> - 1);

template <typename S> constexpr key<S> infinity_bits();
template <> __host__ __device__ constexpr unsigned infinity_bits<__half>()
{
    return 0x7c000000;
}
template <> __host__ __device__ constexpr unsigned infinity_bits<__nv_bfloat16>()
{
    return 0x7f800000;
}
template <> __host__ __device__ constexpr unsigned infinity_bits<float>()
{
    return 0x7f800000;
}
template <> __host__ __device__ constexpr unsigned long long infinity_bits<double>()
{
    return 0x7ff0000000000000;
}

template <typename S> __device__ inline key<S> nan_key(unsigned seek)
{
    return seek & SEEK_NUMBER ? ~(key<S>)0 : 0;
}

template <typename S> __device__ inline key<S> key_of(S x, unsigned seek)
{
    constexpr key<S> sign = sign_bit<S>;
    key<S> bits = 0;
    memcpy(&bits, &x, sizeof x);
    bits <<= unused_bits<S>;
    bool nan = (bits & ~sign) > infinity_bits<S>();
    bits ^= seek & SEEK_LARGEST ? sign : 0;
    bits = bits & sign ? ~bits : bits | sign;
    return nan ? nan_key<S>(seek) : bits;
}

/* The element, of NaNs one. */
template <typename S> __device__ inline S element_of(key<S> k, unsigned seek)
{
    constexpr key<S> sign = sign_bit<S>;
    key<S> bits = k & sign ? k ^ sign : ~k;
    bits ^= seek & SEEK_LARGEST ? sign : 0;
    bits = k == nan_key<S>(seek) ? ~sign : bits;
    bits >>= unused_bits<S>;
    S x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* A key, and where its element stands; of nothing what no element is worse than. (An index is lost
 * where all elements are NaNs that lose: indices are sought where they win.) */
template <typename S> struct found {
    key<S> k;
    size_t index;

    static __device__ found nothing() { return {~(key<S>)0, ~(size_t)0}; }
    __device__ bool better_than(const found &b) const
    {
        return k < b.k || (k == b.k && index < b.index);
    }
    __device__ void join(const found &b)
    {
        if (b.better_than(*this))
            *this = b;
    }
    /* An element behind those so far. */
    __device__ void offer(key<S> next, size_t i)
    {
        if (next < k)
            *this = {next, i};
    }
};

/* What the lanes of a block, whole warps of them, found: the first warp gets it. `shared` has
 * warp_lanes places and must not be in use. */
template <typename S> __device__ inline found<S> best_of_warp(found<S> v)
{
    for (unsigned stride = warp_lanes / 2; stride > 0; stride /= 2)
        v.join({__shfl_xor_sync(whole_warp, v.k, stride),
                __shfl_xor_sync(whole_warp, v.index, stride)});
    return v;
}
template <typename S> __device__ inline found<S> best_of_block(found<S> v, found<S> *shared)
{
    unsigned lane = threadIdx.x % warp_lanes, warp = threadIdx.x / warp_lanes;
    v = best_of_warp(v);
    if (lane == 0)
        shared[warp] = v;
    __syncthreads();
    if (warp > 0)
        return v;
    return best_of_warp(lane < blockDim.x / warp_lanes ? shared[lane] : found<S>::nothing());
}

/* What is asked for, and where the result goes. */
struct extremum_task {
    size_t n;
    unsigned seek;
    enum format accumulator;
    void *out;
};

inline extremum_task extremum_task_of(const struct cuda_task *t, unsigned seek)
{
    return {t->of->in.n, seek, t->accumulator, t->out};
}

/* Writes the result. An index is a double, and a key's element is held by one. */
template <typename S> __device__ inline void write_extremum(const extremum_task &t, found<S> best)
{
    double value;
    if (t.seek & SEEK_INDEX)
        value = t.n > 0 ? (double)best.index : -1;
    else if (t.n > 0)
        value = convert<double>(element_of<S>(best.k, t.seek));
    else
        value = t.seek & SEEK_LARGEST ? -INFINITY : INFINITY;
    if (t.accumulator == FP16)
        *(__half *)t.out = rounded<__half>(value);
    else if (t.accumulator == BF16)
        *(__nv_bfloat16 *)t.out = rounded<__nv_bfloat16>(value);
    else if (t.accumulator == FP32)
        *(float *)t.out = rounded<float>(value);
    else
        *(double *)t.out = value;
}

/* The CUDA sides of a form: sought_form_cuda, which run<S>(task, what is sought). */
#define EXTREMUM_ON_GPU(sought, form, seeks)                                                       \
    static int sought##_enqueue(const struct cuda_task *t)                                         \
    {                                                                                              \
        return with_type(t->of->in.format, [t](auto s) { return run<decltype(s)>(t, seeks); });    \
    }                                                                                              \
    extern "C" const struct cuda_method sought##_##form##_cuda = {workspace, no_workspace,         \
                                                                  sought##_enqueue};
