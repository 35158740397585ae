/* One element of a matrix product, block by block: the rules of mma.h in integers. */
#include "kernels/mma/mma.h"

#include <math.h>
#include <string.h>

#include "reference/format/array.h"

/* A finite operand is significand x 2^(exponent - fraction), the significand signed. */
struct operand {
    int32_t significand;
    int16_t exponent;
    int8_t special; /* FINITE, or an infinity's sign, or NOT_A_NUMBER */
};
enum { FINITE = 0, NOT_A_NUMBER = 2 };

static inline struct operand decoded(uint64_t bits, int width, int fraction, int emin, int emax,
                                     bool infinities)
{
    const uint32_t all = (uint32_t)(bits & ((UINT64_C(1) << (width - 1)) - 1));
    const uint32_t low = all & ((1u << fraction) - 1), field = all >> fraction;
    const bool negative = bits >> (width - 1) & 1, normal = field != 0;
    const int32_t significand = (int32_t)(low | (uint32_t)normal << fraction);
    struct operand o = {negative ? -significand : significand,
                        (int16_t)((int)field - normal + emin), FINITE};
    if (infinities ? o.exponent > emax : all == (1u << (width - 1)) - 1)
        o.special = infinities && !low ? (int8_t)(negative ? -1 : 1) : NOT_A_NUMBER;
    return o;
}

static inline struct operand element(enum mma_element e, const void *from, size_t i)
{
    const unsigned char *bytes = from;
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
    return (struct operand){.special = NOT_A_NUMBER};
}

static struct operand accumulated(enum format f, uint64_t bits)
{
    return f == FP16 ? decoded(bits, 16, 10, -14, 15, true)
                     : decoded(bits, 32, 23, -126, 127, true);
}

static uint64_t not_a_number(enum format f)
{
    return (UINT64_C(1) << (8 * format_facts[f].bytes - 1)) - 1;
}

static uint64_t signed_bits(enum format f, bool negative, uint64_t size)
{
    return size | (uint64_t)negative << (8 * format_facts[f].bytes - 1);
}

/* sum x 2^unit, rounded once to the result. */
static uint64_t rounded(const struct mma_rule *r, int64_t sum, int unit)
{
    const struct format_facts *facts = &format_facts[r->result];
    uint64_t size = sum < 0 ? -(uint64_t)sum : (uint64_t)sum, significand;
    if (sum == 0)
        return 0;
    int exponent = 63 - __builtin_clzll(size) + unit;
    exponent = exponent < facts->emin ? facts->emin : exponent;
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
    uint64_t bits = ((uint64_t)(exponent - facts->emin) << r->kept) + significand;
    bits <<= facts->precision - 1 - r->kept;
    return signed_bits(r->result, sum<0, bits> facts->specials ? facts->specials : bits);
}

/* A term of `point` bits behind its point, as a multiple of 2^(M - F), where M is `above` its
 * exponent. */
static inline int64_t aligned(const struct mma_rule *r, int64_t term, int point, int above)
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

/* What is left of a sum that has an infinity or a NaN: `infinite` counts terms, +inf in [0]. */
static uint64_t special(const struct mma_rule *r, const bool infinite[2])
{
    if (infinite[0] && infinite[1])
        return not_a_number(r->result);
    return signed_bits(r->result, infinite[1], format_facts[r->result].specials);
}

struct terms {
    int count, most; /* most: the largest exponent */
    bool nan, infinite[2];
    int64_t significand[MMA_BLOCK + 1];
    int exponent[MMA_BLOCK + 1];
};

static inline void add_term(const struct mma_rule *r, struct terms *t, int64_t significand,
                            int exponent)
{
    exponent = significand != 0 || r->zeros ? exponent : t->most; /* so that none is above `most` */
    t->significand[t->count] = significand;
    t->exponent[t->count++] = exponent;
    t->most = exponent > t->most ? exponent : t->most;
}

/* The first terms, aligned: what the hardware does, branch-free. A term has at most 22 bits, and
 * `up` is below 40. */
static inline int64_t truncated(const struct terms *t, int count, int up)
{
    int64_t sum = 0;
    for (int i = 0; i < count; i++) {
        int64_t sign = t->significand[i] >> 63, size = (t->significand[i] ^ sign) - sign;
        int above = t->most - t->exponent[i];
        sum += ((size << up >> (above < 63 ? above : 63)) ^ sign) - sign;
    }
    return sum;
}

static inline void add_special(struct terms *t, struct operand a, struct operand b)
{
    if (a.special == NOT_A_NUMBER || b.special == NOT_A_NUMBER || (!a.special && !a.significand) ||
        (!b.special && !b.significand))
        t->nan = true;
    else
        t->infinite[(a.special ? a.special < 0 : a.significand < 0) !=
                    (b.special ? b.special < 0 : b.significand < 0)] = true;
}

/* The fused sum of the products of elements first, first + 1, ... of a and b, and of c. Those of
 * MMA_PAIRS are pairs, two of every four. */
