/* Operands on which matrix instructions are held to their models, in C and CUDA alike: a GPU makes
 * them where it needs them, a CPU makes them again from the same numbers.
 *
 * A tile is 16 rows of A, 8 columns of B and 16 x 8 elements of C; each element of D is a vector.
 * Tiles come in groups of four, which are of one kind; for wgmma, which has 64 rows, they share the
 * first one's B. */
#pragma once

#include "kernels/mma/block.h"

enum { CASE_ROWS = 16, CASE_COLUMNS = 8, CASE_TILES = 4, CASE_VECTORS = CASE_ROWS * CASE_COLUMNS };

/* What a kind aims at; the first CASE_RANDOM are random numbers. */
enum mma_kind {
    CASE_NEAR,   /* two binades */
    CASE_SPREAD, /* products of all exponents from the largest to below where they are cut off */
    CASE_WIDE,   /* all exponents of the element */
    CASE_BITS,   /* all encodings */
    CASE_RANDOM,
    CASE_CARRY = CASE_RANDOM, /* significands of ones: carries at the last bit and at the first */
    CASE_LARGE,               /* one large term, C or a product, among some at the cut */
    CASE_MASK,    /* two that cancel, and some at the cut beside them: K, F, the place of C */
    CASE_CANCEL,  /* pairs that cancel but for a bit, within a block and across blocks */
    CASE_TINY,    /* subnormal operands times subnormal, moderate and large ones */
    CASE_LEAST,   /* sums that are subnormal */
    CASE_OVER,    /* sums about the largest number, that come back and that do not */
    CASE_SPECIAL, /* infinities, NaNs, zeros, largest and smallest among numbers */
    CASE_SIGNS,   /* zeros of both signs, and smallest numbers */
    CASE_KINDS,
    CASE_INTEGERS = CASE_KINDS /* small ones, whose sums are exact in every model */
};
#define CASE_NAMES                                                                                 \
    {                                                                                              \
        "near", "spread", "wide", "bits", "carry", "large", "mask", "cancel", "tiny", "least",     \
            "over", "special", "signs"                                                             \
    }

struct mma_form {
    int bits, fraction, ignored, emin, emax;
    bool infinities;
};

struct mma_cases {
    uint64_t seed;
    struct mma_form of[2], result; /* of A and B; of C and D */
    int k, cut, least;             /* F, and how small M may be */
    int only;                      /* this kind alone; -1: all in turn */
};

/* Where a number stands. */
struct mma_tile {
    uint64_t tile, group, key[2], shared;
    int kind, first, second; /* elements of k that stand out; k is C */
    int top[2], low[2]; /* exponents of large factors and of those whose products are at the cut */
};

