/* The bins of kernels/sum/binned.h, filled by a warp at the speed of memory.
 *
 * A warp works in a window that fits the largest element that it has seen, lane by lane: adding an
 * anchor, 1.5 times the number whose last bit is worth a bin's unit, rounds an element to a
 * multiple of that unit, ties to even, and the sum's encoding, as an integer, is the anchor's plus
 * that multiple. So a lane adds encodings up as integers, modulo their width, without rounding, and
 * takes the anchors' off. The sums are flushed to the block's bins, which are all there are, in
 * shared memory, before they could outgrow their width or when a larger element raises the window.
 *
 * S is the storage's type; T, float or double, what elements are cut in; B the number of bins kept.
 * As a T, an element is itself times 2^(its scale), see `as_work`. */
#ifndef ULPSCOPE_BINNED_CUH
#define ULPSCOPE_BINNED_CUH

#include "kernels/device.cuh"
#include "kernels/sum/binned.h"
#include "kernels/sum/binned_sum.h"

/* What a block has found, or all blocks: kept as integers, which are added in any order. A bin's
 * sum is low + 2^32 high. Room for 2^31 flushes of one bin, each of 2^12 elements and more. */
constexpr unsigned binned_room = 104; /* the most bins of any format pair */
struct binned_tally {
    unsigned long long low[binned_room]; /* from the storage's lowest bin on */
    unsigned long long high[binned_room];
    int window;     /* J + 1; 0 while every finite element is a zero */
    unsigned flags; /* as below */
};
enum { BINNED_NAN = 1, BINNED_INF = 2, BINNED_NEGATIVE_INF = 4, BINNED_PLAIN = 8 };

/* ---- the types ---- */

template <size_t bytes> struct bits_of_bytes;
template <> struct bits_of_bytes<2> {
    typedef unsigned short type;
};
template <> struct bits_of_bytes<4> {
    typedef unsigned type;
};
template <> struct bits_of_bytes<8> {
    typedef unsigned long long type;
};
template <typename X> using bits_type = typename bits_of_bytes<sizeof(X)>::type;

