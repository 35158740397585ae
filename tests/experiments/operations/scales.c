/* Scales made from the data: which numbers share one, what it is, what is made of them, and which
 * shapes ask for it. */
#include <criterion/criterion.h>
#include <math.h>

#include "experiments/operations/operation.h"
#include "experiments/operations/quantise.h"
#include "tests/support/oracle.h"
#include "tests/support/samples.h"

enum { ROOM = 1 << 17, BLOCK = 128 };

static float x[ROOM];
static unsigned char stored[ROOM], before[ROOM];

static size_t at(const struct gemm_shape *s, int side, size_t line, size_t k)
{
    return side ? gemm_b_at(s, k, line) : gemm_a_at(s, line, k);
}

static size_t lines_of(const struct gemm_shape *s, int side)
{
    return side ? s->n : s->m;
}

/* Do two elements share a scale? */
static bool together(const struct gemm_shape *s, int side, const size_t a[2], const size_t b[2])
{
    const size_t tall = s->scaling == GEMM_SCALED_BLOCKS && side ? BLOCK : 1;
    return a[0] / tall == b[0] / tall &&
           (s->scaling == GEMM_SCALED_OUTER || a[1] / BLOCK == b[1] / BLOCK);
}

/* max|x| of what shares a scale with an element; NaNs left out. */
static float most_of(const struct gemm_shape *s, int side, size_t line, size_t k)
{
    float most = 0;
    for (size_t i = 0; i < lines_of(s, side); i++)
        for (size_t l = 0; l < s->k; l++)
            if (together(s, side, (size_t[]){line, k}, (size_t[]){i, l}) &&
                fabsf(x[at(s, side, i, l)]) > most)
                most = fabsf(x[at(s, side, i, l)]);
    return most;
}

/* Which number of scales.csv it is: rows of A, then columns of B, blocks along k within each. */
static size_t number(const struct gemm_shape *s, int side, size_t line, size_t k)
{
    const size_t along = s->scaling == GEMM_SCALED_OUTER ? 1 : (s->k + BLOCK - 1) / BLOCK;
    const size_t block = s->scaling == GEMM_SCALED_OUTER ? 0 : k / BLOCK;
    return side == 0 ? line * along + block
                     : s->m * along +
                           (s->scaling == GEMM_SCALED_OUTER ? line : line / BLOCK) * along + block;
}

/* Numbers of sizes that differ from group to group, what nobody reads being large; some groups are
 * of zeros, of subnormal numbers, with an infinity, with NaNs, and of the largest numbers. */
static void fill(const struct gemm_shape *s, uint64_t *seed)
{
    for (size_t i = 0; i < gemm_elements(s); i++)
        x[i] = 3e38f;
    for (int side = 0; side < 2; side++)
        for (size_t line = 0; line < lines_of(s, side); line++)
            for (size_t k = 0; k < s->k; k++) {
                const uint64_t bits = sample_next(seed);
                const size_t group = number(s, side, line, k);
                const float one = ((float)(bits % 20001) - 10000) / 10000;
                float *to = &x[at(s, side, line, k)];
                *to = ldexpf(one, (int)(group * 7 % 60) - 30);
                if (group % 11 == 3)
                    *to = bits & 1 ? 0.0f : -0.0f;
                if (group % 11 == 5)
                    *to = one * 0x1p-140f;
                if (group % 11 == 7 && bits % 5 == 0)
                    *to = INFINITY;
                if (group % 11 == 8 && bits % 5 == 0)
                    *to = NAN;
                if (group % 11 == 9)
                    *to = copysignf(3.4028235e38f, one);
                if (group % 11 == 10)
                    *to = NAN;
            }
    for (size_t i = gemm_c_begins(s); i < gemm_elements(s); i++)
        x[i] = (float)i;
}

/* Each scale is max|x| / 448, or 57344, in float; 1 where max|x| is 0 or infinite, the smallest
 * number where it would be 0; each element is x / scale in float, then rounded, to the format's
 * largest number at most. C stays what it was. */