/* SplitMix64 (Steele, Lea and Flood 2014). */
MMA_CODE uint64_t case_mixed(uint64_t z)
{
    z += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

/* One of low .. high, from 8 bits of h that begin at `at`. */
MMA_CODE int case_pick(uint64_t h, int at, int low, int high)
{
    return low + (int)((h >> at & 255) % (unsigned)(high - low + 1));
}

MMA_CODE int case_least(int a, int b)
{
    return a < b ? a : b;
}

MMA_CODE uint64_t case_fraction(const struct mma_form *f, uint64_t h)
{
    return h & ((UINT64_C(1) << f->fraction) - 1);
}

/* A number of exponent e or the nearest that there is; a subnormal one has lost its last bits. */
MMA_CODE uint64_t case_number(const struct mma_form *f, bool negative, int e, uint64_t fraction,
                              uint64_t ignored)
{
    const int least = f->emin - f->fraction;
    uint64_t size = fraction;
    e = e > f->emax ? f->emax : e < least ? least : e;
    if (e < f->emin)
        size = (size | UINT64_C(1) << f->fraction) >> (f->emin - e);
    else
        size |= (uint64_t)(e - f->emin + 1) << f->fraction;
    size -= !f->infinities && size == (UINT64_C(1) << (f->bits - 1)) - 1; /* a NaN */
    size = size << f->ignored | (ignored & ((UINT64_C(1) << f->ignored) - 1));
    return size | (uint64_t)negative << (f->bits - 1);
}

/* What is no number, and what is at an end of the numbers. */
MMA_CODE uint64_t case_special(const struct mma_form *f, uint64_t h)
{
    const uint64_t all = (UINT64_C(1) << (f->bits - 1)) - 1;
    const uint64_t specials =
        f->infinities ? all & ~((UINT64_C(1) << (f->fraction + f->ignored)) - 1) : all;
    uint64_t size = 0;
    switch (h >> 8 & 7) {
    case 0:
    case 1:
        size = specials;
        break;
    case 2:
        size = specials | (h >> 16 & all);
        break;
    case 3:
        size = specials - 1 - (h >> 16 & 3 & ((UINT64_C(1) << f->ignored) - 1));
        break;
    case 4:
        size = UINT64_C(1) << f->ignored;
        break;
    case 5:
        size = UINT64_C(1) << (f->fraction + f->ignored);
        break;
    }
    return size | (h >> 63) << (f->bits - 1);
}

MMA_CODE int case_integer(uint64_t h, int most)
{
    return (int)((h >> 20) % (unsigned)(2 * most + 1)) - most;
}

MMA_CODE uint64_t case_integral(const struct mma_form *f, int number)
{
    const uint64_t size = number < 0 ? -(uint64_t)number : (uint64_t)number;
    if (size == 0)
        return 0;
    const int e = leading_bit(size), left = f->fraction - e;
    return case_number(f, number < 0, e, case_fraction(f, left < 0 ? size >> -left : size << left),
                       0);
}

MMA_CODE struct mma_tile case_tile(const struct mma_cases *s, bool share, uint64_t tile)
{
    struct mma_tile t;
    t.tile = tile;
    t.group = tile / CASE_TILES;
    t.kind = s->only >= 0 ? s->only : (int)(t.group % CASE_KINDS);
    const uint64_t of_b = share ? t.group * CASE_TILES : tile;
    t.key[0] = case_mixed(case_mixed(s->seed) ^ (tile * 4 + 1));
    t.key[1] = case_mixed(case_mixed(s->seed) ^ (of_b * 4 + 2));
    t.shared = case_mixed(case_mixed(s->seed) ^ (t.group * 16 + 3));
    t.first = case_pick(t.shared, 0, 0, s->k);
    t.second = (t.first + case_pick(t.shared, 8, 1, s->k)) % (s->k + 1);
    /* Large products are below the largest of C, where there is one, and their sums too. */
    const int most = s->result.emax < 28 ? s->result.emax - 1 : 28;
    t.top[1] = case_least(s->of[1].emax, 14 - case_pick(t.shared, 16, 0, 4));
    t.top[0] = case_least(s->of[0].emax, most - t.top[1]);
    t.low[1] = t.top[1] - s->cut / 2;
    t.low[0] = t.top[0] - (s->cut - s->cut / 2);
    return t;
}

MMA_CODE uint64_t case_hash(const struct mma_tile *t, int which, int at, int k)
{
    return case_mixed(t->key[which] + (uint64_t)(at * 64 + k) * 0xd1342543de82ef95ull);
}

/* An element of A (which: 0), of its row `at`, or of B (1), of its column. */
MMA_CODE uint64_t case_factor(const struct mma_cases *s, const struct mma_tile *t, int which,
                              int at, int k)
{
    const struct mma_form *f = &s->of[which];
    uint64_t h = case_hash(t, which, at, k);
    const uint64_t ones = case_fraction(f, ~UINT64_C(0));
    uint64_t fraction = case_fraction(f, h), ignored = h >> 3;
    const int middle = (f->emin + f->emax) / 2, reach = s->cut / 2 + 2, top = t->top[which];
    bool negative = h >> 63;
    int e = top, to;
    switch (t->kind) {
    case CASE_NEAR:
        e = case_pick(h, 54, middle, middle + 1);
        break;
    case CASE_SPREAD:
        e = top - case_pick(h, 54, 0, reach);
        break;
    case CASE_WIDE:
        e = f->emin - f->fraction +
            (int)((h >> 53 & 0x3ff) * (uint64_t)(f->emax - f->emin + f->fraction + 1) >> 10);
        break;
    case CASE_BITS:
        return h >> (64 - f->bits);
    case CASE_CARRY:
        e = top - case_pick(h, 54, 0, h >> 53 & 1 ? 1 : reach);
        fraction = h >> 52 & 3 ? ones : h >> 50 & 1 ? 0 : ones - 1;
        negative = (h >> 44 & 7) == 0 && which == 0;
        break;
    case CASE_LARGE:
        if (k != t->first)
            e = t->low[which] + (which == 0 ? case_pick(h, 54, -3, 4) : 0);
        break;
    case CASE_MASK:
        negative = which == 1 ? case_mixed(t->key[1] + (uint64_t)at) >> 63 : negative;
        if (k == t->first || k == t->second) {
            fraction = 0;
            negative ^= which == 0 && (k == t->first) == negative;
        } else if (which == 0) {
            e = t->low[0] + case_pick(h, 54, -2, 4);
            if (h >> 52 & 1)
                return (uint64_t)negative << (f->bits - 1);
            fraction = h >> 51 & 1 ? fraction : 0;
        } else {
            e = t->low[1];
            fraction = 0;
        }
        break;
    case CASE_CANCEL: /* k and its partner, which are a power of two apart */
        to = 1;
        for (int i = case_pick(t->shared, 24, 0, 5); i > 0 && to * 4 <= s->k; i--)
            to *= 2;
        h = case_hash(t, which, at, k & ~to);
        e = top - case_pick(h, 54, 0, reach);
        fraction = case_fraction(f, h) ^ (k & to && which == 0 && h >> 53 & 1);
        negative = h >> 63 ^ (which == 0 && k & to);
        break;
    case CASE_TINY:
        e = f->emin - f->fraction + case_pick(h, 54, 0, f->fraction + 2);
        if (which == 1 && at % 4 == 1)
            e = case_pick(h, 54, middle - 4, middle + 4);
        else if (which == 1 && at % 4 == 2)
            e = f->emax - case_pick(h, 54, 0, 3);
        else if (which == 1 && at % 4 == 3)
            e = s->result.emin - s->of[0].emin + case_pick(h, 54, -12, 8);
        break;
    case CASE_LEAST:
        if (t->shared >> 40 & 1) {
            /* The smallest result or half of it, and what the least M cuts off beside it. */
            const int first = t->first % s->k, second = t->second % s->k;
            if (k != first && k != second)
                return (uint64_t)negative << (f->bits - 1);
            to = k == first ? s->result.emin - s->result.fraction : s->least - s->cut;
            e = which == 1 ? to - to / 2 : k == first ? to / 2 - (at & 1) : to / 2 + at / 2 % 4 - 1;
            return case_number(f, negative && k != first, e, 0, ignored);
        }
        to = s->result.emin - s->result.fraction / 2;
        e = (which == 0 ? to / 2 : to - to / 2) + case_pick(h, 54, -8, 8);
        e = e < f->emin - f->fraction ? f->emin - case_pick(h, 46, 0, f->fraction) : e;
        break;
    case CASE_OVER:
        to = s->result.emax;
        e = (which == 0 ? to / 2 : to - to / 2) + case_pick(h, 54, -2, 1 - which);
        fraction = h >> 52 & 1 ? ones : fraction;
        negative = negative && !(which == 0 ? t->tile & 1 : at & 1);
        break;
    case CASE_SPECIAL:
        e = top - case_pick(h, 54, 0, reach);
        if ((h >> 40 & 0xfff) < 4096 / 40)
            return case_special(f, case_mixed(h));
        break;
    case CASE_SIGNS:
        if (case_pick(h, 54, 0, 7) < (which == 0 && at % 2 == 0 ? 8 : 5))
            return (uint64_t)negative << (f->bits - 1);
        e = h >> 52 & 1 ? f->emin - f->fraction : h >> 51 & 1 ? f->emin : middle;
        break;
    case CASE_INTEGERS:
        return case_integral(f, case_integer(h, 7));
    }
    return case_number(f, negative, e, fraction, ignored);
}

enum { CASE_LARGEST_C = 100 };
MMA_CODE uint64_t case_hash_c(const struct mma_tile *t, int row, int column)
{
    return case_mixed(t->key[0] + (uint64_t)(0x10000 + row * 16 + column) * 0x9e3779b97f4a7c15ull);
}

/* An element of C. */
MMA_CODE uint64_t case_addend(const struct mma_cases *s, const struct mma_tile *t, int row,
                              int column)
{
    const struct mma_form *f = &s->result;
    const uint64_t h = case_hash_c(t, row, column), ones = case_fraction(f, ~UINT64_C(0));
    const int product = t->top[0] + t->top[1];
    uint64_t fraction = case_fraction(f, h);
    bool negative = h >> 63;
    int e = product;
    if (t->kind == CASE_INTEGERS)
        return case_integral(f, case_integer(h, CASE_LARGEST_C));
    if (t->kind == CASE_LEAST && t->shared >> 40 & 1)
        return (uint64_t)negative << (f->bits - 1);
    if (t->kind != CASE_BITS && t->kind != CASE_MASK && (case_mixed(h) & 3) == 0)
        return (uint64_t)negative << (f->bits - 1);
    switch (t->kind) {
    case CASE_NEAR:
        e = (s->of[0].emin + s->of[0].emax) / 2 + (s->of[1].emin + s->of[1].emax) / 2 +
            case_pick(h, 54, -1, 5);
        break;
    case CASE_SPREAD:
        e = product - case_pick(h, 54, 0, s->cut + 6) + 3;
        break;
    case CASE_WIDE:
        e = f->emin - f->fraction +
            (int)((h >> 53 & 0x3ff) * (uint64_t)(f->emax - f->emin + f->fraction + 1) >> 10);
        break;
    case CASE_BITS:
        return h >> (64 - f->bits);
    case CASE_CARRY:
        e = product + case_pick(h, 54, -2, 4);
        fraction = h >> 53 & 1 ? ones : ones - 1;
        negative = (h >> 44 & 7) == 0;
        break;
    case CASE_LARGE:
        e = t->first == s->k ? product + case_pick(h, 54, 0, 1)
                             : product - s->cut + case_pick(h, 54, -3, 4);
        break;
    case CASE_MASK:
        if (t->first == s->k || t->second == s->k) { /* against the product that is there */
            negative = case_factor(s, t, 1, column, 0) >> (s->of[1].bits - 1) & 1;
            negative ^= t->second == s->k;
            fraction = 0;
        } else {
            e = product - s->cut + case_pick(h, 54, -2, 4);
            if (h >> 52 & 1)
                return (uint64_t)negative << (f->bits - 1);
        }
        break;
    case CASE_CANCEL:
    case CASE_SPECIAL:
        e = product - case_pick(h, 54, 0, s->cut + 2);
        if (t->kind == CASE_SPECIAL && h >> 40 & 1 && h >> 41 & 1)
            return case_special(f, case_mixed(h + 1));
        break;
    case CASE_TINY:
    case CASE_LEAST:
        e = f->emin - f->fraction + case_pick(h, 54, 0, f->fraction + 4);
        break;
    case CASE_OVER:
        e = f->emax - case_pick(h, 54, 0, 2);
        fraction = h >> 52 & 1 ? ones : fraction;
        negative = negative && !(t->tile & column & 1);
        break;
    case CASE_SIGNS:
        e = h >> 52 & 1 ? f->emin - f->fraction : h >> 51 & 1 ? f->emin : 0;
        break;
    }
    return case_number(f, negative, e, fraction, 0);
}

/* The exact element of D, where the kind is CASE_INTEGERS. */
static inline int case_sum(const struct mma_cases *s, const struct mma_tile *t, int row, int column)
{
    int sum = case_integer(case_hash_c(t, row, column), CASE_LARGEST_C);
    for (int k = 0; k < s->k; k++)
        sum +=
            case_integer(case_hash(t, 0, row, k), 7) * case_integer(case_hash(t, 1, column, k), 7);
    return sum;
}

MMA_CODE void case_row(const struct mma_cases *s, const struct mma_tile *t, int which, int at,
                       unsigned char *to)
{
    for (int k = 0; k < s->k; k++) {
        const uint64_t bits = case_factor(s, t, which, at, k);
        const int bytes = s->of[which].bits / 8;
        for (int i = 0; i < bytes; i++)
            to[k * bytes + i] = (unsigned char)(bits >> (8 * i));
    }
}

MMA_CODE bool case_is_nan(const struct mma_form *f, uint64_t bits)
{
    const uint64_t all = (UINT64_C(1) << (f->bits - 1)) - 1;
    return (bits & all) > (all & ~((UINT64_C(1) << f->fraction) - 1));
}

/* NaNs are equal whatever their bits. */
MMA_CODE bool case_agrees(const struct mma_form *f, uint64_t found, uint64_t expected)
{
    return found == expected || (case_is_nan(f, found) && case_is_nan(f, expected));
}

/* Wrong models that must not pass for a rule. */
enum mma_mutant {
    MUTANT_NONE,
    MUTANT_F_MORE,
    MUTANT_F_LESS,
    MUTANT_K_HALF,
    MUTANT_K_TWICE,
    MUTANT_SWAPPED,
    MUTANT_ORDER,
    MUTANT_C,
    MUTANT_STICKY,
    MUTANT_ROUND_TERMS,
    MUTANT_ROUNDING,
    MUTANT_KEPT,
    MUTANT_LEAST,
    MUTANT_ZEROS,
    MUTANTS
};
#define MUTANT_NAMES                                                                               \
    {                                                                                              \
        "none", "F+1", "F-1", "half-K", "twice-K", "swapped", "order", "C", "sticky",              \
            "round-terms", "rounding", "kept", "least", "zeros"                                    \
    }

/* Makes of a rule its mutant; false where it has none. */
static inline bool case_mutant(enum mma_mutant which, struct mma_rule *r)
{
    if (r->fraction == MMA_EXACT)
        return which == MUTANT_NONE;
    switch (which) {
    case MUTANT_NONE:
    case MUTANTS:
        return true;
    case MUTANT_F_MORE:
        r->fraction++;
        return true;
    case MUTANT_F_LESS:
        r->fraction--;
        return true;
    case MUTANT_K_HALF: /* pairs are laid out for blocks of half an instruction */
        r->block /= 2;
        return r->order != MMA_PAIRS;
    case MUTANT_K_TWICE:
        r->block *= 2;
        r->order = MMA_FORWARD;
        return r->block <= r->k;
    case MUTANT_SWAPPED:
        r->order = MMA_BACKWARDS;
        return r->block < r->k;
    case MUTANT_ORDER:
        r->order = r->order == MMA_PAIRS ? MMA_FORWARD : MMA_PAIRS;
        return 2 * r->block == r->k;
    case MUTANT_C:
        r->c = r->c == MMA_C_FIRST ? MMA_C_LAST : MMA_C_FIRST;
        return true;
    case MUTANT_STICKY:
        r->alignment = MMA_STICKY;
        return true;
    case MUTANT_ROUND_TERMS:
        r->alignment = MMA_ROUND_TERMS;
        return true;
    case MUTANT_ROUNDING:
        r->rounding = r->rounding == MMA_NEAREST ? MMA_TOWARD_ZERO : MMA_NEAREST;
        return true;
    case MUTANT_KEPT:
        r->kept--;
        return true;
    case MUTANT_LEAST:
        r->least++;
        return r->least > MMA_NO_LEAST + 1;
    case MUTANT_ZEROS:
        r->zeros = true;
        return true;
    }
    return false;
}

/* The bytes of an element of D, by a rule whose `element` is that of A. */
MMA_CODE uint64_t case_model(enum mma_element of_a, enum mma_element of_b, const struct mma_rule *r,
                             const void *a, const void *b, uint64_t c)
{
    return r->fraction == MMA_EXACT ? fused_in_order((size_t)r->k, a, b, c)
                                    : instruction_of(of_a, of_b, r, 0, (size_t)r->k, a, b, c);
}

static inline struct mma_form case_form(enum mma_element e)
{
    const struct mma_element_facts *x = &mma_elements[e];
    const struct mma_form f = {x->bits, x->fraction, x->ignored, x->emin, x->emax, e != MMA_E4M3};
    return f;
}

static inline struct mma_cases case_cases(const struct mma_rule *r, enum mma_element of_b,
                                          uint64_t seed)
{
    const struct format_facts *x = &format_facts[r->result];
    const struct mma_form result = {8 * x->bytes, x->precision - 1, 0, x->emin, x->emax, true};
    const struct mma_cases s = {seed, {case_form(r->element), case_form(of_b)},    result,
                                r->k, r->fraction == MMA_EXACT ? 52 : r->fraction, r->least,
                                -1};
    return s;
}
