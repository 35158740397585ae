/* One block of a matrix product, and one instruction: the rules of mma.h in integers. In a header,
 * and in what is C and CUDA alike, so that a GPU computes the same model that it is held to
 * (tests/gpu/hold_mma.cu). A and B may be of different elements; they are constants where these
 * functions are inlined. */
#pragma once

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/mma/mma.h"

#ifdef __CUDACC__
#define MMA_CODE __host__ __device__ static inline
#else
#define MMA_CODE static inline
#endif
/* What has a copy for each pair of elements, constants in it: a compiler that leaves them variable
 * makes a model half as fast. */
#ifdef __CUDACC__
#define MMA_COPIED MMA_CODE
#else
#define MMA_COPIED static inline __attribute__((always_inline))
#endif

/* A finite operand is significand x 2^(exponent - fraction), the significand signed. */
struct operand {
    int32_t significand;
    int16_t exponent;
    int8_t special; /* FINITE, or an infinity's sign, or NOT_A_NUMBER */
};
enum { FINITE = 0, NOT_A_NUMBER = 2 };

/* What of format_facts a result needs, where a GPU can read it. */
struct mma_result {
    int bits, precision, emin;
    uint64_t specials;
};

MMA_CODE struct mma_result result_of(enum format f)
{
    const struct mma_result fp16 = {16, 11, -14, 0x7c00}, fp32 = {32, 24, -126, 0x7f800000};
    return f == FP16 ? fp16 : fp32;
}

MMA_CODE int fraction_of(enum mma_element e)
{
    switch (e) {
    case MMA_E4M3:
        return 3;
    case MMA_E5M2:
        return 2;
    case MMA_FP16:
    case MMA_TF32:
        return 10;
    case MMA_BF16:
        return 7;
    case MMA_FP64: /* has no blocks */
    case MMA_ELEMENTS:
        break;
    }
    return 0;
}

MMA_COPIED struct operand decoded(uint64_t bits, int width, int fraction, int emin, int emax,
                                  bool infinities)
{
    const uint32_t all = (uint32_t)(bits & ((UINT64_C(1) << (width - 1)) - 1));
    const uint32_t low = all & ((1u << fraction) - 1), field = all >> fraction;
    const bool negative = bits >> (width - 1) & 1, normal = field != 0;
    const int32_t significand = (int32_t)(low | (uint32_t)normal << fraction);
    struct operand o = {negative ? -significand : significand,
                        (int16_t)((int)field - normal + emin), FINITE};
    if (infinities ? o.exponent > emax : all == (1u << (width - 1)) - 1)
        o.special = infinities && !low ? (int8_t)(negative ? -1 : 1) : (int8_t)NOT_A_NUMBER;
    return o;
}

MMA_COPIED struct operand element(enum mma_element e, const void *from, size_t i)
{
    const unsigned char *bytes = (const unsigned char *)from;
    uint16_t two;
    uint32_t four;
    switch (e) {
    case MMA_E4M3:
        return decoded(bytes[i], 8, 3, -6, 8, false);
    case MMA_E5M2:
        return decoded(bytes[i], 8, 2, -14, 15, true);
    case MMA_FP16:
        memcpy(&two, bytes + 2 * i, sizeof two);
        return decoded(two, 16, 10, -14, 15, true);
    case MMA_BF16:
        memcpy(&two, bytes + 2 * i, sizeof two);
        return decoded(two, 16, 7, -126, 127, true);
    case MMA_TF32:
        memcpy(&four, bytes + 4 * i, sizeof four);
        return decoded(four >> 13, 19, 10, -126, 127, true);
    case MMA_FP64: /* has no blocks */
    case MMA_ELEMENTS:
        break;
    }
    const struct operand none = {0, 0, NOT_A_NUMBER};
    return none;
}

MMA_CODE struct operand accumulated(enum format f, uint64_t bits)
{
    return f == FP16 ? decoded(bits, 16, 10, -14, 15, true)
                     : decoded(bits, 32, 23, -126, 127, true);
}

MMA_CODE uint64_t not_a_number(enum format f)
{
    return (UINT64_C(1) << (result_of(f).bits - 1)) - 1;
}

MMA_CODE uint64_t signed_bits(enum format f, bool negative, uint64_t size)
{
    return size | (uint64_t)negative << (result_of(f).bits - 1);
}

MMA_CODE int leading_bit(uint64_t size)
{
#ifdef __CUDA_ARCH__
    return 63 - __clzll((long long)size);
#else
    return 63 - __builtin_clzll(size);
#endif
}

