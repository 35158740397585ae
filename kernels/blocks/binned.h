/* What sum/binned, sum/binned2 and sum/binned4 compute, in K = 3, 2 and 4 folds, and the bins that
 * they compute it with. Included by C and by CUDA.
 *
 * Let 2^e <= max|x| < 2^(e+1) over the finite elements, D = theorem_digits(storage, accumulator, K)
 * the digits kept (K times the accumulator's precision; no fewer than the storage's), and W the
 * bins' width: 50 where the accumulator is fp64, else 21. Then
 *
 *     U = 2^(W J - 1074), with the largest J such that U <= 2^(e-D+1), or the largest such that
 *         all elements that the storage can have are multiples of U, if that J is larger,
 *     the sum is that of all elements, each rounded to the nearest multiple of U, ties to even,
 *
 * taken exactly and rounded once to the accumulator. It is a function of the multiset of elements:
 * the order, the partition, the launch shape and the device do not enter. Elements are taken as
 * they are stored. Each is at most U/2 <= 2^-D max|x| off, and those with the exponent e are exact;
 * where U is no more than the storage's smallest subnormal number, as always in fp16 but for K = 2
 * with an accumulator of bf16, all are, and the sum is correctly rounded.
 *
 * The maximum is known only in the end. So elements are cut as they come, from the top down: bin j
 * has the unit 2^(W j - 1074), and part c_j of an element is the multiple of that unit nearest to
 * what the higher bins left of it. Bins above an element's magnitude get 0, so that c_j does not
 * depend on the others; what is in bins J and up is the element rounded to a multiple of U; and
 * where a larger element raises J, the lowest bins are forgotten. The sums of bins are integers, so
 * that no order of additions shows in them. Parts are 2^(W-1) units at most, of either sign.
 *
 * Sources: Demmel and Nguyen, Parallel Reproducible Summation (2015); Ahrens, Demmel and Nguyen,
 * Algorithms for Efficient Reproducible Floating Point Summation (2020). Their algorithms keep K
 * bins, from (K-1) W digits on; this one keeps as many bins as D digits take. */
#pragma once

#include <math.h>

#include "reference/format/format.h"

#ifdef __CUDACC__
#define BINNED_FUNCTION static inline __host__ __device__
#else
#define BINNED_FUNCTION static inline
#endif

enum {
    BINNED_LOWEST = -1074, /* bit 0 of bin 0 is worth 2^BINNED_LOWEST */
    BINNED_KEPT_MOST = 6,
    BINNED_FOLDS_LEAST = 2,
    BINNED_FOLDS_MOST = 4
};

/* The bins of one format pair and number of folds. */
struct binned_bins {
    int width;  /* W */
    int digits; /* D */
    int lowest; /* the lowest bin in which an element of the storage can have a part */
    int kept;   /* bins J .. J+kept-1 hold all parts that count, 1 .. BINNED_KEPT_MOST */
    int end;    /* one more than the highest bin that may be kept */
};

#ifdef __cplusplus
extern "C" {
#endif

struct binned_bins binned_bins_of(enum format storage, enum format accumulator, unsigned folds);

#ifdef __cplusplus
}
#endif

/* J for 2^e <= max|x| < 2^(e+1). Subnormal elements may be taken for ones with the exponent of the
 * smallest normal number: D digits below that begins what no element has. */
BINNED_FUNCTION int binned_window(const struct binned_bins *b, int e)
{
    int window = (e - b->digits + 1 - BINNED_LOWEST) / b->width;
    return window < b->lowest ? b->lowest : window;
}

/* Elements below 2^this have a window of at most J. */
BINNED_FUNCTION int binned_limit(const struct binned_bins *b, int window)
{
    return (window + 1) * b->width + b->digits - 1 + BINNED_LOWEST;
}

/* Bin j counts multiples of 2^this. */
BINNED_FUNCTION int binned_unit(const struct binned_bins *b, int bin)
{
    return bin * b->width + BINNED_LOWEST;
}

/* A format as rounding needs it (format_facts). */
struct binned_rounding {
    int precision, emin, emax;
};

BINNED_FUNCTION int binned_bit_length(unsigned __int128 x)
{
    int bits = 0;
    for (; x >> 32 != 0; x >>= 32)
        bits += 32;
    for (; x != 0; x >>= 1)
        bits++;
    return bits;
}

/* (number + something below one, if `more`) 2^exponent, rounded to nearest, ties to even. */
BINNED_FUNCTION double binned_round(unsigned __int128 number, bool more, int exponent,
                                    struct binned_rounding f)
{
    int length = binned_bit_length(number), top = length - 1 + exponent;
    int quantum = (top < f.emin ? f.emin : top) - f.precision + 1, cut = quantum - exponent;
    if (length == 0 || cut > length)
        return 0;
    unsigned __int128 kept = number;
    if (cut > 0) {
        unsigned __int128 half = (unsigned __int128)1 << (cut - 1), rest = number & (2 * half - 1);
        kept = cut < 128 ? number >> cut : 0;
        kept += rest > half || (rest == half && (more || (kept & 1) != 0));
        exponent = quantum;
    }
    if (binned_bit_length(kept) + exponent > f.emax + 1)
        return (double)INFINITY;
    return ldexp((double)kept, exponent);
}

/* The sum of bin[k] 2^(unit + k W), k < kept, rounded to a format; +0 where it is 0. |bin[k]| must
 * stay below 2^120. */
BINNED_FUNCTION double binned_total(const __int128 *bin, int kept, int width, int unit,
                                    struct binned_rounding f)
{
    const unsigned __int128 digit_mask = ((unsigned __int128)1 << width) - 1;
    unsigned __int128 digit[BINNED_KEPT_MOST];
    __int128 carry = -1;
    double sign = -1;
    for (int round = 0; round < 2 && carry < 0; round++) { /* by the second, it is the magnitude */
        sign = -sign;
        carry = 0;
        for (int k = 0; k < kept; k++) {
            __int128 part = carry + (sign < 0 ? -bin[k] : bin[k]);
            digit[k] = (unsigned __int128)part & digit_mask;
            carry = part >> width;
        }
    }
    unsigned __int128 number = (unsigned __int128)carry;
    int k = kept;
    while (k > 0 && number >> (127 - width) == 0)
        number = number << width | digit[--k];
    bool more = false;
    for (int below = 0; below < k; below++)
        more = more || digit[below] != 0;
    double rounded = binned_round(number, more, unit + k * width, f);
    return rounded == 0 && number == 0 ? 0 : sign * rounded;
}
