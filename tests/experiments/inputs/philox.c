/* Philox by counting: the known answers of Random123, and what is drawn from it. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "experiments/inputs/philox.h"

enum { SEED = 7 };

/* Random123 1.14, tests/kat_vectors: philox4x32 10. */
Test(random, known_answers)
{
    static const uint32_t counter[3][4] = {{0, 0, 0, 0},
                                           {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
                                           {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}};
    static const uint32_t key[3][2] = {{0, 0}, {0xffffffff, 0xffffffff}, {0xa4093822, 0x299f31d0}};
    static const uint32_t expected[3][4] = {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
                                            {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
                                            {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}};
    for (int i = 0; i < 3; i++) {
        uint32_t block[4];
        random_block(counter[i], key[i], block);
        for (int j = 0; j < 4; j++)
            cr_assert_eq(block[j], expected[i][j], "vector %d, word %d: %08x, expected %08x", i, j,
                         block[j], expected[i][j]);
    }
}

/* Index, stream and seed each have their place in counter and key, with all their bits. */
Test(random, draw_is_a_block)
{
    uint64_t seed = UINT64_C(0x299f31d0a4093822), i = UINT64_C(0x85a308d3243f6a88);
    uint32_t block[4];
    random_block((uint32_t[4]){0x243f6a88, 0x85a308d3, RANDOM_PLACING, 0},
                 (uint32_t[2]){0xa4093822, 0x299f31d0}, block);
    struct draw d = random_draw(seed, RANDOM_PLACING, i);
    cr_assert_eq(d.word[0], (uint64_t)block[1] << 32 | block[0]);
    cr_assert_eq(d.word[1], (uint64_t)block[3] << 32 | block[2]);
    for (int bit = 0; bit < 64; bit++) {
        struct draw by_index = random_draw(seed, RANDOM_PLACING, i ^ UINT64_C(1) << bit);
        struct draw by_seed = random_draw(seed ^ UINT64_C(1) << bit, RANDOM_PLACING, i);
        cr_assert(memcmp(&d, &by_index, sizeof d) != 0, "bit %d of the index is not read", bit);
        cr_assert(memcmp(&d, &by_seed, sizeof d) != 0, "bit %d of the seed is not read", bit);
    }
}

Test(random, unit)
{
    cr_assert(random_unit(0) == 0);
    cr_assert(random_unit(UINT64_MAX) == 1 - 0x1p-53);
    cr_assert(random_unit(UINT64_C(1) << 63) == 0.5);
}

Test(random, below)
{
    for (uint64_t bound = 1; bound < 100; bound++) {
        cr_assert_eq(random_below(0, bound), 0);
        cr_assert_eq(random_below(UINT64_MAX, bound), bound - 1);
    }
    cr_assert_eq(random_below(UINT64_MAX, UINT64_MAX), UINT64_MAX - 1);
    /* 30 equally likely values, 30,000 draws: chi^2 has 29 degrees; 1 seed in 10^6 exceeds 80. */
    enum { VALUES = 30, EACH = 1000 };
    unsigned seen[VALUES] = {0};
    for (uint64_t i = 0; i < VALUES * EACH; i++)
        seen[random_below(random_draw(SEED, RANDOM_VALUES, i).word[i & 1], VALUES)]++;
    double chi2 = 0;
    for (int v = 0; v < VALUES; v++)
        chi2 += (seen[v] - (double)EACH) * (seen[v] - (double)EACH) / EACH;
    cr_assert(chi2 <= 80, "chi^2 = %g over %d values, seed %d", chi2, VALUES, SEED);
}

/* The first four moments of n draws are within 5 standard errors of those of the distribution. */
Test(random, normal)
{
    enum { N = 1000000 };
    double moment[5] = {0}, most = 0;
    for (uint64_t i = 0; i < N; i++) {
        double z = random_normal(random_draw(SEED, RANDOM_VALUES, i)), power = 1;
        most = fmax(most, fabs(z));
        for (int k = 1; k <= 4; k++)
            moment[k] += (power *= z) / N;
    }
    static const double mean[5] = {0, 0, 1, 0, 3},
                        deviation[5] = {0, 1, 1.4142136, 3.8729833, 9.797959};
    for (int k = 1; k <= 4; k++)
        cr_assert(fabs(moment[k] - mean[k]) <= 5 * deviation[k] / sqrt(N),
                  "moment %d is %g, expected %g (seed %d)", k, moment[k], mean[k], SEED);
    cr_assert(most > 4 && most < 6.5, "the largest of %d is %g", N, most);
    double least = random_normal((struct draw){{0, UINT64_C(1) << 62}});
    cr_assert(least > 8.57 && least < RANDOM_NORMAL_MOST, "the largest possible is %g", least);
    cr_assert(random_normal((struct draw){{UINT64_MAX, UINT64_C(1) << 62}}) == 0);
}