/* sum x 2^unit, rounded once to the result. */
MMA_CODE uint64_t rounded(const struct mma_rule *r, int64_t sum, int unit)
{
    const struct mma_result facts = result_of(r->result);
    uint64_t size = sum < 0 ? -(uint64_t)sum : (uint64_t)sum, significand;
    if (sum == 0)
        return 0;
    int exponent = leading_bit(size) + unit;
    exponent = exponent < facts.emin ? facts.emin : exponent;
    int drop = exponent - r->kept - unit;
    if (drop <= 0) {
        significand = size << -drop; /* at most kept + 1 bits */
    } else if (drop > 63) {
        significand = 0;
    } else {
        uint64_t lost = size & ((UINT64_C(1) << drop) - 1), half = UINT64_C(1) << (drop - 1);
        significand = size >> drop;
        significand += r->rounding == MMA_NEAREST && lost + (significand & 1) > half;
    }
    /* A normal number's leading bit makes its exponent field one more, and so does a carry. */
    uint64_t bits = ((uint64_t)(exponent - facts.emin) << r->kept) + significand;
    bits <<= facts.precision - 1 - r->kept;
    if (bits == 0) /* +0, whatever the sign of what was lost: unlike IEEE's rounding */
        return 0;
    return signed_bits(r->result, sum<0, bits> facts.specials ? facts.specials : bits);
}

/* A term of `point` bits behind its point, as a multiple of 2^(M - F), where M is `above` its
 * exponent. */
MMA_CODE int64_t aligned(const struct mma_rule *r, int64_t term, int point, int above)
{
    int left = r->fraction - point - above;
    uint64_t size = term < 0 ? -(uint64_t)term : (uint64_t)term;
    if (left >= 0)
        return r->alignment == MMA_STICKY ? term * (INT64_C(2) << left)
                                          : term * (INT64_C(1) << left);
    int drop = -left < 63 ? -left : 63;
    uint64_t kept = size >> drop, lost = size & ((UINT64_C(1) << drop) - 1);
    if (r->alignment == MMA_STICKY)
        kept = kept << 1 | (lost != 0);
    else if (r->alignment == MMA_ROUND_TERMS)
        kept += lost + (kept & 1) > UINT64_C(1) << (drop - 1);
    return term < 0 ? -(int64_t)kept : (int64_t)kept;
}

/* A sum with infinities: is there a +inf ([0]), a -inf ([1])? */
MMA_CODE uint64_t special(const struct mma_rule *r, const bool infinite[2])
{
    if (infinite[0] && infinite[1])
        return not_a_number(r->result);
    return signed_bits(r->result, infinite[1], result_of(r->result).specials);
}

struct terms {
    int count, most; /* most: the largest exponent */
    bool nan, infinite[2];
    int64_t significand[MMA_BLOCK + 1];
    int exponent[MMA_BLOCK + 1];
};

MMA_CODE void add_term(const struct mma_rule *r, struct terms *t, int64_t significand, int exponent)
{
    exponent = significand != 0 || r->zeros ? exponent : t->most; /* so that none is above `most` */
    t->significand[t->count] = significand;
    t->exponent[t->count++] = exponent;
    t->most = exponent > t->most ? exponent : t->most;
}

/* The first terms, aligned: what the hardware does, branch-free. A term has at most 22 bits, and
 * `up` is below 40. */
MMA_CODE int64_t truncated(const struct terms *t, int count, int up)
{
    int64_t sum = 0;
    for (int i = 0; i < count; i++) {
        int64_t sign = t->significand[i] >> 63, size = (t->significand[i] ^ sign) - sign;
        int above = t->most - t->exponent[i];
        sum += ((size << up >> (above < 63 ? above : 63)) ^ sign) - sign;
    }
    return sum;
}

MMA_CODE void add_special(struct terms *t, struct operand a, struct operand b)
{
    if (a.special == NOT_A_NUMBER || b.special == NOT_A_NUMBER || (!a.special && !a.significand) ||
        (!b.special && !b.significand))
        t->nan = true;
    else
        t->infinite[(a.special ? a.special < 0 : a.significand < 0) !=
                    (b.special ? b.special < 0 : b.significand < 0)] = true;
}

/* As the fp16 number that it is converted to: numbers that are subnormal in e4m3 are normal there,
 * and so have smaller exponents. Those of e5m2 are the subnormal ones of fp16. */
MMA_COPIED struct operand unpacked(enum mma_element e, struct operand o)
{
    if (e == MMA_E4M3 && o.significand != 0) {
        const int up = fraction_of(e) - leading_bit((uint64_t)llabs(o.significand));
        o.significand *= 1 << up;
        o.exponent = (int16_t)(o.exponent - up);
    }
    return o;
}

/* The fused sum of the products of elements first, first + 1, ... of a and b, and of c. Those of
 * MMA_PAIRS are pairs, two of every four. */
