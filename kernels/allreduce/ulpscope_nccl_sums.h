/* The arithmetic of ulpscope_nccl.h: exact sums of a few addends, rounded once, and binned ones.
 * The same for a GPU and, where ULPSCOPE_NCCL_PLAYED is defined, for C on the host. Doubles and
 * what their additions lose decide nearly every sum; the others are added as integers. */
#ifndef ULPSCOPE_ULPSCOPE_NCCL_SUMS_H
#define ULPSCOPE_ULPSCOPE_NCCL_SUMS_H

#include <math.h>
#include <nccl.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __CUDACC__
#define ULPSCOPE_NCCL_FUNCTION static inline __host__ __device__
#define ULPSCOPE_NCCL_RARE     static inline __noinline__ __host__ __device__
#elif defined ULPSCOPE_NCCL_PLAYED /* memory of the host, for tests without a GPU */
#define ULPSCOPE_NCCL_FUNCTION static inline
#define ULPSCOPE_NCCL_RARE     static inline
#else
#error "ulpscope_nccl.h has kernels: compile this source by nvcc, as CUDA"
#endif
/* What is rare takes no registers from what is not. */
#ifdef __CUDA_ARCH__
#define ULPSCOPE_NCCL_ROLLED _Pragma("unroll 1")
#else
#define ULPSCOPE_NCCL_ROLLED
#endif

enum {
    ULPSCOPE_NCCL_LOWEST = -1074, /* all elements are multiples of 2^this */
    ULPSCOPE_NCCL_LIMBS = 68      /* of 32 bits: two above the largest element */
};

/* Bytes of an element, its digits, and its smallest subnormal number's exponent. */
struct ulpscope_nccl_type {
    int bytes, digits, lowest;
};

/* Types that are no floating-point format of two bytes or more have 0 bytes. */
ULPSCOPE_NCCL_FUNCTION struct ulpscope_nccl_type ulpscope_nccl_type_of(ncclDataType_t type)
{
    struct ulpscope_nccl_type is = {0, 0, 0};
    if (type == ncclFloat16) {
        is.bytes = 2, is.digits = 11, is.lowest = -24;
    } else if (type == ncclBfloat16) {
        is.bytes = 2, is.digits = 8, is.lowest = -133;
    } else if (type == ncclFloat32) {
        is.bytes = 4, is.digits = 24, is.lowest = -149;
    } else if (type == ncclFloat64) {
        is.bytes = 8, is.digits = 53, is.lowest = -1074;
    }
    return is;
}

/* --- elements, as doubles; explicit instructions where a compiler's options could flush --- */

