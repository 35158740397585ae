/* Magnitudes in fixed point, of many digits, and how they are rounded: one thread's work. */
#pragma once

#include "kernels/device/device.cuh"

/* A magnitude: digits of 32 bits each, in units of 2^unit, the highest of which may be zeros. */
struct fixed_magnitude {
    const unsigned *digit;
    int digits, unit;

    /* `count` <= 64 bits from `position` >= 0 on. */
    __device__ unsigned long long bits(int position, int count) const
    {
        unsigned long long value = 0;
        for (int k = 2; k >= 0; k--) {
            int i = position / 32 + k, shift = 32 * k - position % 32;
            unsigned long long d = i < digits ? digit[i] : 0;
            value |= shift < 0 ? d >> -shift : shift < 64 ? d << shift : 0;
        }
        return count < 64 ? value & ((1ull << count) - 1) : value;
    }
    __device__ int length() const
    {
        int i = digits - 1;
        while (i >= 0 && digit[i] == 0)
            i--;
        return i < 0 ? 0 : 32 * i + 32 - __clz((int)digit[i]);
    }
    __device__ bool any_below(int position) const
    {
        for (int i = 0; i < position / 32; i++)
            if (digit[i])
                return true;
        return bits(position / 32 * 32, position % 32) != 0;
    }
};

/* What a sum is rounded to: bits of a significand, log2 of the smallest subnormal. */
struct precision {
    int bits, smallest;
};
template <typename A> __device__ constexpr precision precision_of();
template <> __device__ constexpr precision precision_of<__half>()
{
    return {11, -24};
}
template <> __device__ constexpr precision precision_of<__nv_bfloat16>()
{
    return {8, -133};
}
template <> __device__ constexpr precision precision_of<float>()
{
    return {24, -149};
}
template <> __device__ constexpr precision precision_of<double>()
{
    return {53, -1074};
}

__device__ inline precision precision_in(enum format f)
{
    return f == FP16   ? precision_of<__half>()
           : f == BF16 ? precision_of<__nv_bfloat16>()
           : f == FP32 ? precision_of<float>()
                       : precision_of<double>();
}

/* Rounded once, to nearest, ties to even, as a double; where that is beyond the format's range,
 * converting it gives an infinity. The last line is exact, or overflows. */
__device__ inline double round_magnitude(const fixed_magnitude &m, bool negative, precision p)
{
    int quantum = max(m.unit + m.length() - p.bits, p.smallest), drop = quantum - m.unit;
    unsigned long long kept;
    if (drop <= 0) {
        kept = m.bits(0, 64);
        quantum = m.unit;
    } else {
        bool half = m.bits(drop - 1, 1);
        kept = m.bits(drop, 64);
        kept += half && (kept & 1 || m.any_below(drop - 1));
    }
    double value = scalbn((double)kept, quantum);
    return negative ? -value : value;
}

/* The leading digits of a magnitude that has more. Where anything is cut off, the last bit is 1: so
 * it rounds, to far fewer bits, as what it was cut from. */
struct leading_digits {
    enum { count = 7 };
    unsigned digit[count];
    int unit;

    __device__ fixed_magnitude magnitude() const { return {digit, count, unit}; }
};

/* m / n, n >= 1: at least 128 bits beyond the leading one's digit, as n is below 2^53. */
__device__ inline leading_digits divide(const fixed_magnitude &m, size_t n)
{
    leading_digits quotient;
    int top = m.length() > 0 ? (m.length() - 1) / 32 : 0, last = top + 1 - quotient.count;
    unsigned __int128 rest = 0;
    for (int k = top; k >= last; k--) {
        rest = rest << 32 | (k >= 0 ? m.digit[k] : 0);
        quotient.digit[k - last] = (unsigned)(rest / n);
        rest %= n;
    }
    quotient.digit[0] |= rest != 0 || (last > 0 && m.any_below(32 * last));
    quotient.unit = m.unit + 32 * last;
    return quotient;
}
