/* The bins of kernels/blocks/binned.h, filled by a warp at the speed of memory.
 *
 * A warp works in a window that fits the largest element that it has seen, lane by lane: adding an
 * anchor, 1.5 times the number whose last bit is worth a bin's unit, rounds an element to a
 * multiple of that unit, ties to even, and the sum's encoding, as an integer, is the anchor's plus
 * that multiple. So a lane adds encodings up as integers, modulo their width, without rounding, and
 * takes the anchors' off. The sums are flushed to the block's bins, which are all there are, in
 * shared memory, before they could outgrow their width or when a larger element raises the window.
 *
 * S is the storage's type; T, float or double, what elements are cut in (binned_elements.cuh); B
 * the number of bins kept. */
#pragma once

#include "kernels/blocks/binned.h"
#include "kernels/blocks/binned_elements.cuh"

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
