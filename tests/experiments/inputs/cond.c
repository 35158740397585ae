/* The input `cond`: the exact sum is what was asked, the condition number within one bit. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/generated.h"
#include "tests/support/oracle.h"

/* Generates; true where the target is within reach. Then the sum must be exact, and the condition
 * number within a factor of two of the target (and 1 where 1 was asked). */
static bool holds(enum format f, size_t n, double sum, double target, uint64_t seed)
{
    struct problem p = {0};
    struct input in;
    struct array a = {f, n, malloc(array_bytes(f, n))};
    char what[128];
    snprintf(what, sizeof what, "%s, n=%zu, sum=%a, target %a, seed %ju", format_facts[f].name, n,
             sum, target, (uintmax_t)seed);
    cr_assert_eq(input_parse(&in, "cond", &p), STATUS_OK);
    in.parameter[0] = sum;
    enum status status = input_generate(&in, &a, seed, target, &p);
    cr_assert(status == STATUS_OK || status == STATUS_USAGE, "%s: %s", what, p.text);
    if (status == STATUS_OK) {
        mpfr_t exact, magnitudes, cond;
        mpfr_inits2(53, exact, magnitudes, cond, (mpfr_ptr)0);
        oracle_sum(exact, &a, false);
        oracle_sum(magnitudes, &a, true);
        cr_assert(mpfr_cmp_d(exact, sum) == 0, "%s: the sum is %a", what,
                  mpfr_get_d(exact, MPFR_RNDN));
        mpfr_div_d(cond, magnitudes, fabs(sum), MPFR_RNDN);
        double reached = mpfr_get_d(cond, MPFR_RNDN);
        if (target != 0)
            cr_assert(reached >= target / 2 && reached / 2 <= target, "%s: reached %a", what,
                      reached);
        if (target == 1)
            cr_assert(reached == 1, "%s: reached %a", what, reached);
        cr_assert(!input_order_safe(&in, n, target, f) ||
                      mpfr_cmp_d(magnitudes, format_facts[f].largest) <= 0,
                  "%s: not order-safe", what);
        mpfr_clears(exact, magnitudes, cond, (mpfr_ptr)0);
    }
    free(a.data);
    return status == STATUS_OK;
}

/* Targets from 1 to beyond every format, dense where they are small. */
static double target_after(double target)
{
    return target < 4 ? target + 0.25 : target * (target < 1e6 ? 1.9 : 777);
}

/* Must there be a way? Two elements +M, -M' with M - M' = 1 reach 2^p; three or more, 2^emax. */
static bool must_reach(enum format f, size_t n, double target)
{
    if (n == 1)
        return target == 1;
    double one_bit_less = ldexp(1, n == 2 ? format_facts[f].precision : format_facts[f].emax);
    return target <= one_bit_less;
}

Test(input_cond, sum_of_1)
{
    static const size_t sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 31, 100, 1000, 4097};
    for (enum format f = 0; f < ACCUMULATORS; f++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            for (double target = 1; target < 1e300; target = target_after(target)) {
                bool reached = holds(f, sizes[i], 1, target, i);
                cr_assert(reached || !must_reach(f, sizes[i], target),
                          "%s, n=%zu: %g is said to be out of reach", format_facts[f].name,
                          sizes[i], target);
                cr_assert(sizes[i] < 2 || reached || target > 1000 || f == BF16,
                          "%s, n=%zu: %g is said to be out of reach", format_facts[f].name,
                          sizes[i], target);
            }
}

/* Sums on every scale, of either sign, with one bit and with many, also with more than the format
 * has: a sum that no single element can be is reached all the same. */