MMA_COPIED uint64_t block_of(enum mma_element of_a, enum mma_element of_b, const struct mma_rule *r,
                             size_t first, size_t count, const void *a, const void *b, uint64_t c)
{
    const int point = fraction_of(of_a) + fraction_of(of_b);
    struct terms t;
    t.count = 0;
    t.most = r->least;
    t.nan = t.infinite[0] = t.infinite[1] = false;
    for (size_t i = 0; i < count; i++) {
        size_t at = first + (r->order == MMA_PAIRS ? i / 2 * 4 + i % 2 : i);
        struct operand x = element(of_a, a, at), y = element(of_b, b, at);
        if (r->order == MMA_PAIRS) {
            x = unpacked(of_a, x);
            y = unpacked(of_b, y);
        }
        if (x.special || y.special)
            add_special(&t, x, y);
        else
            add_term(r, &t, (int64_t)x.significand * y.significand, x.exponent + y.exponent);
    }
    const struct operand z = accumulated(r->result, c), one = {1, 0, FINITE};
    if (z.special)
        add_special(&t, z, one);
    if (t.nan)
        return not_a_number(r->result);
    if (t.infinite[0] || t.infinite[1])
        return special(r, t.infinite);
    add_term(r, &t, z.significand, z.exponent);
    const int last = t.count - 1, up = r->fraction - point;
    int64_t sum = aligned(r, t.significand[last], result_of(r->result).precision - 1,
                          t.most - t.exponent[last]);
    if (r->alignment == MMA_TRUNCATE && up >= 0)
        sum += truncated(&t, last, up);
    else
        for (int i = 0; i < last; i++)
            sum += aligned(r, t.significand[i], point, t.most - t.exponent[i]);
    return rounded(r, sum, t.most - r->fraction - (r->alignment == MMA_STICKY));
}

/* c + sum, to nearest: one IEEE addition of the result's format. */
MMA_CODE uint64_t added(enum format f, uint64_t c, uint64_t sum)
{
    if (f == FP16) { /* as integers: the exact sum has at most 41 bits */
        const struct operand x = accumulated(f, c), y = accumulated(f, sum);
        const struct mma_rule to = {
            MMA_FP16,    FP16,         1,           1,           24,           10,
            MMA_NEAREST, MMA_TRUNCATE, MMA_FORWARD, MMA_C_FIRST, MMA_NO_LEAST, false};
        if (x.special == NOT_A_NUMBER || y.special == NOT_A_NUMBER ||
            (x.special && y.special && x.special != y.special))
            return not_a_number(f);
        if (x.special || y.special)
            return x.special ? c : sum;
        const int64_t both = x.significand * (INT64_C(1) << (x.exponent + 14)) +
                             y.significand * (INT64_C(1) << (y.exponent + 14));
        return both == 0 ? c & sum & 0x8000 : rounded(&to, both, -24);
    }
    const uint32_t from = (uint32_t)c, by = (uint32_t)sum;
    uint32_t bits;
    float x, y;
    memcpy(&x, &from, sizeof x);
    memcpy(&y, &by, sizeof y);
    x += y;
    memcpy(&bits, &x, sizeof bits);
    return x != x ? not_a_number(f) : bits;
}

/* Elements first .. first + k - 1, those of one instruction. */
MMA_COPIED uint64_t instruction_of(enum mma_element of_a, enum mma_element of_b,
                                   const struct mma_rule *r, size_t first, size_t k, const void *a,
                                   const void *b, uint64_t c)
{
    size_t size = (size_t)r->block, blocks = (k + size - 1) / size;
    uint64_t sum = r->c == MMA_C_FIRST ? c : 0;
    for (size_t i = 0; i < blocks; i++) {
        size_t at = first + (r->order == MMA_PAIRS       ? 2 * i
                             : r->order == MMA_BACKWARDS ? (blocks - 1 - i) * size
                                                         : i * size);
        size_t left = first + k - at;
        sum = block_of(of_a, of_b, r, at, r->order == MMA_PAIRS || size < left ? size : left, a, b,
                       sum);
    }
    if (r->c == MMA_C_FIRST)
        return sum;
    return added(r->result, c, sum);
}

MMA_CODE uint64_t fused_in_order(size_t k, const void *a, const void *b, uint64_t c)
{
    const unsigned char *from = (const unsigned char *)a, *by = (const unsigned char *)b;
    double sum, x, y;
    memcpy(&sum, &c, sizeof sum);
    for (size_t i = 0; i < k; i++) {
        memcpy(&x, from + 8 * i, sizeof x);
        memcpy(&y, by + 8 * i, sizeof y);
        sum = fma(x, y, sum);
    }
    memcpy(&c, &sum, sizeof c);
    return sum != sum ? UINT64_MAX >> 1 : c;
}
