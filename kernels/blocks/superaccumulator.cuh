/* Exact sums of any elements on a GPU, in fixed point: what sum/exact and scan/exact do where their
 * certificate does not hold.
 *
 * A number is an integer times the format's smallest subnormal. While elements are added, a lane
 * gathers them in 64-bit words of its own in shared memory, no two of which overlap with another
 * lane's, so that there are neither atomics nor bank conflicts; a word has room for more elements
 * than a lane ever sees. At the end the words of a block are added up, and split into digits of 32
 * bits; those of all blocks are added by atomics. Integer additions are exact, so no order shows.
 */
#pragma once

#include "kernels/blocks/fixed_magnitude.cuh"

/* What an exact sum of no finite number is told by. */
enum special : unsigned {
    SPECIAL_NAN = 1,
    SPECIAL_PLUS_INF = 2,
    SPECIAL_MINUS_INF = 4,
    SPECIAL_PLAIN = 8 /* an element other than -0 */
};

/* Doubles: word k counts units of 2^(32 k - 1074). A significand is spread over three words, at
 * most 32 bits in each: 2^31 elements have room. */
struct wide_words {
    typedef double element;
    static constexpr unsigned count = 66, digits = 70, threads = 416;
    static constexpr int unit = -1074, bits_per_word = 32;

    static __device__ unsigned add(long long *word, unsigned stride, double x)
    {
        unsigned long long bits = (unsigned long long)__double_as_longlong(x);
        unsigned field = (unsigned)(bits >> 52) & 0x7ff;
        bool negative = bits >> 63;
        unsigned long long significand = bits & 0xfffffffffffffull;
        if (field == 0x7ff)
            return SPECIAL_PLAIN | (significand ? SPECIAL_NAN
                                    : negative  ? SPECIAL_MINUS_INF
                                                : SPECIAL_PLUS_INF);
        significand |= (unsigned long long)(field > 0) << 52;
        unsigned position = field - (field > 0), shift = position % 32;
        unsigned long long low = significand << shift;
        long long sign = negative ? -1 : 0;
        long long part[3] = {(long long)(low & 0xffffffff), (long long)(low >> 32),
                             (long long)(significand >> 32 >> (32 - shift))};
        word += position / 32 * stride;
#pragma unroll
        for (unsigned k = 0; k < 3; k++)
            word[k * stride] += (part[k] ^ sign) - sign;
        return bits << 1 || !negative ? SPECIAL_PLAIN : 0;
    }
};

/* Floats, and what they hold: word k counts units of 2^(16 k - 149). A significand is shifted
 * within one word, and has 39 bits there: 2^24 elements have room. */
struct narrow_words {
    typedef float element;
    static constexpr unsigned count = 16, digits = 14, threads = 512;
    static constexpr int unit = -149, bits_per_word = 16;

    static __device__ unsigned add(long long *word, unsigned stride, float x)
    {
        unsigned bits = __float_as_uint(x), field = bits >> 23 & 0xff;
        bool negative = bits >> 31;
        unsigned significand = bits & 0x7fffff;
        if (field == 0xff)
            return SPECIAL_PLAIN | (significand ? SPECIAL_NAN
                                    : negative  ? SPECIAL_MINUS_INF
                                                : SPECIAL_PLUS_INF);
        significand |= (unsigned)(field > 0) << 23;
        unsigned position = field - (field > 0);
        long long value = (long long)((unsigned long long)significand << position % 16);
        word[position / 16 * stride] += negative ? -value : value;
        return bits << 1 || !negative ? SPECIAL_PLAIN : 0;
    }
};

/* The words for a storage format. */
template <typename S> struct words_for {
    typedef narrow_words type;
};
template <> struct words_for<double> {
    typedef wide_words type;
};

/* The sum of all blocks: zeros before the first and after each use. Digit k counts units of
 * 2^(32 k) times the format's; it is a two's complement integer, and may have more than 32 bits. */
template <typename Words> struct total {
    unsigned long long digit[Words::digits];
    unsigned specials;
};

template <typename Words>
__device__ inline void add_to_digit(total<Words> *to, unsigned k, long long value)
{
    if (value != 0)
        atomicAdd(&to->digit[k], (unsigned long long)value);
}

/* Adds the words of all lanes of the block, `stride` = blockDim.x apart, by all of its threads. A
 * word is split before it is added up, since a sum of words could overflow. */
