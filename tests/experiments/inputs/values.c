/* What each family of inputs holds: random elements, patterns, the ends of the range. */
#include <math.h>

#include "tests/support/generated.h"

enum { SEED = 11 };

Test(input_values, uniform_symmetric)
{
    enum { N = 30000 };
    for (enum format f = 0; f < ACCUMULATORS; f++) {
        struct array u = generated("uniform", f, N, SEED, 0);
        struct array s = generated("symmetric", f, N, SEED, 0);
        double mean[2] = {0}, least = 1;
        for (size_t i = 0; i < N; i++) {
            double x = array_get(&u, i), y = array_get(&s, i);
            cr_assert(x >= 0 && x <= 1 && y >= -1 && y <= 1);
            mean[0] += x / N;
            mean[1] += y / N;
            least = fmin(least, y);
        }
        /* 5 standard errors, sqrt(1/12/N) and twice that, and the rounding to 8 bits */
        cr_assert(fabs(mean[0] - 0.5) <= 0.009, "%s: %g", format_facts[f].name, mean[0]);
        cr_assert(fabs(mean[1]) <= 0.017, "%s: %g", format_facts[f].name, mean[1]);
        cr_assert(least <= -0.99);
        free(u.data), free(s.data);
    }
}

Test(input_values, normal_lognormal_relu)
{
    enum { N = 30000 };
    for (enum format f = 0; f < ACCUMULATORS; f++) {
        struct array z = generated("normal:mean=2:sigma=3", f, N, SEED, 0);
        struct array l = generated("lognormal:sigma=4", f, N, SEED, 0);
        struct array r = generated("relu", f, N, SEED, 0);
        double mean = 0, square = 0, above = 0, zeros = 0;
        for (size_t i = 0; i < N; i++) {
            double x = array_get(&z, i), y = array_get(&l, i), w = array_get(&r, i);
            mean += x / N;
            square += (x - 2) * (x - 2) / N;
            above += (y > 1) * 1.0 / N;
            zeros += (w == 0) * 1.0 / N;
            cr_assert(y >= 0 && isfinite(y) && w >= 0 && !signbit(w));
        }
        cr_assert(fabs(mean - 2) <= 0.09, "%s: mean %g", format_facts[f].name, mean);
        cr_assert(fabs(square - 9) <= 0.4, "%s: variance %g", format_facts[f].name, square);
        cr_assert(fabs(above - 0.5) <= 0.016, "%s: %g above 1", format_facts[f].name, above);
        cr_assert(fabs(zeros - 0.5) <= 0.016, "%s: %g zeros", format_facts[f].name, zeros);
        free(z.data), free(l.data), free(r.data);
    }
}

/* Odd and symmetric in the bits, so the sum is exactly 0, as it is for the true sine. */
Test(input_values, sine)
{
    for (enum format f = 0; f < ACCUMULATORS; f++)
        for (size_t n = 1; n < 3000; n += 1 + n / 2) {
            struct array a = generated("sine", f, n, SEED, 0);
            for (size_t i = 0; i < n; i++) {
                double x = sin(6.283185307179586 * (double)i / (double)n);
                cr_assert(fabs(array_get(&a, i) - x) <= format_facts[f].unit_roundoff + 2e-15,
                          "%s, n=%zu: element %zu is %g", format_facts[f].name, n, i,
                          array_get(&a, i));
            }
            cr_assert_eq(exact_sum(&a), 0, "%s, n=%zu", format_facts[f].name, n);
            free(a.data);
        }
}

Test(input_values, harmonic_cycle_alternating)
{
    enum { N = 3000 };
    for (enum format f = 0; f < ACCUMULATORS; f++) {
        struct array h = generated("harmonic", f, N, SEED, 0);
        struct array c = generated("cycle", f, N, SEED, 0);
        struct array s = generated("alternating", f, N, SEED, 0);
        for (size_t i = 0; i < N; i++) {
            double x = array_get(&s, i), y = array_get(&c, i);
            cr_assert_eq(array_get(&h, i), format_round(f, 1 / ((double)i + 1)));
            cr_assert(fabs(x) >= 1 && fabs(x) <= 2 && (x < 0) == (i % 2 == 1));
            cr_assert(i < 251 || y == array_get(&c, i - 251));
            cr_assert(i % 251 == 0 || y > array_get(&c, i - 1), "%s: %zu and %zu are equal",
                      format_facts[f].name, i - 1, i);
        }
        free(h.data), free(c.data), free(s.data);
    }
}

