/* Norms, means and variances: what their methods do beside adding, and correct rounding at ties.
 * (What promises, theorems and orders say of them, the tests that walk the registry hold.) */
#include <criterion/criterion.h>

#include <math.h>

#include "kernels/mean/quotient.h"
#include "tests/support/oracle.h"
#include "tests/support/samples.h"
#include "tests/mutants/caught.h"
#include "tests/support/values.h"

static size_t each(bool (*check)(const struct method *m, char why[WHY]))
{
    size_t checked = 0;
    char why[WHY] = "";
    for (size_t i = 0; i < method_count; i++)
        if (has_value(method_registry[i]) && method_registry[i]->cpu) {
            cr_expect(check(method_registry[i], why), "%s", why);
            checked++;
        }
    return checked;
}

Test(values, every_method_follows_its_steps)
{
    cr_expect(each(holds_steps) >= 13);
}

Test(values, ties_are_rounded_as_mpfr_rounds_them)
{
    cr_expect(each(holds_ties) >= 13);
}

/* A number of f and n, of which the quotient lies so near to halfway between two numbers of f that
 * fp64 has little or nothing between: s 2^52 and the nearest whole number to that over m, which has
 * a digit more than f and is odd. */
static double beside_tie(enum format f, size_t *n, uint64_t *seed)
{
    uint64_t one = UINT64_C(1) << format_facts[f].precision;
    uint64_t m = one | sample_next(seed) % one | 1, s = one / 2 + sample_next(seed) % (one / 2);
    *n = (size_t)((((unsigned __int128)s << 52) + m / 2) / m);
    return ldexp((double)s, 52);
}

/* Of numbers of elements beyond what a format holds, and beyond its range. */
Test(values, quotients_are_those_of_mpfr)
{
    uint64_t seed = 5;
    mpfr_t a, b;
    mpfr_inits2(64, a, b, (mpfr_ptr)0);
    for (int k = 0; k < 400000; k++) {
        enum format f = (enum format)(k % ACCUMULATORS);
        double x = format_decode(f, sample_next(&seed));
        size_t n = (size_t)(sample_next(&seed) >> (11 + sample_next(&seed) % 53));
        if (k % 3 == 0 && (f == BF16 || f == FP32))
            x = beside_tie(f, &n, &seed);
        mpfr_set_d(a, x, MPFR_RNDN);
        mpfr_set_ui(b, n, MPFR_RNDN);
        double due = oracle_quotient(f, a, b), got = quotient_rounded(f, x, n);
        cr_assert(same_double(got, due), "%s: %a / %zu is %a, MPFR says %a", format_facts[f].name,
                  x, n, got, due);
    }
    mpfr_clears(a, b, (mpfr_ptr)0);
}

/* Squares out of range with a norm that is in it. */
Test(values, scaled_norms_stay_in_range)
{
    for (enum format f = 0; f < ACCUMULATORS; f++)
        for (int far = -1; far <= 1; far += 2) {
            double x[2], most = ldexp(1, far > 0 ? format_facts[f].emax - 3 : format_facts[f].emin);
            uint64_t plain = 0, scaled = 0;
            struct array in = {f, 2, x};
            array_encode(&in, 0, 2, (double[]){3 * most, 4 * most});
            struct shape one = {1, 0};
            cr_assert(run_method_once(method_named("norm/tiled"), &in, f, one, &plain) ==
                      STATUS_OK);
            cr_assert(run_method_once(method_named("norm/scaled"), &in, f, one, &scaled) ==
                      STATUS_OK);
            cr_expect(format_decode(f, scaled) == 5 * most, "%s", format_facts[f].name);
            cr_expect(format_decode(f, plain) != 5 * most, "%s: %a", format_facts[f].name,
                      format_decode(f, plain));
        }
}

/* Methods that are right but for one thing: each must be caught. */
Test(values, every_mutant_is_caught)
{
    mutants_expect_caught(value_mutants, value_mutant_count);
}
