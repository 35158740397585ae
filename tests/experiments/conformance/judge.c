/* Single results of plain, binned and widened sums and of scans, judged by what is possible. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "experiments/conformance/judge.h"

enum { N = 200 };

static struct judgement judged_as(const struct method *m, bool exclusive, const float *x, size_t n,
                                  const float *out)
{
    struct judgement j;
    struct problem p = {0};
    const struct conformance_subject s = {
        .method = m, .storage = FP32, .accumulator = FP32, .exclusive = exclusive};
    const struct special_input in = {.x = {FP32, n, (void *)x}};
    const struct array result = {FP32, m->operation->outputs(n, 0), (void *)out};
    cr_assert(conformance_judge(&j, &s, &in, NULL, &result, &p) == STATUS_OK, "%s", p.text);
    return j;
}

static struct judgement judged(const struct method *m, const float *x, size_t n, const float *out)
{
    return judged_as(m, false, x, n, out);
}

static struct judgement judged_sum(const char *name, float x, float y, float result)
{
    return judged(method_named(name), (const float[]){x, y}, 2, &result);
}

/* -0 is no sum of 1 and -1, and infinity may be where bins have room for twice the magnitudes. */
Test(special_judge, binned)
{
    cr_expect_eq(judged_sum("sum/binned", 1, -1, 0).is, JUDGED_FINE);
    cr_expect_eq(judged_sum("sum/binned", 1, -1, -0.0F).is, JUDGED_IMPOSSIBLE);
    cr_expect_neq(judged_sum("sum/binned", 0x1.8p127F, 1, INFINITY).is, JUDGED_IMPOSSIBLE);
    cr_expect_eq(judged_sum("sum/binned", 0x1p100F, 1, INFINITY).is, JUDGED_IMPOSSIBLE);
}

/* Added in fp64, then rounded to fp32. */
Test(special_judge, widened)
{
    cr_expect_eq(judged_sum("sum/widened", 1, 0x1p-30F, 1).is, JUDGED_FINE);
    cr_expect_eq(judged_sum("sum/widened", 1, 0x1p-30F, 1.5F).is, JUDGED_IMPOSSIBLE);
}

/* 2^60 swallows 1 or it does not, each time it is added: 0 or 1, and nothing between the bounds. */
Test(special_judge, widened_in_few_ways)
{
    const float x[] = {0x1p60F, 1, -0x1p60F}, zero = 0, one = 1, two = 2;
    const struct method *widened = method_named("sum/widened");
    cr_expect_eq(judged(widened, x, 3, &zero).is, JUDGED_FINE);
    cr_expect_eq(judged(widened, x, 3, &one).is, JUDGED_FINE);
    cr_expect_eq(judged(widened, x, 3, &two).is, JUDGED_IMPOSSIBLE);
}

/* +inf, or NaN where the others overflow first: a number is an infinity lost. */
Test(special_judge, a_lost_infinity)
{
    const float x[] = {INFINITY, -0x1.8p127F, -0x1.8p127F}, five = 5;
    struct judgement j = judged(method_named("sum/serial"), x, 3, &five);
    cr_expect_eq(j.is, JUDGED_IMPOSSIBLE);
    cr_expect_str_eq(j.why, "an infinity is lost");
}

/* A subject that is not ours may begin at +0. */
Test(special_judge, who_may_begin_at_zero)
{
    const float x[] = {-0.0F, -0.0F}, zero = 0;
    struct method theirs = *method_named("sum/serial");
    cr_expect_eq(judged(&theirs, x, 2, &zero).is, JUDGED_IMPOSSIBLE);
    theirs.foreign = true;
    cr_expect_eq(judged(&theirs, x, 2, &zero).is, JUDGED_NOTED);
}

/* The first of two outputs that no order gives. */
Test(special_judge, the_first_impossible_output)
{
    const float x[] = {1, 1, 1, 1}, out[] = {1, 5, 3, 7};
    struct judgement j = judged(method_named("scan/serial"), x, 4, out);
    cr_expect(j.is == JUDGED_IMPOSSIBLE && j.output == 1, "output %zu", j.output);
}

/* Ones that 2^24 swallows one by one: a running sum gives that, but no tree of little height; all
 * outputs lie below the exact sums. */
Test(special_judge, below_the_bound_of_a_tree)
{
    float x[N], out[N];
    for (size_t i = 0; i < N; i++) {
        x[i] = i ? 1 : 0x1p24F;
        out[i] = 0x1p24F;
    }
    cr_expect_eq(judged(method_named("scan/serial"), x, N, out).is, JUDGED_FINE);
    struct judgement j = judged(method_named("scan/tiled"), x, N, out);
    cr_expect(j.is == JUDGED_IMPOSSIBLE && strstr(j.why, "beyond the bound"), "%s",
              j.why ? j.why : "");
}

/* Where a bound is broken, what is possible is that of the output's own elements: of an exclusive
 * scan those before it, as many as one output earlier in an inclusive one. */
Test(special_judge, what_is_possible_beyond_the_bound)
{
    float x[N], out[N];
    struct judgement j[2];
    for (size_t exclusive = 0; exclusive < 2; exclusive++) {
        for (size_t i = 0; i < N; i++) {
            x[i] = i ? 1 : 0x1p24F;
            out[i] = exclusive && i == 0 ? 0 : 0x1p24F;
        }
        j[exclusive] = judged_as(method_named("scan/tiled"), exclusive, x, N, out);
        cr_expect_eq(j[exclusive].is, JUDGED_IMPOSSIBLE);
    }
    cr_expect(j[0].output > 2 && j[1].output == j[0].output + 1, "outputs %zu and %zu", j[0].output,
              j[1].output);
    cr_expect(j[0].due.least == 0x1p24 && j[1].due.least == 0x1p24);
    cr_expect(j[0].due.most == j[1].due.most, "2^24 + %g and + %g", j[0].due.most - 0x1p24,
              j[1].due.most - 0x1p24);
}