Test(input_cond, any_sum)
{
    static const double sums[] = {-1,      3.25,     -0x1p-24,       0x1.ffcp-10,
                                  1000,    0x1p-14,  0x1.000002p0,   -0x1.fffffep6,
                                  70000.5, 0x1p-149, -0x1.8p-133,    0x1.23456789abcdep-3,
                                  1e30,    -1e300,   0x1p-1074,      -0x1.fffffffffffffp-1022,
                                  0x1p-20, 65504,    0x1.fffffep127, 0x1p1000};
    static const size_t sizes[] = {1, 2, 3, 7, 8, 9, 20, 40, 333, 2000};
    size_t reached[ACCUMULATORS] = {0};
    for (enum format f = 0; f < ACCUMULATORS; f++)
        for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
            if (fmod(sums[i], format_facts[f].smallest) != 0)
                continue; /* refused: inputs/input.c */
            for (size_t j = 0; j < sizeof sizes / sizeof *sizes; j++)
                for (double target = 1; target < 1e300; target *= target < 8 ? 1.5 : 1e7)
                    reached[f] += holds(f, sizes[j], sums[i], target, j);
        }
    for (enum format f = 0; f < ACCUMULATORS; f++)
        cr_assert(reached[f] > 100, "%s: only %zu cases within reach", format_facts[f].name,
                  reached[f]);
}

/* A sum of one smallest subnormal number and up: every element is only a few of them. */
Test(input_cond, few_quanta)
{
    for (enum format f = 0; f < ACCUMULATORS; f++)
        for (int quanta = 1; quanta < 40; quanta += 1 + quanta / 4)
            for (double target = 1; target < 5000; target *= 1.3)
                for (size_t n = 3; n < 2000; n = 3 * n + 1)
                    cr_assert(holds(f, n, quanta * format_facts[f].smallest, target, n),
                              "%s, n=%zu, sum of %d quanta: %g is said to be out of reach",
                              format_facts[f].name, n, quanta, target);
}

Test(input_cond, seeds)
{
    for (uint64_t seed = 0; seed < 300; seed++)
        for (enum format f = 0; f < ACCUMULATORS; f++)
            for (size_t n = 2; n < 30; n += 1 + n / 3)
                cr_assert(holds(f, n, 1, 1 + (double)seed / 3, seed) || f == BF16);
}

/* What is within reach far beyond 1/u. */
Test(input_cond, reach)
{
    cr_assert(holds(FP16, 100000, 0x1p-4, 0x1p33, 1));
    cr_assert(holds(FP16, 100000, 0x1p-24, 0x1p52, 1));
    cr_assert(holds(BF16, 1000, 1, 0x1p130, 1));
    cr_assert(holds(FP32, 1000, 1, 0x1p130, 1));
    cr_assert(holds(FP64, 1000, 1, 0x1p600, 1));
    cr_assert(holds(FP64, 1000, 1, 0x1p1020, 1));
    cr_assert(holds(FP64, 200000, 1, 0x1p100, 1));
}

/* The default is 2^20, or what is within reach below. */
Test(input_cond, default_target)
{
    static const struct {
        enum format f;
        size_t n;
        double cond;
    } cases[] = {{FP16, 1, 1},         {FP16, 2, 0x1p11},    {FP16, 1000, 0x1p20},
                 {BF16, 1000, 0x1p20}, {FP32, 1000, 0x1p20}, {FP64, 2, 0x1p20}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct array a = generated("cond", cases[i].f, cases[i].n, 1, 0);
        struct array b = generated("cond", cases[i].f, cases[i].n, 1, cases[i].cond);
        cr_assert(memcmp(a.data, b.data, array_bytes(a.format, a.n)) == 0, "%s, n=%zu",
                  format_facts[a.format].name, a.n);
        free(a.data);
        free(b.data);
    }
}

/* Twice the working precision: Sum2 of Ogita, Rump and Oishi, in f. */
static double sum2(const struct array *a)
{
    enum format f = a->format;
    double sum = array_get(a, 0), errors = 0;
    for (size_t i = 1; i < a->n; i++) {
        double x = array_get(a, i), next = format_add(f, sum, x), part = format_add(f, next, -sum);
        double error =
            format_add(f, format_add(f, sum, -format_add(f, next, -part)), format_add(f, x, -part));
        errors = format_add(f, errors, error);
        sum = next;
    }
    return format_add(f, sum, errors);
}

/* It is as hard as its condition number says: twice the working precision sums it well below
 * 1/u, and not beyond 1/u^2. */