template <typename Words>
__device__ inline void add_words(total<Words> *to, const long long *word, unsigned specials)
{
    unsigned lane = threadIdx.x % warp_lanes, warps = blockDim.x / warp_lanes;
    for (unsigned k = threadIdx.x / warp_lanes; k < Words::count; k += warps) {
        long long low = 0, high = 0;
        for (unsigned i = lane; i < blockDim.x; i += warp_lanes) {
            long long value = word[k * blockDim.x + i];
            low += value & 0xffffffff;
            high += value >> 32;
        }
        for (unsigned d = warp_lanes / 2; d > 0; d /= 2) {
            low += __shfl_xor_sync(whole_warp, low, d);
            high += __shfl_xor_sync(whole_warp, high, d);
        }
        unsigned position = k * Words::bits_per_word, digit = position / 32;
        low *= 1ll << position % 32;
        high *= 1ll << position % 32;
        if (lane == 0) {
            add_to_digit(to, digit, low & 0xffffffff);
            add_to_digit(to, digit + 1, (low >> 32) + (high & 0xffffffff));
            add_to_digit(to, digit + 2, high >> 32);
        }
    }
    specials = __reduce_or_sync(whole_warp, specials);
    if (lane == 0 && specials)
        atomicOr(&to->specials, specials);
}

/* Words of `bits` bits each, which may have more and be negative, and lie `stride` apart, become
 * digits of 32 bits: take(k, digit k). Returns the rest, which has the sign; the last digit also
 * has it, in its upper half. */
template <unsigned bits, typename Take>
__device__ inline long long carry_on(const long long *word, unsigned stride, unsigned digits,
                                     Take take)
{
    long long carry = 0;
    for (unsigned k = 0; k < digits; k++) {
        long long digit = 0;
        for (unsigned shift = 0; shift < 32; shift += bits, word += stride) {
            carry += *word;
            digit |= (carry & (0xffffffffu >> (32 - bits))) << shift;
            carry >>= bits;
        }
        take(k, k + 1 < digits ? digit : digit + carry * (1ll << 32));
    }
    return carry;
}

/* The same for the digits of a magnitude; returns whether the sum is negative. */
template <unsigned bits>
__device__ inline bool settle(const long long *word, unsigned stride, unsigned digits, unsigned *to)
{
    bool negative = carry_on<bits>(word, stride, digits, [=](unsigned k, long long digit) {
                        to[k] = (unsigned)digit;
                    }) < 0;
    unsigned borrow = 1;
    for (unsigned k = 0; negative && k < digits; k++) {
        to[k] = ~to[k] + borrow;
        borrow = borrow && to[k] == 0;
    }
    return negative;
}

/* What is in the way of a finite sum, or a zero by the rule of signs. */
__device__ inline double round_special(unsigned specials)
{
    const unsigned both = SPECIAL_PLUS_INF | SPECIAL_MINUS_INF;
    if (specials & SPECIAL_NAN || (specials & both) == both)
        return __longlong_as_double(0x7ff8000000000000);
    if (specials & both)
        return specials & SPECIAL_PLUS_INF ? INFINITY : -INFINITY;
    return specials & SPECIAL_PLAIN ? 0.0 : -0.0;
}

/* The sum of settled digits, in units of 2^unit, rounded once. */
__device__ inline double round_settled(const unsigned *digit, unsigned digits, int unit,
                                       bool negative, unsigned specials, precision p)
{
    fixed_magnitude m = {digit, (int)digits, unit};
    if (specials & (SPECIAL_NAN | SPECIAL_PLUS_INF | SPECIAL_MINUS_INF) || m.length() == 0)
        return round_special(specials);
    return round_magnitude(m, negative, p);
}

/* A total as a magnitude. */
template <typename Words> struct settled {
    unsigned digit[Words::digits];
    bool negative;
    unsigned specials;

    __device__ fixed_magnitude magnitude() const
    {
        return {digit, (int)Words::digits, Words::unit};
    }
    __device__ bool is_special() const
    {
        return specials & (SPECIAL_NAN | SPECIAL_PLUS_INF | SPECIAL_MINUS_INF);
    }
};

/* Leaves the total empty. By a block, to its shared memory; the first thread may read it. */
template <typename Words> __device__ inline void settle_total(total<Words> *t, settled<Words> *to)
{
    __shared__ long long digit[Words::digits];
    for (unsigned k = threadIdx.x; k < Words::digits; k += blockDim.x) {
        digit[k] = (long long)t->digit[k];
        t->digit[k] = 0;
    }
    __syncthreads();
    if (threadIdx.x > 0)
        return;
    to->specials = t->specials;
    t->specials = 0;
    to->negative = settle<32>(digit, 1, Words::digits, to->digit);
}

/* The total rounded once, which the first thread gets; leaves the total empty. By a block. */
template <typename Words> __device__ inline double round_total(total<Words> *t, precision p)
{
    __shared__ settled<Words> sum;
    settle_total(t, &sum);
    return threadIdx.x > 0 ? 0
                           : round_settled(sum.digit, Words::digits, Words::unit, sum.negative,
                                           sum.specials, p);
}

/* Have all other blocks come here? Then what they wrote can be read. */
__device__ inline bool last_of(unsigned blocks, unsigned *finished)
{
    __shared__ bool last;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        last = atomicAdd(finished, 1) == blocks - 1;
        if (last)
            *finished = 0;
        __threadfence();
    }
    __syncthreads();
    return last;
}

__device__ inline bool last_block(unsigned *finished)
{
    return last_of(gridDim.x, finished);
}
