/* What is made of A and B: by scales of their own, in two formats, in tf32; and how shapes ask for
 * it.
 */
#include <criterion/criterion.h>
#include <math.h>

#include "experiments/operations/operation.h"
#include "experiments/operations/quantise.h"
#include "tests/support/oracle.h"
#include "tests/support/samples.h"

enum { ROOM = 512 };

/* Rows of fp32 numbers, of which what nobody reads is large. */
static void fill(float *x, const struct gemm_shape *s, float size, uint64_t *seed)
{
    const size_t n = gemm_elements(s);
    for (size_t i = 0; i < n; i++)
        x[i] = size * ((float)(sample_next(seed) % 20001) - 10000) / 10000;
    for (size_t i = 0, b = gemm_b_begins(s); i < gemm_c_begins(s); i++) {
        const size_t lda = gemm_lda(s), ldb = gemm_ldb(s);
        if (i < b ? i % lda >= lda - s->pad : (i - b) % ldb >= ldb - s->pad)
            x[i] = 1e30f;
    }
}

static float largest_of(const float *x, const struct gemm_shape *s, int side)
{
    float most = 0;
    for (size_t k = 0; k < s->k; k++)
        for (size_t i = 0; i < (side ? s->n : s->m); i++)
            most = fmaxf(most, fabsf(x[side ? gemm_b_at(s, k, i) : gemm_a_at(s, i, k)]));
    return most;
}

/* Scales are max|x| / 448, or 57344, in float; elements x / scale in float, then rounded; the
 * largest one is the format's largest number. C stays what it was. */
Test(quantise, by_amax)
{
    static const enum format eight[] = {E4M3, E5M2};
    uint64_t seed = 5;
    for (size_t turn = 0; turn < 64; turn++) {
        struct gemm_shape shape = {.m = 3,
                                   .n = 4,
                                   .k = 5,
                                   .a_column = turn & 1,
                                   .b_column = turn & 2,
                                   .pad = turn % 3,
                                   .mixed = turn & 4,
                                   .scaling = GEMM_SCALED_BY_AMAX};
        const struct setting s = {.shape = shape, .output = FP32, .bins = 12};
        const enum format of_a = eight[turn / 8 % 2],
                          of_b = shape.mixed ? eight[!(turn / 8 % 2)] : of_a;
        const size_t n = gemm_elements(&shape);
        float x[ROOM];
        unsigned char stored[ROOM], before[ROOM];
        cr_assert(n <= ROOM);
        fill(x, &shape, ldexpf(1, (int)(turn * 3) - 90), &seed);
        for (size_t i = 0; i < n; i++)
            array_encode(&(struct array){of_a, n, stored}, i, 1, &(double){(double)x[i]});
        memcpy(before, stored, n);
        struct setting_operands made = {.of = {.in = {of_a, n, stored}}, .wide = {FP32, n, x}};
        cr_assert(setting_make(&made, &operation_gemm, &s, 1, NULL) == STATUS_OK);
        cr_expect(memcmp(stored, before, n) == 0 && made.copied);
        const struct gemm_shape *is = &made.of.gemm;
        cr_assert_eq(is->scaling, GEMM_SCALED);
        for (int side = 0; side < 2; side++) {
            const enum format f = side ? of_b : of_a;
            const float most = largest_of(x, &shape, side);
            const volatile float scale = most / (float)format_facts[f].largest;
            bool reached = false;
            cr_expect_eq(is->scale[side], scale);
            for (size_t k = 0; k < shape.k; k++)
                for (size_t i = 0; i < (side ? shape.n : shape.m); i++) {
                    const size_t at = side ? gemm_b_at(&shape, k, i) : gemm_a_at(&shape, i, k);
                    const volatile float quotient = x[at] / scale;
                    const double found = array_get(&(struct array){f, n, made.of.in.data}, at);
                    cr_expect_eq(found, format_round(f, (double)quotient));
                    reached |= fabs(found) == format_facts[f].largest;
                }
            cr_expect(reached);
        }
        for (size_t i = 0; i < made.of.bins; i++)
            cr_expect_eq(array_get(&made.of.c, i), (double)x[gemm_c_begins(&shape) + i]);
        setting_free(&made);
    }
}