Test(input_values, subnormal)
{
    static const char *const specification[] = {"subnormal:sign=-1", "subnormal",
                                                "subnormal:sign=1"};
    for (enum format f = 0; f < ACCUMULATORS; f++)
        for (int sign = -1; sign <= 1; sign++) {
            struct array a = generated(specification[sign + 1], f, 2000, SEED, 0);
            size_t negative = 0;
            double most = 0;
            for (size_t i = 0; i < a.n; i++) {
                double x = array_get(&a, i);
                cr_assert(x != 0 && fabs(x) < format_facts[f].smallest_normal);
                negative += x < 0;
                most = fmax(most, fabs(x));
            }
            cr_assert(most > 0.95 * format_facts[f].smallest_normal);
            cr_assert(sign < 0    ? negative == a.n
                      : sign == 0 ? negative > 800 && negative < 1200
                                  : negative == 0);
            free(a.data);
        }
}

/* Both ends of the range are reached, and a sum of all magnitudes is finite. */
Test(input_values, wide)
{
    for (enum format f = 0; f < ACCUMULATORS; f++) {
        struct array a = generated("wide", f, 20000, SEED, 0);
        int least = 10000, most = -10000;
        size_t negative = 0;
        for (size_t i = 0; i < a.n; i++) {
            double x = array_get(&a, i);
            cr_assert(x != 0 && isfinite(x));
            negative += x < 0;
            least = ilogb(x) < least ? ilogb(x) : least;
            most = ilogb(x) > most ? ilogb(x) : most;
        }
        cr_assert(least <= ilogb(format_facts[f].smallest) + 1, "%s: 2^%d", format_facts[f].name,
                  least);
        cr_assert(most >= format_facts[f].emax - 17, "%s: 2^%d", format_facts[f].name, most);
        cr_assert(negative > 9500 && negative < 10500);
        free(a.data);
    }
}

/* How many elements of which kind. */
struct counts {
    size_t plus_zero, minus_zero, plus_inf, minus_inf, nan, other;
};

static struct counts count(const char *specification, enum format f, size_t n)
{
    struct array a = generated(specification, f, n, SEED, 0);
    struct counts c = {0};
    for (size_t i = 0; i < n; i++) {
        double x = array_get(&a, i);
        size_t *kind = isnan(x)   ? &c.nan
                       : isinf(x) ? (x > 0 ? &c.plus_inf : &c.minus_inf)
                       : x == 0   ? (signbit(x) ? &c.minus_zero : &c.plus_zero)
                                  : &c.other;
        ++*kind;
    }
    free(a.data);
    return c;
}

Test(input_values, special)
{
    for (enum format f = 0; f < ACCUMULATORS; f++)
        for (size_t n = 1; n < 300; n++) {
            size_t two = n < 2 ? n : 2, five = n < 5 ? n : 5;
            cr_assert_eq(count("spike", f, n).other, 1);
            cr_assert_eq(count("spike", f, n).plus_zero, n - 1);
            cr_assert_eq(count("signed_zeros:negative=1", f, n).minus_zero, n);
            cr_assert_eq(count("signed_zeros:negative=0", f, n).plus_zero, n);
            cr_assert_eq(count("infs", f, n).plus_inf, two, "n=%zu", n);
            cr_assert_eq(count("infs", f, n).nan, 0);
            cr_assert_eq(count("infs:sign=-1:count=5", f, n).minus_inf, five);
            cr_assert_eq(count("infs:sign=0", f, n).minus_inf, two - 1);
            cr_assert_eq(count("infs:sign=0:count=5", f, n).plus_inf, (five + 1) / 2);
            cr_assert_eq(count("nans", f, n).nan, 1);
            cr_assert_eq(count("nans:count=2:infs=3", f, n).nan, two);
            cr_assert_eq(count("nans:count=2:infs=3", f, n).plus_inf, n < 3 ? 0 : n < 5 ? 1 : 2);
            cr_assert_eq(count("nans:count=2:infs=3", f, n).minus_inf, n < 4 ? 0 : 1);
        }
    for (enum format f = 0; f < ACCUMULATORS; f++) {
        struct counts c = count("signed_zeros", f, 10000);
        cr_assert(c.plus_zero + c.minus_zero == 10000 && c.plus_zero > 4700 && c.minus_zero > 4700);
    }
}

/* Factors whose products leave the range on the way, and come back to about 1. */
Test(input_values, reciprocal)
{
    for (enum format f = 0; f < ACCUMULATORS; f++)
        for (size_t n = 999; n <= 1000; n++) {
            struct array a = generated("reciprocal", f, n, SEED, 0);
            double log = 0, most = 0;
            for (size_t i = 0; i < n; i++) {
                log += log2(array_get(&a, i));
                most = log > most ? log : most;
            }
            cr_expect(most > 3 * format_facts[f].emax && log > -0.5 && log < 1.5, "%s: %g, %g",
                      format_facts[f].name, most, log);
            free(a.data);
        }
}
