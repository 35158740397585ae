/* The hash of a whole output: known values, every order the same, every difference seen. */
#include <criterion/criterion.h>

#include <stdlib.h>

#include "reference/format/hash_array.h"
#include "tests/support/samples.h"

static struct hash128 hash_of(enum format f, size_t n, const uint64_t *bits)
{
    struct array a = {f, n, malloc(array_bytes(f, n) + 1)};
    for (size_t i = 0; i < n; i++)
        array_set_bits(&a, i, bits[i]);
    struct hash128 h = hash_array(&a);
    free(a.data);
    return h;
}

static bool same(struct hash128 a, struct hash128 b)
{
    return a.word[0] == b.word[0] && a.word[1] == b.word[1];
}

/* Computed from the definition by a program in another language: recorded outputs and the device
 * depend on them. */
Test(hash, known_values)
{
    struct hash128 h = hash_of(FP32, 0, NULL);
    cr_expect(h.word[0] == 0 && h.word[1] == 0);
    h = hash_of(FP16, 1, (uint64_t[]){0});
    cr_expect(h.word[0] == UINT64_C(0x48218226ff3cd4bf) &&
              h.word[1] == UINT64_C(0xc9077e8c29dc077d));
    h = hash_of(FP16, 4, (uint64_t[]){0x3c00, 0xbc00, 0x7e00, 0x8000});
    cr_expect(h.word[0] == UINT64_C(0x43caeeac5de4caea) &&
              h.word[1] == UINT64_C(0x8de3e81362481b82));
    h = hash_of(FP64, 2, (uint64_t[]){UINT64_C(0x3ff) << 52, UINT64_C(0x7ff8) << 48});
    cr_expect(h.word[0] == UINT64_C(0xf9b2cecb7e8cf85e) &&
              h.word[1] == UINT64_C(0x108fc4fcab4ea5c3));
    uint64_t bits[1000];
    for (size_t i = 0; i < 1000; i++)
        bits[i] = i;
    h = hash_of(FP32, 1000, bits);
    cr_expect(h.word[0] == UINT64_C(0x7faebee5c43d9f83) &&
              h.word[1] == UINT64_C(0xd6ecd0981e647e75));
}

/* Every encoding of the narrow formats, random ones of the wide. */
Test(hash, nan_is_canonical)
{
    uint64_t seed = 401;
    for (enum format f = 0; f < FORMATS; f++) {
        uint64_t inf = format_facts[f].specials, last = format_facts[f].last,
                 width = 8 * (uint64_t)format_facts[f].bytes;
        for (uint64_t k = 0; k < 65536; k++) {
            bool narrow = width <= 16;
            uint64_t bits = narrow ? k & ((1u << width) - 1) : sample_next(&seed) >> (64 - width);
            if (!narrow && k % 2) /* NaN; infinities */
                bits |= inf;
            if (!narrow && k % 8 == 1)
                bits &= ~((inf & (~inf + 1)) - 1);
            cr_assert(hash_canonical(bits, last) == format_canonical(f, bits), "%s: %#llx",
                      format_facts[f].name, (unsigned long long)bits);
        }
        cr_assert(hash_canonical(last, last) == last);
        uint64_t payload = inf | 3, nan = format_canonical(f, payload);
        cr_assert(same(hash_of(f, 1, &payload), hash_of(f, 1, &nan)), "%s", format_facts[f].name);
    }
}

Test(hash, any_order_and_any_parts)
{
    enum { N = 5000 };
    uint64_t seed = 402, bits[N];
    size_t order[N];
    for (size_t i = 0; i < N; i++) {
        bits[i] = sample_next(&seed) >> 2; /* no NaN */
        order[i] = i;
    }
    for (size_t i = N - 1; i > 0; i--) {
        size_t k = sample_next(&seed) % (i + 1), swap = order[i];
        order[i] = order[k];
        order[k] = swap;
    }
    struct hash128 part[7] = {{{0, 0}}}, all = {{0, 0}};
    for (size_t i = 0; i < N; i++)
        hash_add(&part[i * i % 7], order[i], bits[order[i]]);
    for (int k = 6; k >= 0; k--)
        hash_merge(&all, &part[k]);
    cr_expect(same(all, hash_of(FP64, N, bits)));
}

