/* exp, log and 1/sqrt as the device rounds them (kernels/rows/exp_pair.h): the errors that it
 * claims, held to MPFR. */
#include <criterion/criterion.h>

#include <math.h>
#include <mpfr.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/rows/exp_pair.h"
#include "reference/exact/elementary.h"
#include "tests/support/samples.h"

enum { ROUNDS = 20000, DIGITS = 250 };

/* log2 |y - exact|. */
static double error_of(struct double_pair y, const mpfr_t exact)
{
    mpfr_t error;
    mpfr_init2(error, DIGITS);
    mpfr_set_d(error, y.hi, MPFR_RNDN);
    mpfr_add_d(error, error, y.lo, MPFR_RNDN);
    mpfr_sub(error, error, exact, MPFR_RNDN);
    double found = mpfr_zero_p(error) ? -1000 : (double)mpfr_get_exp(error);
    mpfr_clear(error);
    return found;
}

/* A value of fp32, of any exponent between 2^-30 and 2^`most`. */
static double any(uint64_t *seed, int most)
{
    uint64_t bits = sample_next(seed);
    double significand = 1 + (double)(bits >> 41) * 0x1p-23;
    return ldexp(significand, (int)(bits % (uint64_t)(most + 31)) - 30);
}

Test(exp_pair, keeps_its_errors)
{
    uint64_t seed = 20;
    mpfr_t x, exact;
    mpfr_inits2(DIGITS, x, exact, (mpfr_ptr)0);
    for (int i = 0; i < ROUNDS; i++) {
        double of = (i % 2 ? -1 : 1) * any(&seed, 6);
        mpfr_set_d(x, of, MPFR_RNDN);
        mpfr_exp(exact, x, MPFR_RNDN);
        double error = error_of(exp_pair(of), exact) - (double)mpfr_get_exp(exact) + 1;
        cr_assert(error <= -95, "exp(%a): 2^%g", of, error);
        of = any(&seed, 30);
        if (of == 1)
            continue;
        mpfr_set_d(x, of, MPFR_RNDN);
        mpfr_log(exact, x, MPFR_RNDN);
        error = error_of(log_pair(of, log(of)), exact);
        cr_assert(error <= -95, "log(%a): 2^%g", of, error);
    }
    mpfr_clears(x, exact, (mpfr_ptr)0);
}

/* Beside each tie near 1 / sqrt(x), where 1 - m^2 x is least. */
Test(exp_pair, finds_the_side_of_a_root)
{
    uint64_t seed = 21;
    mpfr_t x, exact;
    mpfr_inits2(DIGITS, x, exact, (mpfr_ptr)0);
    for (int i = 0; i < ROUNDS; i++) {
        double of = any(&seed, 30), near = 1 / sqrt(of);
        int exponent;
        frexp(near, &exponent);
        double step = ldexp(1, exponent - 24), tie = floor(near / step) * step + step / 2;
        mpfr_set_d(x, of, MPFR_RNDN);
        mpfr_rec_sqrt(exact, x, MPFR_RNDN);
        int side = mpfr_cmp_d(exact, tie);
        double found = rsqrt_beyond(of, tie);
        cr_assert((found > 0) == (side > 0) && found != 0, "1/sqrt(%a) by %a: %g", of, tie, found);
    }
    mpfr_clears(x, exact, (mpfr_ptr)0);
}

/* What kernels/rows/elementary.cuh says of exp: where a double leaves a rounding to fp32 open, two
 * decide it, as MPFR does. Of one in 997 numbers, and of the one whose exp is nearest to a tie; of
 * all, of which there are four, where ULPSCOPE_ALL is set. */
Test(exp_pair, decides_what_a_double_leaves_open, .timeout = 600)
{
    const double within = 0x1p-50;
    const uint32_t first = 0xb2000000, last = 0xc2d00000, step = getenv("ULPSCOPE_ALL") ? 1 : 997;
    size_t open = 0;
    for (uint32_t bits = first; bits <= last; bits += step) {
        float x, nearest = -0x1.d2259ap+3f;
        memcpy(&x, &bits, sizeof x);
        x = bits == first && step > 1 ? nearest : x;
        double y = exp(x), room = y * within;
        float low = (float)(y - room), high = (float)(y + room);
        if (low == high)
            continue;
        struct double_pair p = exp_pair(x);
        double tie = ((double)low + (double)high) / 2, away = (p.hi - tie) + p.lo;
        cr_expect(fabs(away) > tie * 0x1p-60, "exp(%a) is %g from a tie", x, away / tie);
        cr_expect_eq((double)(away > 0 ? high : low), exp_rounded(FP32, x), "exp(%a)", x);
        open++;
    }
    cr_expect(step == 1 ? open == 4 : open > 0, "%zu left open", open);
}
