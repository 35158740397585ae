/* format_add against exact additions in integers, which are first held to MPFR. */
#include <criterion/criterion.h>

#include <stdlib.h>

#include "tests/support/oracle.h"
#include "tests/support/samples.h"

static uint64_t width_mask(enum format f)
{
    return UINT64_MAX >> (64 - 8 * format_facts[f].bytes);
}

/* A pair of encodings; every second one with exponents near each other, so that they meet. */
static void draw(enum format f, uint64_t *seed, uint64_t *a, uint64_t *b)
{
    int fraction_bits = format_facts[f].precision - 1;
    uint64_t mask = width_mask(f), random = sample_next(seed);
    *a = random & mask;
    *b = f == FP64 || f == FP32 ? sample_next(seed) & mask : random >> 32 & mask;
    if (random >> 63) {
        uint64_t fraction = *b & ((UINT64_C(1) << fraction_bits) - 1);
        uint64_t top = *a >> fraction_bits << fraction_bits;
        uint64_t distance = (random >> 48 & 0x7fff) % (uint64_t)(fraction_bits + 4);
        *b = (((top - (distance << fraction_bits)) | fraction) ^ (*b & (mask ^ mask >> 1))) & mask;
    }
}

static bool agrees(enum format f, uint64_t a, uint64_t b)
{
    double sum = format_add(f, format_decode(f, a), format_decode(f, b));
    return format_encode(f, sum) == integer_add(f, a, b);
}

static void expect_agreement(enum format f, uint64_t a, uint64_t b)
{
    if (agrees(f, a, b))
        return;
    cr_assert(false, "%s: 0x%llx + 0x%llx = %a, in integers 0x%llx", format_facts[f].name,
              (unsigned long long)a, (unsigned long long)b,
              format_add(f, format_decode(f, a), format_decode(f, b)),
              (unsigned long long)integer_add(f, a, b));
}

Test(addition, integers_agree_with_mpfr)
{
    uint64_t seed = 21;
    for (enum format f = 0; f < ACCUMULATORS; f++)
        for (int i = 0; i < 1000000; i++) {
            uint64_t a, b;
            draw(f, &seed, &a, &b);
            double due = oracle_add(f, format_decode(f, a), format_decode(f, b));
            cr_assert(integer_add(f, a, b) == format_encode(f, due),
                      "%s: 0x%llx + 0x%llx = 0x%llx, MPFR says %a", format_facts[f].name,
                      (unsigned long long)a, (unsigned long long)b,
                      (unsigned long long)integer_add(f, a, b), due);
        }
}

Test(addition, twenty_five_million_at_random)
{
    static const int count[ACCUMULATORS] = {10000000, 10000000, 4500000, 500000};
    uint64_t seed = 22;
    for (enum format f = 0; f < ACCUMULATORS; f++)
        for (int i = 0; i < count[f]; i++) {
            uint64_t a, b;
            draw(f, &seed, &a, &b);
            expect_agreement(f, a, b);
        }
}

/* Every encoding of 16 bits with both signs of: every power of two, its neighbours, and fractions
 * of few zeros or ones. */
Test(addition, every_short_encoding_with_chosen_ones)
{
    for (enum format f = FP16; f <= BF16; f++) {
        int fraction_bits = format_facts[f].precision - 1;
        uint64_t chosen[2048], count = 0, all = UINT64_C(1) << fraction_bits;
        uint64_t step = f == FP16 ? 1 : 9; /* bf16 has 256 exponents */
        for (uint64_t field = 0; field < 0x8000u >> fraction_bits; field += step) {
            uint64_t fraction[] = {0, 1, all - 1, all / 2, all / 2 + 1, all / 3};
            for (int k = 0; k < 6; k++)
                for (uint64_t sign = 0; sign <= 0x8000; sign += 0x8000)
                    chosen[count++] = sign | field << fraction_bits | fraction[k];
        }
        cr_assert(count >= 340, "%s: %d chosen", format_facts[f].name, (int)count);
        for (uint64_t a = 0; a < 65536; a++)
            for (uint64_t k = 0; k < count; k++)
                expect_agreement(f, a, chosen[k]);
    }
}

/* All 2^32 pairs of fp16 and of bf16: ULPSCOPE_EXHAUSTIVE=1, a few minutes. */
Test(addition, every_pair_of_short_encodings)
{
    if (!getenv("ULPSCOPE_EXHAUSTIVE"))
        cr_skip_test("set ULPSCOPE_EXHAUSTIVE=1 for all 2^33 pairs");
    for (enum format f = FP16; f <= BF16; f++)
        for (uint64_t a = 0; a < 65536; a++)
            for (uint64_t b = 0; b < 65536; b++)
                expect_agreement(f, a, b);
}
