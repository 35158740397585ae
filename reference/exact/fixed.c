#include "reference/exact/fixed.h"

#include <math.h>

void fixed_add_at(struct fixed *to, unsigned __int128 value, unsigned position)
{
    unsigned shift = position % 64;
    uint64_t low = (uint64_t)value, high = (uint64_t)(value >> 64);
    uint64_t part[3] = {low << shift, high << shift, 0};
    if (shift) {
        part[1] |= low >> (64 - shift);
        part[2] = high >> (64 - shift);
    }
    uint64_t *limb = to->limb + position / 64, *end = to->limb + FIXED_LIMBS;
    bool carry = false;
    for (int i = 0; limb < end && (i < 3 || carry); i++, limb++) {
        uint64_t addend = i < 3 ? part[i] : 0, sum;
        bool first = __builtin_add_overflow(*limb, addend, &sum);
        carry = __builtin_add_overflow(sum, (uint64_t)carry, limb) || first;
    }
}

void fixed_add(struct fixed *to, const struct fixed *from)
{
    bool carry = false;
    for (int i = 0; i < FIXED_LIMBS; i++) {
        uint64_t sum;
        bool first = __builtin_add_overflow(to->limb[i], from->limb[i], &sum);
        carry = __builtin_add_overflow(sum, (uint64_t)carry, &to->limb[i]) || first;
    }
}

static int compare(const struct fixed *a, const struct fixed *b)
{
    for (int i = FIXED_LIMBS - 1; i >= 0; i--)
        if (a->limb[i] != b->limb[i])
            return a->limb[i] > b->limb[i] ? 1 : -1;
    return 0;
}

int fixed_difference(struct fixed *to, const struct fixed *a, const struct fixed *b)
{
    int sign = compare(a, b);
    const struct fixed *larger = sign < 0 ? b : a, *smaller = sign < 0 ? a : b;
    bool borrow = false;
    for (int i = 0; i < FIXED_LIMBS; i++) {
        uint64_t rest;
        bool first = __builtin_sub_overflow(larger->limb[i], smaller->limb[i], &rest);
        borrow = __builtin_sub_overflow(rest, (uint64_t)borrow, &to->limb[i]) || first;
    }
    return sign;
}

int fixed_highest(const struct fixed *x)
{
    for (int i = FIXED_LIMBS - 1; i >= 0; i--)
        if (x->limb[i])
            return 64 * i + 63 - __builtin_clzll(x->limb[i]);
    return -1;
}

static bool any_below(const struct fixed *x, int position)
{
    for (int i = 0; i < position / 64; i++)
        if (x->limb[i])
            return true;
    return x->limb[position / 64] & ((UINT64_C(1) << position % 64) - 1);
}

static uint64_t bits_from(const struct fixed *x, int position)
{
    int i = position / 64, shift = position % 64;
    uint64_t bits = x->limb[i] >> shift;
    if (shift && i + 1 < FIXED_LIMBS)
        bits |= x->limb[i + 1] << (64 - shift);
    return bits;
}

double fixed_round(const struct fixed *x, enum format f)
{
    const struct format_facts *facts = &format_facts[f];
    int top = fixed_highest(x);
    if (top < 0)
        return 0;
    int e = top + FIXED_LOWEST;
    int quantum = (e < facts->emin ? facts->emin : e) - facts->precision + 1;
    int cut = quantum - FIXED_LOWEST; /* >= 0: no format is finer than a double */
    uint64_t kept = bits_from(x, cut);
    if (cut > 0) {
        bool half = bits_from(x, cut - 1) & 1, rest = any_below(x, cut - 1);
        kept += half && (rest || (kept & 1));
    }
    double rounded = ldexp((double)kept, quantum);
    return rounded > facts->largest ? facts->too_large : rounded;
}
