/* Elementary functions of our own: held to MPFR, in ulps of the exact value. */
#include <criterion/criterion.h>
#include <math.h>
#include <mpfr.h>

#include "experiments/inputs/portable.h"
#include "experiments/inputs/philox.h"
#include "reference/format/format.h"

enum { SEED = 20240601, PRECISION = 200 };

/* |computed - exact| in ulps of `exact`, which has PRECISION bits. */
static double error_in_ulps(double computed, const mpfr_t exact)
{
    mpfr_t error;
    mpfr_init2(error, PRECISION);
    mpfr_sub_d(error, exact, computed, MPFR_RNDN);
    mpfr_abs(error, error, MPFR_RNDN);
    mpfr_div_d(error, error, format_ulp(FP64, mpfr_get_d(exact, MPFR_RNDZ)), MPFR_RNDU);
    double ulps = mpfr_get_d(error, MPFR_RNDU);
    mpfr_clear(error);
    return ulps;
}

static double log_error(double x)
{
    mpfr_t exact;
    mpfr_init2(exact, PRECISION);
    mpfr_set_d(exact, x, MPFR_RNDN);
    mpfr_log(exact, exact, MPFR_RNDN);
    double error = error_in_ulps(portable_log(x), exact);
    mpfr_clear(exact);
    return error;
}

static double exp_error(double x)
{
    mpfr_t exact;
    mpfr_init2(exact, PRECISION);
    mpfr_set_d(exact, x, MPFR_RNDN);
    mpfr_exp(exact, exact, MPFR_RNDN);
    double error = error_in_ulps(portable_exp(x), exact);
    mpfr_clear(exact);
    return error;
}

static double sin_error(uint64_t i, uint64_t n)
{
    mpfr_t exact;
    mpfr_init2(exact, PRECISION);
    mpfr_set_ui(exact, i % n, MPFR_RNDN);
    mpfr_div_ui(exact, exact, n, MPFR_RNDN);
    mpfr_mul_2ui(exact, exact, 1, MPFR_RNDN);
    mpfr_t pi;
    mpfr_init2(pi, PRECISION);
    mpfr_const_pi(pi, MPFR_RNDN);
    mpfr_mul(exact, exact, pi, MPFR_RNDN);
    mpfr_sin(exact, exact, MPFR_RNDN);
    double error = error_in_ulps(portable_sin_turns(i, n), exact);
    mpfr_clears(exact, pi, (mpfr_ptr)0);
    return error;
}

Test(portable, log)
{
    double most = 0;
    for (uint64_t i = 0; i < 200000; i++) {
        struct draw d = random_draw(SEED, RANDOM_VALUES, i);
        double x = 0;
        switch (i % 4) {
        case 0: /* any positive double */
            x = double_from_bits(random_below(d.word[0], UINT64_C(0x7ff) << 52));
            break;
        case 1: /* around 1, at every scale */
            x = 1 + (random_unit(d.word[0]) - 0.5) * portable_power_of_two(-(int)(i % 54));
            break;
        case 2: /* the binades around the boundaries of the reduction */
            x = 0.25 + 4 * random_unit(d.word[0]);
            break;
        default: /* what the normal distribution draws */
            x = (random_unit(d.word[0]) + 0x1p-53) * portable_power_of_two(-(int)(i % 53));
        }
        double error = x == 0 || x == 1 ? 0 : log_error(x);
        cr_assert(error <= 1, "log(%a) is off by %g ulp (seed %d)", x, error, SEED);
        most = fmax(most, error);
    }
    cr_log_info("log: at most %.3f ulp\n", most);
    cr_assert(most > 0.4, "an error of at most %g ulp: is it measured at all?", most);
}

