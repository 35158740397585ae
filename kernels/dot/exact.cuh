/* Exact sums of products: in fixed point, and enclosed. */
#pragma once

#include "kernels/blocks/product.cuh"
#include "kernels/blocks/exact.cuh"

/* Products of doubles: word k counts units of 2^(32 k - 2148). A product of two significands has
 * 106 bits, which are spread over five words, at most 32 in each. */
struct product_words {
    static constexpr unsigned count = 136, digits = 140, threads = 192;
    static constexpr int unit = -2148, bits_per_word = 32;

    struct number {
        unsigned long long significand;
        unsigned position; /* of its last digit */
        bool negative, special, nan, zero;
        __device__ number(double x)
        {
            unsigned long long bits = (unsigned long long)__double_as_longlong(x);
            unsigned field = (unsigned)(bits >> 52) & 0x7ff;
            significand = bits & 0xfffffffffffffull;
            special = field == 0x7ff;
            nan = special && significand;
            negative = bits >> 63;
            zero = bits << 1 == 0;
            significand |= (unsigned long long)(field > 0) << 52;
            position = field - (field > 0);
        }
    };

    static __device__ unsigned add(long long *word, unsigned stride, double x, double y)
    {
        number a(x), b(y);
        bool negative = a.negative != b.negative;
        if (a.special || b.special)
            return SPECIAL_PLAIN | (a.nan || b.nan || a.zero || b.zero ? SPECIAL_NAN
                                    : negative                         ? SPECIAL_MINUS_INF
                                                                       : SPECIAL_PLUS_INF);
        unsigned long long low = a.significand * b.significand;
        unsigned long long high = __umul64hi(a.significand, b.significand);
        unsigned position = a.position + b.position, shift = position % 32;
        unsigned long long first = low << shift, third = high >> 1 >> (63 - shift);
        unsigned long long second = high << shift | low >> 1 >> (63 - shift);
        long long part[5] = {(long long)(first & 0xffffffff), (long long)(first >> 32),
                             (long long)(second & 0xffffffff), (long long)(second >> 32),
                             (long long)third};
        long long sign = negative ? -1 : 0;
        word += position / 32 * stride;
#pragma unroll
        for (unsigned k = 0; k < 5; k++)
            word[k * stride] += (part[k] ^ sign) - sign;
        return low | high || !negative ? SPECIAL_PLAIN : 0;
    }
};

/* The two doubles of a product; not where the second would be cut off. */
template <typename S> __device__ inline void enclose_product(enclosure &e, S x, S y)
{
    double a = convert<double>(x), b = convert<double>(y), p = __dmul_rn(a, b);
    enclose(e, p);
    if constexpr (same_type<S, double>) {
        double rest = __fma_rn(a, b, -p);
        bool small = fabs(p) < 0x1p-900 && a != 0 && b != 0;
        e.error = __dadd_rn(e.error, rest);
        e.magnitude = __dadd_rn(e.magnitude, small ? INFINITY : fabs(rest));
    }
}
