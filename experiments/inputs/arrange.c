/* Orders of the elements: stable sorts by a key of the encoding, and shuffles. */
#include "experiments/inputs/family.h"

#include <stdlib.h>
#include <string.h>

const char *const arrangement_name[ARRANGEMENTS] = {
    [ARRANGED_AS_GENERATED] = "generated", [ARRANGED_ASCENDING] = "ascending",
    [ARRANGED_DESCENDING] = "descending",  [ARRANGED_BY_MAGNITUDE] = "magnitude",
    [ARRANGED_SHUFFLED] = "shuffled",
};

/* How keys are made from encodings of one format: unsigned integers in the order wanted. */
struct keys {
    enum arrangement how;
    uint64_t sign, last, all; /* of the format: sign bit, the last that is no NaN, every bit */
};

static struct keys keys_of(enum format f, enum arrangement how)
{
    int width = 8 * format_facts[f].bytes;
    uint64_t all = UINT64_MAX >> (64 - width), sign = all ^ all >> 1;
    return (struct keys){how, sign, format_facts[f].last, all};
}

/* The encoding without its sign orders magnitudes. For values, the negative ones come first and
 * the other way round. */
static inline uint64_t key_of(const struct keys *k, uint64_t bits)
{
    uint64_t size = bits & ~k->sign;
    if (size > k->last)
        return k->all; /* NaN */
    if (k->how == ARRANGED_BY_MAGNITUDE)
        return size;
    uint64_t ascending = bits & k->sign ? bits ^ k->all : bits | k->sign;
    return k->how == ARRANGED_ASCENDING ? ascending : ascending ^ k->all;
}

static inline uint64_t load(const void *data, enum format f, size_t i)
{
    switch (f) {
    case FP16:
    case BF16:
        return ((const uint16_t *)data)[i];
    case FP32:
        return ((const uint32_t *)data)[i];
    case FP64:
        break;
    case E4M3:
    case E5M2:
        return ((const uint8_t *)data)[i];
    }
    return ((const uint64_t *)data)[i];
}

static inline void store(void *data, enum format f, size_t i, uint64_t bits)
{
    switch (f) {
    case FP16:
    case BF16:
        ((uint16_t *)data)[i] = (uint16_t)bits;
        break;
    case FP32:
        ((uint32_t *)data)[i] = (uint32_t)bits;
        break;
    case FP64:
        ((uint64_t *)data)[i] = bits;
        break;
    case E4M3:
    case E5M2:
        ((uint8_t *)data)[i] = (uint8_t)bits;
        break;
    }
}

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

/* One pass of the radix sort: a stable sort by one digit of the key. False where all elements
 * have the same digit, and nothing was moved. */
static bool sort_by_digit(const struct keys *k, void *to, const void *from, enum format f, size_t n,
                          int shift)
{
    size_t place[DIGITS] = {0};
    for (size_t i = 0; i < n; i++)
        place[key_of(k, load(from, f, i)) >> shift & (DIGITS - 1)]++;
    size_t begin = 0;
    for (int digit = 0; digit < DIGITS; digit++) {
        size_t count = place[digit];
        if (count == n)
            return false;
        place[digit] = begin;
        begin += count;
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = load(from, f, i);
        store(to, f, place[key_of(k, bits) >> shift & (DIGITS - 1)]++, bits);
    }
    return true;
}

static enum status sort(const struct array *a, enum arrangement how, struct problem *p)
{
    struct keys k = keys_of(a->format, how);
    int bytes = format_facts[a->format].bytes;
    size_t size = array_bytes(a->format, a->n);
    void *other = malloc(size), *from = a->data, *to = other;
    if (!other)
        return problem(p, STATUS_MEMORY, "no memory to sort %zu elements: %zu bytes", a->n, size);
    for (int shift = 0; shift < 8 * bytes; shift += DIGIT_BITS)
        if (sort_by_digit(&k, to, from, a->format, a->n, shift)) {
            void *sorted = to;
            to = from;
            from = sorted;
        }
    if (from != a->data)
        memcpy(a->data, from, size);
    free(other);
    return STATUS_OK;
}

/* Partners are drawn a few at a time, so that memory has begun to fetch them when they are
 * swapped: what is drawn depends on the index alone. */
void input_shuffle(const struct array *a, uint64_t seed, enum random_stream stream)
{
    enum { AHEAD = 64 };
    size_t partner[AHEAD];
    int bytes = format_facts[a->format].bytes;
    for (size_t end = a->n; end > 1;) {
        size_t count = end - 1 < AHEAD ? end - 1 : AHEAD;
        for (size_t j = 0; j < count; j++) {
            size_t i = end - 1 - j;
            partner[j] = random_below(random_draw(seed, stream, i).word[0], i + 1);
            __builtin_prefetch((const char *)a->data + partner[j] * (size_t)bytes, 1);
        }
        for (size_t j = 0; j < count; j++) {
            size_t i = end - 1 - j;
            uint64_t bits = load(a->data, a->format, i);
            store(a->data, a->format, i, load(a->data, a->format, partner[j]));
            store(a->data, a->format, partner[j], bits);
        }
        end -= count;
    }
}

enum status input_arrange(const struct array *a, enum arrangement how, uint64_t seed,
                          struct problem *p)
{
    if (how == ARRANGED_AS_GENERATED || a->n < 2)
        return STATUS_OK;
    if (how != ARRANGED_SHUFFLED)
        return sort(a, how, p);
    input_shuffle(a, seed, RANDOM_ARRANGING);
    return STATUS_OK;
}