Test(quantise_scales, by_amax)
{
    static const struct gemm_shape shapes[] = {
        {.m = 12, .n = 13, .k = 5},    {.m = 3, .n = 2, .k = 300},   {.m = 2, .n = 300, .k = 7},
        {.m = 140, .n = 140, .k = 64}, {.m = 4, .n = 129, .k = 257}, {.m = 0, .n = 3, .k = 2},
        {.m = 2, .n = 2, .k = 0}};
    uint64_t seed = 5;
    size_t zeros = 0, infinite = 0, nans = 0, large = 0, subnormal = 0, reached = 0, compared = 0;
    for (size_t turn = 0; turn < 8 * (sizeof shapes / sizeof *shapes); turn++) {
        struct gemm_shape shape = shapes[turn / 8];
        shape.a_column = turn & 1;
        shape.b_column = turn & 2;
        shape.pad = turn % 3;
        shape.mixed = turn & 4;
        shape.scaling = turn % 8 < 4 ? GEMM_SCALED_OUTER : GEMM_SCALED_BLOCKS;
        const struct setting s = {.shape = shape, .output = FP32, .bins = shape.m * shape.n};
        const enum format of_a = turn & 1 ? E4M3 : E5M2, other = turn & 1 ? E5M2 : E4M3;
        const size_t n = gemm_elements(&shape);
        cr_assert(n <= ROOM);
        fill(&shape, &seed);
        for (size_t i = 0; i < n; i++)
            array_encode(&(struct array){of_a, n, stored}, i, 1, &(double){(double)x[i]});
        memcpy(before, stored, n);
        struct setting_operands made = {.of = {.in = {of_a, n, stored}}, .wide = {FP32, n, x}};
        cr_assert(setting_make(&made, &operation_gemm, &s, 1, NULL) == STATUS_OK);
        cr_expect(memcmp(stored, before, n) == 0 && made.copied);
        cr_assert_eq(made.of.gemm.scaling, shape.scaling);
        for (int side = 0; side < 2; side++) {
            const enum format f = side && shape.mixed ? other : of_a;
            const float largest = (float)format_facts[f].largest;
            for (size_t line = 0; line < lines_of(&shape, side); line += 1 + line / 4)
                for (size_t k = 0; k < shape.k; k += 1 + k / 4) {
                    const float most = most_of(&shape, side, line, k);
                    volatile float scale = most / largest;
                    if (most == 0 || isinf(most))
                        scale = 1;
                    else if (scale == 0)
                        scale = 0x1p-149f;
                    const float found = made.of.scales[number(&shape, side, line, k)];
                    cr_assert_eq(found, scale, "%zux%zux%zu, %c %zu %zu: %a, due %a", shape.m,
                                 shape.n, shape.k, "AB"[side], line, k, (double)found,
                                 (double)scale);
                    const float one = x[at(&shape, side, line, k)];
                    volatile float quotient = one / scale;
                    if (isfinite(quotient) && fabsf(quotient) > largest)
                        quotient = copysignf(largest, quotient);
                    const double is = array_get(&(struct array){f, n, made.of.in.data},
                                                at(&shape, side, line, k));
                    cr_assert(same_double(is, format_round(f, (double)quotient)),
                              "%zux%zux%zu, %c %zu %zu: %a, due %a", shape.m, shape.n, shape.k,
                              "AB"[side], line, k, is, (double)quotient);
                    zeros += most == 0;
                    infinite += isinf(most);
                    nans += isnan(one);
                    large += most == 3.4028235e38f;
                    subnormal += scale < 0x1p-126f;
                    reached += fabs(is) == format_facts[f].largest;
                    compared++;
                }
        }
        for (size_t i = 0; i < made.of.bins; i++)
            cr_expect_eq(array_get(&made.of.c, i), (double)x[gemm_c_begins(&shape) + i]);
        setting_free(&made);
    }
    cr_expect(
        zeros > 20 && infinite > 20 && nans > 20 && large > 20 && subnormal > 20 && reached > 20 &&
            compared > 2000,
        "%zu zeros, %zu infinite, %zu NaN, %zu of the largest, %zu subnormal, %zu reached, %zu",
        zeros, infinite, nans, large, subnormal, reached, compared);
}

/* Of numbers wider than fp32 they are rounded first: what is too large then has scale 1. */
Test(quantise_scales, of_wider_numbers)
{
    static double wide[] = {1e300, 1, 3 + 0x1p-40, 0.5, 1, 2, 3, 4};
    const struct setting s = {
        .shape = {.m = 2, .n = 2, .k = 2, .no_c = true, .scaling = GEMM_SCALED_OUTER},
        .output = FP32,
        .bins = 4};
    struct setting_operands made = {.of = {.in = {E4M3, 8, stored}}, .wide = {FP64, 8, wide}};
    memset(stored, 0, 8);
    cr_assert(setting_make(&made, &operation_gemm, &s, 1, NULL) == STATUS_OK);
    const float due[] = {1, 3.0f / 448, 3.0f / 448, 4.0f / 448};
    for (size_t i = 0; i < 4; i++)
        cr_expect_eq(made.of.scales[i], due[i], "%zu: %a", i, (double)made.of.scales[i]);
    cr_expect(array_get(&made.of.in, 2) == 448);
    setting_free(&made);
}

Test(quantise_scales, shapes)
{
    static const char *const good[] = {"4x8x32:scale=outer",
                                       "4x8x32:nt:pad=2:c=0:mixed:scale=blocks"};
    static const char *const bad[] = {"4x8x32:scale=block", "4x8x32:scale=outers",
                                      "4x8x32:scale=blocksx1", "4x8x32:scale=1xouter"};
    struct gemm_shape s, again;
    for (size_t i = 0; i < 2; i++) {
        struct problem p = {0};
        char name[SHAPE_NAME];
        cr_assert(shape_parse_all(&s, good[i], &p) == STATUS_OK, "%s", p.text);
        cr_expect_eq(s.scaling, i ? GEMM_SCALED_BLOCKS : GEMM_SCALED_OUTER);
        shape_name(name, &s);
        cr_expect_str_eq(name, good[i]);
        cr_expect(shape_parse_all(&again, name, &p) == STATUS_OK && shape_equal(&s, &again));
        cr_expect(shape_parse(&again, name, &p) == STATUS_USAGE && strstr(p.text, "run gemm alone"),
                  "%s", p.text);
        again = s;
        again.scaling = GEMM_SCALED_BY_AMAX;
        cr_expect(!shape_equal(&s, &again));
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct problem p = {0};
        cr_expect(shape_parse_all(&s, bad[i], &p) == STATUS_USAGE && strstr(p.text, "scale=outer"),
                  "%s: %s", bad[i], p.text);
    }
}