static inline uint64_t block_of(enum mma_element e, const struct mma_rule *r, size_t first,
                                size_t count, const void *a, const void *b, uint64_t c)
{
    const int point = 2 * mma_elements[e].fraction;
    struct terms t = {.most = r->least};
    for (size_t i = 0; i < count; i++) {
        size_t at = first + (r->order == MMA_PAIRS ? i / 2 * 4 + i % 2 : i);
        struct operand x = element(e, a, at), y = element(e, b, at);
        if (x.special || y.special)
            add_special(&t, x, y);
        else
            add_term(r, &t, (int64_t)x.significand * y.significand, x.exponent + y.exponent);
    }
    struct operand z = accumulated(r->result, c);
    if (z.special)
        add_special(&t, z, (struct operand){1, 0, FINITE});
    if (t.nan)
        return not_a_number(r->result);
    if (t.infinite[0] || t.infinite[1])
        return special(r, t.infinite);
    add_term(r, &t, z.significand, z.exponent);
    const int last = t.count - 1, up = r->fraction - point;
    int64_t sum = aligned(r, t.significand[last], format_facts[r->result].precision - 1,
                          t.most - t.exponent[last]);
    if (r->alignment == MMA_TRUNCATE && up >= 0)
        sum += truncated(&t, last, up);
    else
        for (int i = 0; i < last; i++)
            sum += aligned(r, t.significand[i], point, t.most - t.exponent[i]);
    return rounded(r, sum, t.most - r->fraction - (r->alignment == MMA_STICKY));
}

/* One copy of the loop for each element, in which what depends on it is constant. */
static uint64_t block(const struct mma_rule *r, size_t first, size_t count, const void *a,
                      const void *b, uint64_t c)
{
    switch (r->element) {
    case MMA_FP16:
        return block_of(MMA_FP16, r, first, count, a, b, c);
    case MMA_BF16:
        return block_of(MMA_BF16, r, first, count, a, b, c);
    case MMA_TF32:
        return block_of(MMA_TF32, r, first, count, a, b, c);
    case MMA_E4M3:
        return block_of(MMA_E4M3, r, first, count, a, b, c);
    case MMA_E5M2:
        return block_of(MMA_E5M2, r, first, count, a, b, c);
    case MMA_FP64:
    case MMA_ELEMENTS:
        break;
    }
    return not_a_number(r->result);
}

/* Elements first .. first + k - 1, those of one instruction. */
static uint64_t instruction(const struct mma_rule *r, size_t first, size_t k, const void *a,
                            const void *b, uint64_t c)
{
    size_t size = (size_t)r->block, blocks = (k + size - 1) / size;
    uint64_t sum = r->c == MMA_C_FIRST ? c : 0;
    for (size_t i = 0; i < blocks; i++) {
        size_t at = first + (r->order == MMA_PAIRS       ? 2 * i
                             : r->order == MMA_BACKWARDS ? (blocks - 1 - i) * size
                                                         : i * size);
        size_t left = first + k - at;
        sum = block(r, at, r->order == MMA_PAIRS || size < left ? size : left, a, b, sum);
    }
    if (r->c == MMA_C_FIRST)
        return sum;
    double added =
        format_add(r->result, format_decode(r->result, c), format_decode(r->result, sum));
    return added != added ? not_a_number(r->result) : format_encode(r->result, added);
}

static uint64_t fused_in_order(size_t k, const void *a, const void *b, uint64_t c)
{
    const unsigned char *from = a, *by = b;
    double sum = double_from_bits(c), x, y;
    for (size_t i = 0; i < k; i++) {
        memcpy(&x, from + 8 * i, sizeof x);
        memcpy(&y, by + 8 * i, sizeof y);
        sum = fma(x, y, sum);
    }
    return sum != sum ? not_a_number(FP64) : double_bits(sum);
}

uint64_t mma_dot(const struct mma_rule *r, size_t k, const void *a, const void *b, uint64_t c)
{
    if (r->fraction == MMA_EXACT)
        return fused_in_order(k, a, b, c);
    const size_t bytes = (size_t)mma_elements[r->element].bits / 8, whole = (size_t)r->k;
    size_t i = 0;
    for (; k - i >= whole; i += whole)
        c = instruction(r, i, whole, a, b, c);
    if (i < k) { /* zeros behind it, as kernels pad */
        unsigned char last[2][8 * MMA_BLOCK] = {{0}};
        memcpy(last[0], (const unsigned char *)a + i * bytes, (k - i) * bytes);
        memcpy(last[1], (const unsigned char *)b + i * bytes, (k - i) * bytes);
        c = instruction(r, 0, whole, last[0], last[1], c);
    }
    return c;
}

void mma_product(const struct mma_rule *r, size_t m, size_t n, size_t k, const void *a,
                 const void *b, const void *c, void *d)
{
    const size_t bytes = (size_t)mma_elements[r->element].bits / 8;
    const struct array from = {r->result, m * n, (void *)(uintptr_t)c}, to = {r->result, m * n, d};
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++)
            array_set_bits(&to, i * n + j,
                           mma_dot(r, k, (const unsigned char *)a + i * k * bytes,
                                   (const unsigned char *)b + j * k * bytes,
                                   c ? array_bits(&from, i * n + j) : 0));
}