/* In every format, element by element. */
Test(hash, every_format_by_the_definition)
{
    enum { N = 37 };
    uint64_t seed = 404, bits[N];
    for (enum format f = 0; f < FORMATS; f++) {
        struct hash128 due = {{0, 0}};
        for (size_t i = 0; i < N; i++) {
            bits[i] = sample_next(&seed) >> (64 - 8 * format_facts[f].bytes);
            hash_add(&due, i, format_canonical(f, bits[i]));
        }
        cr_expect(same(due, hash_of(f, N, bits)), "%s", format_facts[f].name);
    }
}

/* Whatever the instruction set: lengths about those of vectors, elements anywhere in memory. */
Test(hash, variants_are_the_same)
{
    enum { MOST = 300 };
    uint64_t seed = 405;
    static char data[8 * MOST + 8];
    size_t held = 0;
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (char)sample_next(&seed);
    for (size_t v = 0; v < hash_variants; v++)
        for (enum format f = 0; hash_variant[v].available() && f < FORMATS; f++)
            for (size_t n = 0; n <= MOST; n++) {
                struct array a = {f, n,
                                  data + n % 8 / (size_t)format_facts[f].bytes *
                                             (size_t)format_facts[f].bytes};
                struct hash128 due = {{0, 0}};
                for (size_t i = 0; i < n; i++)
                    hash_add(&due, i, format_canonical(f, array_bits(&a, i)));
                cr_assert(same(due, hash_variant[v].hash(&a)), "%s: %s, n = %zu",
                          hash_variant[v].name, format_facts[f].name, n);
                held++;
            }
    cr_expect(held >= (size_t)FORMATS * (MOST + 1));
}

/* Each bit of each element, each swap of neighbours, each shift. */
Test(hash, differences_are_seen)
{
    enum { N = 300 };
    uint64_t seed = 403, bits[N + 1];
    for (enum format f = 0; f < FORMATS; f++) {
        unsigned width = 8 * (unsigned)format_facts[f].bytes;
        for (size_t i = 0; i <= N; i++)
            bits[i] = format_encode(f, (double)(sample_next(&seed) % 800) - 400.25);
        struct hash128 due = hash_of(f, N, bits);
        cr_assert(!same(due, hash_of(f, N, bits + 1)) && !same(due, hash_of(f, N - 1, bits)));
        for (size_t i = 0; i < N; i++) {
            for (unsigned b = 0; b < width; b++) {
                bits[i] ^= UINT64_C(1) << b;
                struct hash128 h = hash_of(f, N, bits);
                cr_assert(h.word[0] != due.word[0] && h.word[1] != due.word[1],
                          "%s: bit %u of element %zu", format_facts[f].name, b, i);
                bits[i] ^= UINT64_C(1) << b;
            }
            if (i + 1 == N || bits[i] == bits[i + 1])
                continue;
            uint64_t first = bits[i];
            bits[i] = bits[i + 1];
            bits[i + 1] = first;
            cr_assert(!same(due, hash_of(f, N, bits)), "%s: swap %zu", format_facts[f].name, i);
            bits[i + 1] = bits[i];
            bits[i] = first;
        }
    }
}

/* One bit changes half of the bits of what an element adds: within 6 standard deviations. */
Test(hash, a_bit_changes_half_of_all)
{
    for (int word = 0; word < 2; word++)
        for (unsigned b = 0; b < 128; b++) { /* of the encoding, of the index */
            unsigned changed = 0;
            for (uint64_t k = 0; k < 1000; k++) {
                struct hash128 h = {{0, 0}}, g = {{0, 0}};
                uint64_t bits = k * 7, i = k;
                hash_add(&h, i, bits);
                if (b < 64)
                    hash_add(&g, i, bits ^ UINT64_C(1) << b);
                else
                    hash_add(&g, i ^ UINT64_C(1) << (b - 64), bits);
                changed += (unsigned)__builtin_popcountll(h.word[word] ^ g.word[word]);
            }
            cr_assert(changed > 32000 - 760 && changed < 32000 + 760,
                      "word %d, bit %u: %u of 64000", word, b, changed);
        }
}