Test(input_cond, is_hard)
{
    for (enum format f = 0; f < ACCUMULATORS; f++) {
        int p = format_facts[f].precision;
        if (f == FP16)
            continue; /* its range ends before 1/u^2 */
        struct array easy = generated("cond", f, 1000, 1, ldexp(1, p / 2));
        struct array hard = generated("cond", f, 1000, 1, ldexp(1, 2 * p + 12));
        cr_assert(fabs(sum2(&easy) - 1) <= 0.01, "%s: Sum2 gives %g for 1", format_facts[f].name,
                  sum2(&easy));
        cr_assert(!(fabs(sum2(&hard) - 1) <= 0.5), "%s: Sum2 gives %g for 1", format_facts[f].name,
                  sum2(&hard));
        free(easy.data);
        free(hard.data);
    }
}

/* Zeros stand only where the residual left places over, as its zero bits may. Short arrays, for
 * which the scales have to be cut, have no more. */
Test(input_cond, few_zeros)
{
    for (enum format f = 0; f < ACCUMULATORS; f++)
        for (size_t n = 8; n < 3000; n += 1 + n / 3)
            for (double target = 1; target < 1e300; target *= 1e4) {
                struct array a = {f, n, malloc(array_bytes(f, n))};
                struct input in;
                size_t zeros = 0;
                cr_assert_eq(input_parse(&in, "cond", NULL), STATUS_OK);
                if (input_generate(&in, &a, n, target, NULL) == STATUS_OK)
                    for (size_t i = 0; i < n; i++)
                        zeros += array_get(&a, i) == 0;
                cr_assert(zeros <= 3 + n / 25, "%s, n=%zu, target %g: %zu zeros",
                          format_facts[f].name, n, target, zeros);
                free(a.data);
            }
}

/* There is something on every scale between the largest elements and the sum. */
Test(input_cond, fills_the_scales)
{
    bool seen[2100] = {false};
    int binades = 0;
    struct array a = generated("cond", FP64, 20000, 1, 0x1p300);
    for (size_t i = 0; i < a.n; i++)
        seen[1074 + (array_get(&a, i) != 0 ? ilogb(array_get(&a, i)) : -1074)] = true;
    for (int e = 0; e < 280; e++)
        binades += seen[1074 + e];
    cr_assert(binades >= 275, "elements in only %d of 280 binades", binades);
    free(a.data);
}

static enum status refused(const char *specification, enum format f, struct problem *p)
{
    double x[4];
    struct input in;
    const struct array a = {f, 4, x};
    *p = (struct problem){0};
    cr_assert_eq(input_parse(&in, specification, p), STATUS_OK, "%s", p->text);
    cr_expect_not(input_reaches(&in, 4, 0, f), "%s", specification);
    return input_generate(&in, &a, 1, 0, p);
}

/* A condition number below 1, and a sum that is between two numbers of the format. */
Test(input_cond, what_there_is_none_of)
{
    struct problem p;
    cr_expect_eq(refused("cond:target=0.5", FP32, &p), STATUS_USAGE);
    cr_expect(strstr(p.text, "expected 0 or a number from 1 on"), "%s", p.text);
    cr_expect_eq(refused("cond:sum=2^-30", FP16, &p), STATUS_USAGE);
    cr_expect(strstr(p.text, "expected a multiple"), "%s", p.text);
}

/* A negative sum has the default target that the positive one has. */
Test(input_cond, negative_sums)
{
    static const struct {
        enum format f;
        size_t n;
        double cond;
    } cases[] = {{FP32, 100, 0x1p20}, {FP16, 2, 0x1p11}, {FP16, 1, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct array a = generated("cond:sum=-1", cases[i].f, cases[i].n, 1, 0);
        struct array b = generated("cond:sum=-1", cases[i].f, cases[i].n, 1, cases[i].cond);
        cr_expect(memcmp(a.data, b.data, array_bytes(a.format, a.n)) == 0, "%zu", i);
        cr_expect_eq(exact_sum(&a), -1);
        free(a.data);
        free(b.data);
    }
}