ULPSCOPE_NCCL_FUNCTION uint64_t ulpscope_nccl_bits(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

ULPSCOPE_NCCL_FUNCTION double ulpscope_nccl_of_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

ULPSCOPE_NCCL_FUNCTION double ulpscope_nccl_of_single(uint32_t bits)
{
    double x;
#ifdef __CUDA_ARCH__
    asm("{ .reg .f32 f; mov.b32 f, %1; cvt.f64.f32 %0, f; }" : "=d"(x) : "r"(bits));
#else
    float single;
    memcpy(&single, &bits, sizeof single);
    x = single;
#endif
    return x;
}

ULPSCOPE_NCCL_FUNCTION double ulpscope_nccl_of_half(uint32_t bits)
{
    uint32_t sign = (bits & 0x8000) << 16, rest = bits & 0x7fff;
    if (rest >= 0x7c00) /* an infinity or NaN */
        return ulpscope_nccl_of_single(sign | 0x7f800000 | (rest & 0x3ff) << 13);
    /* The bits of a number of single precision that is 2^-112 of it, subnormals too. */
    return ulpscope_nccl_of_single(sign | rest << 13) * 0x1p112;
}

ULPSCOPE_NCCL_FUNCTION double ulpscope_nccl_decode(ncclDataType_t type, uint64_t bits)
{
    if (type == ncclFloat64)
        return ulpscope_nccl_of_bits(bits);
    if (type == ncclFloat32)
        return ulpscope_nccl_of_single((uint32_t)bits);
    if (type == ncclBfloat16)
        return ulpscope_nccl_of_single((uint32_t)bits << 16);
    return ulpscope_nccl_of_half((uint32_t)bits);
}

/* h + l, |l| half an ulp of h at most, rounded to odd: what is rounded to a narrower format
 * after it is rounded once. */
ULPSCOPE_NCCL_FUNCTION double ulpscope_nccl_odd(double h, double l)
{
    uint64_t bits = ulpscope_nccl_bits(h);
    if (l != 0 && (bits & 1) == 0)
        bits += (l > 0) == (h > 0) ? 1 : UINT64_MAX;
    return ulpscope_nccl_of_bits(bits);
}

/* To single precision, rounded to nearest, or to odd. */
ULPSCOPE_NCCL_FUNCTION uint32_t ulpscope_nccl_single(double x, int to_odd)
{
    uint32_t bits;
#ifdef __CUDA_ARCH__
    if (to_odd)
        asm("{ .reg .f32 f; cvt.rz.f32.f64 f, %1; mov.b32 %0, f; }" : "=r"(bits) : "d"(x));
    else
        asm("{ .reg .f32 f; cvt.rn.f32.f64 f, %1; mov.b32 %0, f; }" : "=r"(bits) : "d"(x));
#else
    float single = (float)x;
    memcpy(&bits, &single, sizeof bits);
    if (to_odd && fabs((double)single) > fabs(x))
        bits--;
#endif
    return bits | (to_odd && ulpscope_nccl_of_single(bits) != x);
}

/* The bits of x, a sum that was rounded to odd or is exact, rounded to the type; fp64: x. */
ULPSCOPE_NCCL_FUNCTION uint64_t ulpscope_nccl_encode(ncclDataType_t type, double x)
{
    if (type == ncclFloat64)
        return ulpscope_nccl_bits(x);
    if (type == ncclFloat32)
        return ulpscope_nccl_single(x, 0);
    if (type == ncclBfloat16) {
        uint32_t bits = ulpscope_nccl_single(x, 1);
        return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    }
    uint32_t bits = ulpscope_nccl_single(x, 1), sign = bits >> 16 & 0x8000,
             rest = bits & 0x7fffffff;
    if (rest >= 0x477ff000) /* 65520 */
        return sign | 0x7c00;
    if (rest >= 0x38800000) { /* 2^-14, the smallest normal number */
        rest -= 0x38000000;
        return sign | (rest + 0xfff + (rest >> 13 & 1)) >> 13;
    }
    /* Units of 2^-24: the sum of fp16 elements is a multiple of it, so that nothing is rounded. */
    return sign | (uint32_t)(fabs(x) * 0x1p24);
}

ULPSCOPE_NCCL_FUNCTION uint64_t ulpscope_nccl_nan(ncclDataType_t type)
{
    return type == ncclFloat64    ? 0x7ff8000000000000
           : type == ncclFloat32  ? 0x7fc00000
           : type == ncclBfloat16 ? 0x7fc0
                                  : 0x7e00;
}

/* --- sums of any elements: integers of fixed places --- */

/* The addends of element i, numbered rank by rank: those of this rank from `first` on, an array
 * every `own_stride` elements, and all others, an array every `stride` elements. */
struct ulpscope_nccl_addends {
    const void *own, *gathered;
    size_t own_stride, stride;
    int first, own_count, count;
};

/* Where array k is. */
ULPSCOPE_NCCL_FUNCTION const void *ulpscope_nccl_array(const struct ulpscope_nccl_addends *a,
                                                       size_t bytes, int k)
{
    int mine = k - a->first;
    return mine >= 0 && mine < a->own_count
               ? (const char *)a->own + (size_t)mine * a->own_stride * bytes
               : (const char *)a->gathered + (size_t)k * a->stride * bytes;
}

ULPSCOPE_NCCL_FUNCTION double ulpscope_nccl_addend(const struct ulpscope_nccl_addends *a,
                                                   ncclDataType_t type, int k, size_t i)
{
    const void *from = ulpscope_nccl_array(a, (size_t)ulpscope_nccl_type_of(type).bytes, k);
    if (type == ncclFloat64)
        return ((const double *)from)[i];
    if (type == ncclFloat32)
        return ulpscope_nccl_of_single(((const uint32_t *)from)[i]);
    return ulpscope_nccl_decode(type, ((const uint16_t *)from)[i]);
}

/* floor(log2 |x|) of a normal number; of smaller ones -1023. */
ULPSCOPE_NCCL_FUNCTION int ulpscope_nccl_exponent(double x)
{
    return (int)(ulpscope_nccl_bits(x) >> 52 & 0x7ff) - 1023;
}

/* The exponent of the unit that elements are rounded to, where the largest is below 2^(e+1): that
 * of sum/binned with elements in fp64 and the type as its accumulator (kernels/blocks/binned.h). */
ULPSCOPE_NCCL_FUNCTION int ulpscope_nccl_unit(struct ulpscope_nccl_type is, int folds, int e)
{
    int width = is.digits == 53 ? 50 : 21, digits = folds * is.digits;
    digits = digits < 53 ? 53 : digits;
    int bin = (e - digits + 1 - ULPSCOPE_NCCL_LOWEST) / width;
    return (bin < 0 ? 0 : bin) * width + ULPSCOPE_NCCL_LOWEST;
}

/* x rounded to a multiple of 2^unit, ties to even. */
ULPSCOPE_NCCL_FUNCTION double ulpscope_nccl_cut(double x, int unit)
{
    double ulps = ldexp(1.0, unit + 52);
    if (!(fabs(x) < ulps))
        return x;
    double up = x < 0 ? x - ulps : x + ulps;
    return x < 0 ? up + ulps : up - ulps;
}

/* limb += x, in units of 2^ULPSCOPE_NCCL_LOWEST. */
ULPSCOPE_NCCL_FUNCTION void ulpscope_nccl_add_limbs(int64_t *limb, double x)
{
    uint64_t bits = ulpscope_nccl_bits(x), m = bits & 0xfffffffffffff;
    int biased = (int)(bits >> 52 & 0x7ff), at = biased ? biased - 1 : 0;
    m |= (uint64_t)(biased > 0) << 52;
    int64_t sign = bits >> 63 ? -1 : 1;
    uint64_t low = m << at % 32, high = at % 32 ? m >> (64 - at % 32) : 0;
    limb[at / 32] += sign * (int64_t)(low & 0xffffffff);
    limb[at / 32 + 1] += sign * (int64_t)(low >> 32);
    limb[at / 32 + 2] += sign * (int64_t)high;
}

/* Limbs to digits of 32 bits; what is left above them. */
ULPSCOPE_NCCL_FUNCTION int64_t ulpscope_nccl_carry(int64_t *limb, int64_t sign)
{
    int64_t carry = 0;
    ULPSCOPE_NCCL_ROLLED
    for (int k = 0; k < ULPSCOPE_NCCL_LIMBS; k++) {
        int64_t x = sign * limb[k] + carry;
        limb[k] = x & 0xffffffff;
        carry = x >> 32;
    }
    return carry;
}

/* The sum in limbs: rounded to fp64 where that is the type, else to odd. */
ULPSCOPE_NCCL_FUNCTION double ulpscope_nccl_of_limbs(int64_t *limb, ncclDataType_t type)
{
    int negative = ulpscope_nccl_carry(limb, 1) < 0, k = ULPSCOPE_NCCL_LIMBS;
    uint64_t number = 0;
    int rest = 0, cut = 0;
    if (negative)
        ulpscope_nccl_carry(limb, -1);
    ULPSCOPE_NCCL_ROLLED
    while (k > 0 && limb[k - 1] == 0)
        k--;
    ULPSCOPE_NCCL_ROLLED
    while (k > 0 && number >> 32 == 0)
        number = number << 32 | (uint64_t)limb[--k];
    int exponent = ULPSCOPE_NCCL_LOWEST + 32 * k;
    /* 64 bits where there are as many: of the next digit `more`. */
    int more = 0;
    ULPSCOPE_NCCL_ROLLED
    while (k > 0 && more < 32 && (number << more) >> 63 == 0)
        more++;
    if (more > 0) {
        k--;
        number = number << more | (uint64_t)limb[k] >> (32 - more);
        rest = (limb[k] & ((1ll << (32 - more)) - 1)) != 0;
        exponent -= more;
    }
    ULPSCOPE_NCCL_ROLLED
    for (; k > 0; k--)
        rest |= limb[k - 1] != 0;
    ULPSCOPE_NCCL_ROLLED
    while (number >> cut >> 53 != 0)
        cut++;
    if (cut > 0) {
        uint64_t below = number & ((1ull << cut) - 1), half = 1ull << (cut - 1);
        number >>= cut;
        if (type != ncclFloat64)
            number |= below || rest;
        else
            number += below > half || (below == half && (rest || (number & 1)));
    }
    double sum = ldexp((double)number, exponent + cut);
    return negative ? -sum : sum;
}

/* What element i is due to, whatever its addends are: its bits. NaN with any NaN or infinities of
 * both signs; an infinity with those of one; -0 where all are -0, else +0 where they cancel. */
ULPSCOPE_NCCL_RARE uint64_t ulpscope_nccl_any(const struct ulpscope_nccl_addends *a,
                                              ncclDataType_t type, int folds, size_t i)
{
    int64_t limb[ULPSCOPE_NCCL_LIMBS];
    int up = 0, down = 0, minus_zeros = 0, most = -1023;
    ULPSCOPE_NCCL_ROLLED
    for (int k = 0; k < a->count; k++) {
        double x = ulpscope_nccl_addend(a, type, k, i);
        int e = ulpscope_nccl_exponent(x);
        if (x != x)
            return ulpscope_nccl_nan(type);
        if (e == 1024) {
            up |= x > 0;
            down |= x < 0;
            continue;
        }
        most = e > most ? e : most;
        minus_zeros += x == 0 && ulpscope_nccl_bits(x) >> 63;
    }
    if (up && down)
        return ulpscope_nccl_nan(type);
    if (up || down)
        return ulpscope_nccl_encode(type, up ? (double)INFINITY : -(double)INFINITY);
    if (minus_zeros == a->count)
        return ulpscope_nccl_encode(type, -0.0);
    int unit = ulpscope_nccl_unit(ulpscope_nccl_type_of(type), folds, most);
    ULPSCOPE_NCCL_ROLLED
    for (int k = 0; k < ULPSCOPE_NCCL_LIMBS; k++)
        limb[k] = 0;
    ULPSCOPE_NCCL_ROLLED
    for (int k = 0; k < a->count; k++) {
        double x = ulpscope_nccl_addend(a, type, k, i);
        ulpscope_nccl_add_limbs(limb, folds ? ulpscope_nccl_cut(x, unit) : x);
    }
    return ulpscope_nccl_encode(type, ulpscope_nccl_of_limbs(limb, type));
}

/* --- the same in doubles, for nearly all data --- */

/* s + e is the sum but for what t bounds: the magnitudes of what e lost. And the largest and
 * smallest magnitude but 0. */
struct ulpscope_nccl_sum {
    double s, e, t, most, least;
};

/* *a = a + b rounded; what that lost, exactly (Knuth). */
ULPSCOPE_NCCL_FUNCTION double ulpscope_nccl_lost(double *a, double b)
{
    double sum = *a + b, part = sum - *a, lost = (*a - (sum - part)) + (b - part);
    *a = sum;
    return lost;
}

ULPSCOPE_NCCL_FUNCTION void ulpscope_nccl_add(struct ulpscope_nccl_sum *to, ncclDataType_t type,
                                              int folds, double x, int first)
{
    double size = fabs(x);
    if (first) {
        to->s = x;
        to->e = to->t = 0;
        to->most = size;
        to->least = size > 0 ? size : (double)INFINITY;
        return;
    }
    if (type == ncclFloat16) /* 40 bits and those of a count: always exact */
        to->s += x;
    else
        to->t += fabs(ulpscope_nccl_lost(&to->e, ulpscope_nccl_lost(&to->s, x)));
    if (folds) {
        to->most = fmax(to->most, size);
        to->least = fmin(to->least, size > 0 ? size : (double)INFINITY);
    }
}

/* h + l rounded to the type: its bits. |l| need not be small. */
ULPSCOPE_NCCL_FUNCTION uint64_t ulpscope_nccl_pair(ncclDataType_t type, double h, double l)
{
    double rest = ulpscope_nccl_lost(&h, l);
    return ulpscope_nccl_encode(type, type == ncclFloat64 ? h : ulpscope_nccl_odd(h, rest));
}

/* Is it decided? The bits then. */
ULPSCOPE_NCCL_FUNCTION int ulpscope_nccl_decided(const struct ulpscope_nccl_sum *of,
                                                 ncclDataType_t type, int folds, uint64_t *bits)
{
    struct ulpscope_nccl_type is = ulpscope_nccl_type_of(type);
    double h = of->s, l = ulpscope_nccl_lost(&h, of->e);
    if (!(fabs(h) + fabs(l) + of->t < (double)INFINITY)) /* NaN too */
        return 0;
    if (folds && of->most > 0) { /* Is every element a multiple of the unit? */
        int lowest = ulpscope_nccl_exponent(of->least) - is.digits + 1;
        lowest = lowest < is.lowest ? is.lowest : lowest;
        if (lowest < ulpscope_nccl_unit(is, folds, ulpscope_nccl_exponent(of->most)))
            return 0;
    }
    if (of->t == 0) {
        if (h == 0) /* the sign of 0 is that of s: only of zeros alone, all -0, it is -0 */
            h = of->s == 0 ? of->s : 0;
        *bits = ulpscope_nccl_encode(type, type == ncclFloat64 ? h : ulpscope_nccl_odd(h, l));
        return 1;
    }
    /* Rounding is monotone: what both ends of an enclosure round to, all in it do. */
    double off = 4 * of->t + fabs(l) * 0x1p-50;
    *bits = ulpscope_nccl_pair(type, h, l - off);
    return *bits == ulpscope_nccl_pair(type, h, l + off);
}

/* What is not decided so, where the largest magnitude is `most`: elements that are no multiples of
 * the unit are rounded to one first, and then added in doubles, too. */
ULPSCOPE_NCCL_RARE uint64_t ulpscope_nccl_undecided(const struct ulpscope_nccl_addends *a,
                                                    ncclDataType_t type, int folds, size_t i,
                                                    double most)
{
    struct ulpscope_nccl_sum sum = {0, 0, 0, 0, 0};
    struct ulpscope_nccl_type is = ulpscope_nccl_type_of(type);
    int unit = ulpscope_nccl_unit(is, folds, ulpscope_nccl_exponent(most));
    uint64_t bits;
    ULPSCOPE_NCCL_ROLLED
    for (int k = 0; folds && k < a->count; k++) {
        double x = ulpscope_nccl_cut(ulpscope_nccl_addend(a, type, k, i), unit);
        ulpscope_nccl_add(&sum, type, 0, x, k == 0);
    }
    if (folds && most > 0 && most < (double)INFINITY && ulpscope_nccl_decided(&sum, type, 0, &bits))
        return bits;
    return ulpscope_nccl_any(a, type, folds, i);
}
#endif