Test(portable, exp)
{
    double most = 0;
    for (uint64_t i = 0; i < 200000; i++) {
        double unit = random_unit(random_draw(SEED, RANDOM_VALUES, i).word[0]);
        double x = i % 3 == 0   ? -745 + 1454.78 * unit
                   : i % 3 == 1 ? 2 * unit - 1
                                : 80 * (unit - 0.5);
        double error = exp_error(x);
        cr_assert(error <= 1, "exp(%a) is off by %g ulp (seed %d)", x, error, SEED);
        most = fmax(most, error);
    }
    cr_log_info("exp: at most %.3f ulp\n", most);
    cr_assert(most > 0.4, "an error of at most %g ulp: is it measured at all?", most);
}

Test(portable, sin_turns)
{
    double most = 0;
    for (uint64_t i = 0; i < 200000; i++) {
        struct draw d = random_draw(SEED, RANDOM_VALUES, i);
        uint64_t n = i % 2 ? UINT64_C(1) << 53 : 1 + (d.word[1] >> (11 + i / 2 % 53));
        uint64_t turn = random_below(d.word[0], 3 * n);
        if (turn * 2 % n == 0)
            continue;
        double error = sin_error(turn, n);
        cr_assert(error <= 1, "sin(2 pi %ju / %ju) is off by %g ulp (seed %d)", (uintmax_t)turn,
                  (uintmax_t)n, error, SEED);
        most = fmax(most, error);
    }
    cr_log_info("sin: at most %.3f ulp\n", most);
    cr_assert(most > 0.4, "an error of at most %g ulp: is it measured at all?", most);
}

/* sin is odd, symmetric about a quarter turn and repeats after a turn: in the bits too. */
Test(portable, sin_turns_is_symmetric)
{
    for (uint64_t n = 1; n <= 600; n++)
        for (uint64_t i = 0; i <= n; i++) {
            double x = portable_sin_turns(i, n);
            cr_assert(x == -portable_sin_turns(n - i, n), "%ju / %ju is not odd", (uintmax_t)i,
                      (uintmax_t)n);
            cr_assert(x == portable_sin_turns(i + n, n), "%ju / %ju does not repeat", (uintmax_t)i,
                      (uintmax_t)n);
            cr_assert(n % 2 || x == portable_sin_turns(n / 2 + n - i, n),
                      "%ju / %ju is not symmetric", (uintmax_t)i, (uintmax_t)n);
            cr_assert(n % 4 || i != n / 4 || x == 1, "a quarter turn of %ju", (uintmax_t)n);
            cr_assert(2 * i % n || (x == 0 && !signbit(x)), "a half turn of %ju is not +0",
                      (uintmax_t)n);
        }
}

Test(portable, edges)
{
    cr_assert(portable_log(0) == -INFINITY);
    cr_assert(portable_log(INFINITY) == INFINITY);
    cr_assert(portable_log(1) == 0);
    cr_assert(isnan(portable_log(-1)));
    cr_assert(isnan(portable_log(NAN)));
    cr_assert(portable_exp(0) == 1);
    cr_assert(portable_exp(INFINITY) == INFINITY);
    cr_assert(portable_exp(709.79) == INFINITY);
    cr_assert(isfinite(portable_exp(709.78)));
    cr_assert(portable_exp(-INFINITY) == 0);
    cr_assert(portable_exp(-745.2) == 0);
    cr_assert(portable_exp(-745.1) == 0x1p-1074);
    cr_assert(isnan(portable_exp(NAN)));
    for (int e = -1022; e <= 1023; e++)
        cr_assert(portable_power_of_two(e) == ldexp(1, e), "2^%d", e);
}

/* The constants themselves: bits that any machine must give. */
Test(portable, bits)
{
    cr_expect_eq(double_bits(portable_log(3)), UINT64_C(0x3ff193ea7aad030a), "log(3) is %a",
                 portable_log(3));
    cr_expect_eq(double_bits(portable_exp(1)), UINT64_C(0x4005bf0a8b14576a), "exp(1) is %a",
                 portable_exp(1));
    cr_expect_eq(double_bits(portable_sin_turns(1, 12)), UINT64_C(0x3fe0000000000000),
                 "sin(2 pi / 12) is %a", portable_sin_turns(1, 12));
}