/* Without wider numbers the stored ones are scaled; zeros and what is not finite by 1; numbers so
 * small that the scale would be zero by the smallest one. */
Test(quantise, of_odd_numbers)
{
    static const struct {
        float most, due;
    } cases[] = {{0, 1}, {INFINITY, 1}, {0x1p-149f, 0x1p-149f}, {0x1p-139f, 0x1p-148f}, {448, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gemm_shape s = {.m = 1, .n = 1, .k = 2, .scaling = GEMM_SCALED_BY_AMAX};
        float x[] = {cases[i].most, -0.0f, cases[i].most, 0};
        unsigned char made[4];
        const struct array to = {E4M3, 4, made};
        quantise(&to, &(struct array){FP32, 4, x}, &s, NULL);
        cr_expect_eq(s.scale[0], cases[i].due, "%a: %a", (double)x[0], (double)s.scale[0]);
        const double quotient = cases[i].most / cases[i].due;
        const double largest = isinf(quotient) ? quotient : fmin(quotient, 448);
        cr_expect(same_double(array_get(&to, 0), format_round(E4M3, largest)), "%g",
                  array_get(&to, 0));
        cr_expect(signbit(array_get(&to, 1)) && array_get(&to, 1) == 0);
    }
    struct gemm_shape s = {.m = 1, .n = 1, .k = 1, .scaling = GEMM_SCALED_BY_AMAX};
    unsigned char stored[2];
    const struct array in = {E5M2, 2, stored};
    array_encode(&in, 0, 2, (double[]){1.25, -3});
    quantise(&in, &in, &s, NULL);
    cr_expect(array_get(&in, 0) == 57344 && array_get(&in, 1) == -57344);
    cr_expect(s.scale[0] == 1.25f / 57344 && s.scale[1] == 3.0f / 57344);
}

/* Quotients are rounded to fp32, and may be halfway between two numbers only then. */
Test(quantise, quotients_are_of_fp32)
{
    uint64_t seed = 7;
    size_t twice = 0;
    for (size_t i = 0; i < 20000; i++) {
        struct gemm_shape s = {.m = 1, .n = 1, .k = 2, .scaling = GEMM_SCALED_BY_AMAX};
        const float most = 448 + (float)(sample_next(&seed) % 1000000) * 0x1p-15f;
        const volatile float scale = most / 448;
        const double tie = 1.0625 + 0.125 * (double)(i % 8);
        float x[] = {most, (float)(tie * (double)scale), 1, 1};
        unsigned char made[4];
        const struct array to = {E4M3, 4, made};
        quantise(&to, &(struct array){FP32, 4, x}, &s, NULL);
        const volatile float quotient = x[1] / scale;
        cr_expect_eq(array_get(&to, 1), format_round(E4M3, (double)quotient));
        twice += array_get(&to, 1) != format_round(E4M3, (double)x[1] / (double)scale);
    }
    cr_expect(twice > 100, "%zu", twice);
}

/* To nearest, ties away from zero, by plain arithmetic. */
Test(quantise, tf32_rounds_ties_away)
{
    static const double cases[][2] = {{1 + 0x1p-11, 1 + 0x1p-10},
                                      {1 + 0x1p-11 - 0x1p-23, 1},
                                      {1 + 0x3p-11, 1 + 0x1p-9},
                                      {-1 - 0x1p-11, -1 - 0x1p-10},
                                      {2 - 0x1p-23, 2},
                                      {0x1.fffffep127, INFINITY},
                                      {0x1.ffcp127, 0x1.ffcp127},
                                      {-0.0, -0.0},
                                      {INFINITY, INFINITY},
                                      {0x1p-137, 0x1p-136},
                                      {0x1p-138, 0},
                                      {-0x1.8p-135, -0x1.8p-135}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect(same_double(quantise_tf32(cases[i][0]), cases[i][1]), "%a: %a", cases[i][0],
                  quantise_tf32(cases[i][0]));
    cr_expect(isnan(quantise_tf32(NAN)));
    uint64_t seed = 3;
    size_t ties = 0;
    for (size_t i = 0; i < 200000; i++) {
        const uint64_t bits = sample_next(&seed) & (i % 4 ? UINT64_MAX : ~UINT64_C(0xfff));
        const double x = format_decode(FP32, bits & 0xffffffff);
        if (!isfinite(x))
            continue;
        const int e = x == 0 || ilogb(x) < -126 ? -126 : ilogb(x);
        const double unit = ldexp(1, e - 10), due = copysign(floor(fabs(x) / unit + 0.5) * unit, x);
        ties += fmod(fabs(x) / unit, 1) == 0.5;
        cr_expect(
            same_double(quantise_tf32(x), fabs(due) > 0x1.ffcp127 ? copysign(INFINITY, x) : due),
            "%a: %a, due %a", x, quantise_tf32(x), due);
    }
    cr_expect(ties > 1000, "%zu", ties);
}

/* A and B alone are rounded, and the instruction then ignores nothing. */
Test(quantise, tf32_matrices)
{
    struct problem p = {0};
    const struct setting s = {
        .shape = {.m = 1, .n = 1, .k = 1, .tf32 = true}, .output = FP32, .bins = 1};
    float x[] = {1 + 0x1p-11f, 3 + 0x1p-20f, 1 + 0x1p-23f};
    struct setting_operands made = {.of = {.in = {FP32, 3, x}}};
    cr_assert(setting_make(&made, &operation_gemm, &s, 1, &p) == STATUS_OK, "%s", p.text);
    cr_expect(array_get(&made.of.in, 0) == 1 + 0x1p-10 && array_get(&made.of.in, 1) == 3);
    cr_expect(array_get(&made.of.c, 0) == 1 + 0x1p-23);
    cr_expect(x[0] == 1 + 0x1p-11f);
    cr_expect(setting_can(method_named("gemm/mma"), &s, FP32, FP32));
    cr_expect(!setting_can(method_named("gemm/mma"), &s, FP16, FP32));
    setting_free(&made);
}

Test(quantise, shapes)
{
    static const char *const good[] = {"4x8x32:scale=0.37x1.5", "4x8x32:nt:mixed:scale=auto",
                                       "4x8x32:scale=1.1754944e-38x3.4028235e+38",
                                       "1x2x3:scale=1e-45x0.1", "4x8x32:tt:pad=2:c=0:tf32"};
    static const char *const bad[] = {
        "4x8x32:scale=0.37",   "4x8x32:scale=0x1",     "4x8x32:scale=1x0",     "4x8x32:scale=-1x1",
        "4x8x32:scale=1e39x1", "4x8x32:scale=1e-50x1", "4x8x32:scale=nanx1",   "4x8x32:scale=",
        "4x8x32:scale=1x2x3",  "4x8x32:scale=infx1",   "4x8x32:scale=automat", "4x8x32:tf3"};
    struct gemm_shape s, again;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct problem p = {0};
        char name[SHAPE_NAME];
        cr_assert(shape_parse_all(&s, good[i], &p) == STATUS_OK, "%s", p.text);
        shape_name(name, &s);
        cr_expect_str_eq(name, good[i]);
        cr_expect(shape_parse_all(&again, name, &p) == STATUS_OK && shape_equal(&s, &again));
        cr_expect(shape_parse(&again, name, &p) == STATUS_USAGE && strstr(p.text, "run gemm alone"),
                  "%s", p.text);
        again = s;
        again.scaling = GEMM_UNSCALED;
        again.tf32 = false;
        cr_expect(!shape_equal(&s, &again));
        again = s;
        again.scale[1] = nextafterf(again.scale[1], 1);
        cr_expect(!shape_equal(&s, &again));
    }
    cr_assert(shape_parse_all(&s, good[0], NULL) == STATUS_OK);
    cr_expect(s.scaling == GEMM_SCALED && s.scale[0] == 0.37f && s.scale[1] == 1.5f);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct problem p = {0};
        cr_expect(shape_parse_all(&s, bad[i], &p) == STATUS_USAGE && strstr(p.text, "--shape"),
                  "%s: %s", bad[i], p.text);
    }
}