template <typename X> __device__ inline bits_type<X> bits_of(X x)
{
    bits_type<X> bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

template <typename X> struct layout; /* of encodings */
template <> struct layout<__half> {
    static constexpr int fraction = 10, bias = 15;
};
template <> struct layout<__nv_bfloat16> {
    static constexpr int fraction = 7, bias = 127;
};
template <> struct layout<float> {
    static constexpr int fraction = 23, bias = 127;
};
template <> struct layout<double> {
    static constexpr int fraction = 52, bias = 1023;
};

/* 1.5 2^exponent, or 2^exponent. */
template <typename T> __device__ inline T power_of_two(int exponent, bool and_half)
{
    typedef layout<T> l;
    bits_type<T> bits = (bits_type<T>)(exponent + l::bias) << l::fraction;
    bits |= (bits_type<T>)and_half << (l::fraction - 1);
    T x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

__device__ inline float subtract(float a, float b)
{
    return __fsub_rn(a, b);
}
__device__ inline double subtract(double a, double b)
{
    return __dsub_rn(a, b);
}

/* Elements as a T. The instruction that converts to double is slow; where the storage is narrower,
 * a float's exponent and fraction are moved to their places, and the double is the float's value
 * times 2^-896, also where that is subnormal. */
constexpr int moved_scale = -896;
template <typename T, typename S> struct as_work;
template <typename S> struct as_work<float, S> {
    static constexpr int scale = 0;
    static __device__ float of(S x) { return convert<float>(x); }
};
template <typename S> struct as_work<double, S> {
    static constexpr int scale = moved_scale;
    static __device__ double of(S x)
    {
        int bits = __float_as_int(convert<float>(x));
        return __hiloint2double((bits >> 3) & 0x8fffffff, (int)((unsigned)bits << 29));
    }
};
template <> struct as_work<double, double> {
    static constexpr int scale = 0;
    static __device__ double of(double x) { return x; }
};

/* ---- a lane's part of what a warp reads at once ---- */

/* The larger magnitude, or NaN with any NaN: one instruction where there is one. */
__device__ inline float larger(float top, float x)
{
#if __CUDA_ARCH__ >= 800
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(top) : "f"(top), "f"(fabsf(x)));
    return top;
#else
    return top <= fabsf(x) || isnan(x) ? fabsf(x) : top;
#endif
}

template <typename S> struct lane_piece {
    static constexpr unsigned loads = 4, width = loads * sizeof(uint4) / sizeof(S);
    uint4 raw[loads];

    __device__ void load(const uint4 *from)
    {
#pragma unroll
        for (unsigned i = 0; i < loads; i++)
            raw[i] = __ldcs(from + i * warp_lanes);
    }

    /* Fewer than a warp's piece, aligned anyhow; -0 in the places that are left. */
    __device__ void load_some(const S *from, unsigned count)
    {
        S x[width];
#pragma unroll
        for (unsigned i = 0; i < width; i++) {
            unsigned place = i * warp_lanes + threadIdx.x % warp_lanes;
            x[i] = place < count ? from[place] : rounded<S>(-0.0f);
        }
        memcpy(raw, x, sizeof raw);
    }

    __device__ S get(unsigned i) const
    {
        S x[width];
        memcpy(x, raw, sizeof x);
        return x[i];
    }
};

/* A number that grows with the largest magnitude of a piece, NaN or inf with any NaN or inf among
 * the elements: that magnitude, or of doubles their upper halves taken for floats, which are NaN or
 * inf from 2^1017 on too. */
__device__ inline float top_of(const lane_piece<float> &piece)
{
    float top = 0;
#pragma unroll
    for (unsigned i = 0; i < piece.width; i++)
        top = larger(top, piece.get(i));
    return top;
}

__device__ inline float top_of(const lane_piece<double> &piece)
{
    float top = 0;
#pragma unroll
    for (unsigned i = 0; i < piece.width; i++)
        top = larger(top, __int_as_float(__double2hiint(piece.get(i))));
    return top;
}

template <typename Pair, typename S> __device__ inline Pair top_pair(const lane_piece<S> &piece)
{
    Pair pair[piece.width / 2];
    memcpy(pair, piece.raw, sizeof pair);
    Pair top = __habs2(pair[0]);
#pragma unroll
    for (unsigned i = 1; i < piece.width / 2; i++)
        top = __hmax2_nan(top, __habs2(pair[i]));
    return top;
}

__device__ inline float top_of(const lane_piece<__half> &piece)
{
    __half2 top = top_pair<__half2>(piece);
    return larger(__low2float(top), __high2float(top));
}

__device__ inline float top_of(const lane_piece<__nv_bfloat16> &piece)
{
    __nv_bfloat162 top = top_pair<__nv_bfloat162>(piece);
    return larger(__low2float(top), __high2float(top));
}

/* What `top_of` is below where all elements are below 2^exponent. */
template <typename S> __device__ inline float top_limit(int exponent)
{
    if (sizeof(S) == sizeof(double))
        return exponent + layout<double>::bias < 0x7f8
                   ? __int_as_float((exponent + layout<double>::bias) << 20)
                   : INFINITY;
    return exponent <= layout<float>::bias ? power_of_two<float>(exponent, false) : INFINITY;
}

/* ---- the cutting ---- */

__device__ inline long long warp_total(long long v)
{
    for (unsigned stride = warp_lanes / 2; stride > 0; stride /= 2)
        v += __shfl_xor_sync(whole_warp, v, stride);
    return v;
}

__device__ inline int warp_most(int v)
{
    for (unsigned stride = warp_lanes / 2; stride > 0; stride /= 2)
        v = max(v, __shfl_xor_sync(whole_warp, v, stride));
    return v;
}

/* All of it but sum[] and flags is the same in all lanes of a warp. */
template <typename S, typename T, unsigned B> struct cutter {
    typedef bits_type<T> word;
    typedef as_work<T, S> work;
    /* Cut at once, 64 bytes of them; and the most that a lane may cut between flushes, so that the
     * sum of a warp's int64 or a lane's int32 does not overflow. */
    static constexpr unsigned group = 64 / sizeof(T), most = sizeof(T) == 4 ? 2047 : 511;

    const binned_bins &bins;
    binned_tally *tally; /* the block's */
    int window;          /* J, or -1 */
    float limit;         /* elements with a top_of below it fit */
    bool shrunk; /* near the largest numbers an anchor would overflow: elements are scaled down by
                    2^64 there. What becomes subnormal then is far below half a unit */
    T anchor[B];
    word sum[B];    /* of parts, in units */
    unsigned since; /* the last flush: elements that a lane has cut */
    unsigned flags;

    __device__ cutter(const binned_bins &of, binned_tally *to)
        : bins(of), tally(to), window(-1), limit(0), shrunk(false), anchor(), sum(), since(0),
          flags(0)
    {
    }

    __device__ int unit(unsigned k) const
    {
        return binned_unit(&bins, window + (int)k) + work::scale + (shrunk ? -64 : 0);
    }

    /* No unit of a float is below 2^-149: where one of a bin is, its parts are whole multiples of
     * 2^-149, and counted in them. */
    __device__ int finer(unsigned k) const
    {
        int finest = 1 - layout<T>::bias - layout<T>::fraction;
        return max(finest - unit(k), 0);
    }

    __device__ void open(int at)
    {
        window = at;
        shrunk = false;
        shrunk = unit(B - 1) + layout<T>::fraction > layout<T>::bias;
        limit = shrunk ? 0 : top_limit<S>(binned_limit(&bins, window));
#pragma unroll
        for (unsigned k = 0; k < B; k++)
            anchor[k] = power_of_two<T>(unit(k) + finer(k) + layout<T>::fraction, true);
    }

    __device__ __forceinline__ void flush()
    {
        if (window < 0)
            return;
#pragma unroll
        for (unsigned k = 0; k < B; k++) {
            long long own = sizeof(T) == 4 ? (int)sum[k] : (long long)sum[k];
            long long total = warp_total(own) * (1ll << finer(k));
            int place = window + (int)k - bins.lowest;
            if (threadIdx.x % warp_lanes == 0 && total != 0) {
                atomicAdd(&tally->low[place], (unsigned long long)total & 0xffffffff);
                atomicAdd(&tally->high[place], (unsigned long long)(total >> 32));
            }
            sum[k] = 0;
        }
        since = 0;
    }

    /* The window that a piece needs, or -1 where there is nothing to cut: zeros, or what is not
     * finite, which alone counts then. */
    __device__ __forceinline__ int needed(const lane_piece<S> &piece)
    {
        typedef bits_type<S> element_bits;
        constexpr element_bits sign = (element_bits)1 << (8 * sizeof(S) - 1);
        constexpr element_bits fractions = ((element_bits)1 << layout<S>::fraction) - 1;
        constexpr int special = 2 * layout<S>::bias + 1;
        int field = -1; /* the largest exponent field of what is no zero */
#pragma unroll
        for (unsigned i = 0; i < piece.width; i++) {
            element_bits bits = bits_of(piece.get(i)), size = bits & (element_bits)~sign;
            int own = size == 0 ? -1 : (int)(size >> layout<S>::fraction);
            field = max(field, own);
            flags |= bits != sign ? BINNED_PLAIN : 0;
            if (own == special)
                flags |= (size & fractions) != 0 ? BINNED_NAN
                         : bits == size          ? BINNED_INF
                                                 : BINNED_NEGATIVE_INF;
        }
        field = warp_most(field);
        if (field < 0 || field == special)
            return -1;
        return binned_window(&bins, max(field, 1) - layout<S>::bias);
    }

    /* Lower bins are left out where no lane has anything left for them. */
    __device__ __forceinline__ void cut_group(T (&x)[group])
    {
#pragma unroll
        for (int k = B - 1; k >= 0; k--) {
            word left = 0;
            sum[k] -= group * bits_of(anchor[k]);
#pragma unroll
            for (unsigned i = 0; i < group; i++) {
                T rounded_sum = ::add(anchor[k], x[i]);
                sum[k] += bits_of(rounded_sum);
                if (k > 0) {
                    x[i] = subtract(x[i], subtract(rounded_sum, anchor[k]));
                    left |= bits_of(x[i]);
                }
            }
            if (k > 0 && k < (int)B - 1 && !__any_sync(whole_warp, left != 0))
                return;
        }
    }

    __device__ __forceinline__ void add(const lane_piece<S> &piece)
    {
        int least = window;
        if (!__all_sync(whole_warp, top_of(piece) < limit)) {
            least = needed(piece);
            if (least < 0)
                return;
        }
        if (least > window || since + piece.width > most) {
            flush();
            if (least > window)
                open(least);
        }
        since += piece.width;
#pragma unroll
        for (unsigned first = 0; first < piece.width; first += group) {
            T x[group];
#pragma unroll
            for (unsigned i = 0; i < group; i++)
                x[i] = work::of(piece.get(first + i));
            if (shrunk)
#pragma unroll
                for (unsigned i = 0; i < group; i++)
                    x[i] *= power_of_two<T>(-64, false);
            cut_group(x);
        }
    }
};

#endif
