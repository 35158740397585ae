/* The distribution of results and the growth of spreads: held to rational arithmetic, to figures
 * that others have published, and to samples whose distribution is known. */
#include <criterion/criterion.h>

#include <math.h>

#include "experiments/studies/distribution.h"
#include "experiments/studies/growth.h"
#include "experiments/inputs/philox.h"
#include "tests/support/rational.h"

static void add_run(struct tally *t, enum format f, double value)
{
    struct distinct *d = tally_add(t, (struct hash128){{format_encode(f, value), 0}});
    cr_assert(d);
    d->value = (struct figure){true, value};
}

/* The mean of (value - mean)^k. */
static rational moment(const double *value, size_t count, unsigned long k)
{
    rational sum = whole(0), about = whole(0);
    for (size_t i = 0; i < count; i++)
        sum = plus(sum, from_double(value[i]));
    for (size_t i = 0; i < count; i++)
        about = plus(about, to_power(minus(from_double(value[i]), over(sum, whole(count))), k));
    return over(about, whole(count));
}

/* Is x the exact number, rounded? */
static bool is_rounded(double x, rational exact)
{
    rational half = over(from_double(nextafter(fabs(x), INFINITY) - fabs(x)), whole(2));
    return mpq_cmp(size_of(minus(from_double(x), exact)), half) <= 0;
}

/* Is |x| the root of the exact number, rounded? */
static bool is_root(double x, rational exact)
{
    rational half = over(from_double(nextafter(fabs(x), INFINITY) - fabs(x)), whole(2));
    rational size = from_double(fabs(x));
    if (x == 0)
        return mpq_sgn(exact) == 0;
    return mpq_cmp(to_power(minus(size, half), 2), exact) <= 0 &&
           mpq_cmp(to_power(plus(size, half), 2), exact) >= 0;
}

Test(distribution, moments_are_those_of_rational_arithmetic)
{
    enum { SETS = 150, MOST = 24 };
    for (uint64_t seed = 1; seed <= SETS; seed++) {
        double value[MOST];
        enum format f = (enum format)(seed % ACCUMULATORS);
        size_t count = 2 + seed % (MOST - 1), few = 2 + seed % 7;
        int reach = seed % 4 == 0 ? format_facts[f].emax - 2 : 3;
        struct tally t = {0};
        for (size_t i = 0; i < count; i++) {
            struct draw d = random_draw(seed, RANDOM_VALUES, i % 3 ? i : i % few);
            int exponent = (int)random_below(d.word[1], 2 * (uint64_t)reach) - reach;
            value[i] = format_round(f, ldexp(1 + random_unit(d.word[0]), exponent));
            value[i] = d.word[1] & 1 ? -value[i] : value[i];
            add_run(&t, f, value[i]);
        }
        struct distribution d;
        distribution_of(&d, &t);
        rational least = from_double(value[0]), most = least;
        for (size_t i = 1; i < count; i++) {
            least = lesser(least, from_double(value[i]));
            most = greater(most, from_double(value[i]));
        }
        cr_expect(d.runs == count && d.distinct == t.count && d.distinct < count + 1, "seed %lu",
                  seed);
        cr_assert(d.spread.known && is_rounded(d.spread.value, minus(most, least)),
                  "seed %lu: spread %a", seed, d.spread.value);
        rational m2 = moment(value, count, 2), m3 = moment(value, count, 3);
        rational m4 = moment(value, count, 4);
        cr_assert_eq(d.skewness.known, mpq_sgn(m2) != 0, "seed %lu", seed);
        if (d.skewness.known) {
            cr_expect(is_root(d.skewness.value, over(to_power(m3, 2), to_power(m2, 3))) &&
                          d.skewness.value * mpq_sgn(m3) >= 0,
                      "seed %lu: skewness %a", seed, d.skewness.value);
            cr_expect(is_rounded(d.kurtosis.value, minus(over(m4, to_power(m2, 2)), whole(3))),
                      "seed %lu: kurtosis %a", seed, d.kurtosis.value);
        }
        rational_forget();
        tally_free(&t);
    }
}

/* SciPy's documentation of stats.kurtosistest has -1.7058104152122062 for 0 .. 19, which lie about
 * their mean symmetrically, so that Z(g1) is 0. */
Test(distribution, normality_is_that_of_published_figures)
{
    struct tally t = {0};
    struct distribution d;
    for (int i = 0; i < 20; i++)
        add_run(&t, FP64, i);
    distribution_of(&d, &t);
    double z = 1.7058104152122062;
    cr_expect(d.skewness.known && d.skewness.value == 0);
    cr_expect(d.k2.known && fabs(sqrt(d.k2.value) - z) <= 1e-15 * z, "K = %.17g", sqrt(d.k2.value));
    cr_expect(d.p.known && fabs(d.p.value - exp(-z * z / 2)) <= 1e-15, "p = %.17g", d.p.value);
    tally_free(&t);
}

/* The formulas once more, as D'Agostino, Belanger and D'Agostino (1990) write them down. */
static long double z_skewness(long double g1, long double n)
{
    long double y = g1 * sqrtl((n + 1) * (n + 3) / (6 * (n - 2)));
    long double beta =
        3 * (n * n + 27 * n - 70) * (n + 1) * (n + 3) / ((n - 2) * (n + 5) * (n + 7) * (n + 9));
    long double w2 = -1 + sqrtl(2 * (beta - 1)), alpha = sqrtl(2 / (w2 - 1));
    return logl(y / alpha + sqrtl(y * y / (alpha * alpha) + 1)) / sqrtl(logl(sqrtl(w2)));
}

static long double z_kurtosis(long double b2, long double n)
{
    long double mean = 3 * (n - 1) / (n + 1);
    long double variance = 24 * n * (n - 2) * (n - 3) / ((n + 1) * (n + 1) * (n + 3) * (n + 5));
    long double x = (b2 - mean) / sqrtl(variance);
    long double beta = 6 * (n * n - 5 * n + 2) / ((n + 7) * (n + 9)) *
                       sqrtl(6 * (n + 3) * (n + 5) / (n * (n - 2) * (n - 3)));
    long double a = 6 + 8 / beta * (2 / beta + sqrtl(1 + 4 / (beta * beta)));
    long double root = cbrtl((1 - 2 / a) / (1 + x * sqrtl(2 / (a - 4))));
    return (1 - 2 / (9 * a) - root) / sqrtl(2 / (9 * a));
}

/* What a sample of count runs of a kind comes to; each from a seed of its own. */
enum kind { NORMAL, UNIFORM, EXPONENTIAL, TWO_HUMPS };
static void sample(struct distribution *d, enum kind kind, size_t count, uint64_t seed)
{
    struct tally t = {0};
    for (size_t i = 0; i < count; i++) {
        struct draw draw = random_draw(seed, RANDOM_VALUES, i);
        double u = random_unit(draw.word[0]), z = random_normal(draw);
        add_run(&t, FP64,
                kind == NORMAL        ? 1e6 + z
                : kind == UNIFORM     ? u
                : kind == EXPONENTIAL ? -log(1 - u)
                                      : z + 20 * (double)(i % 2));
    }
    distribution_of(d, &t);
    tally_free(&t);
}

Test(distribution, normality_is_that_of_its_formulas)
{
    static const size_t count[] = {20, 21, 50, 100, 400};
    for (uint64_t i = 0; i < 40; i++) {
        struct distribution d;
        size_t n = count[i % 5];
        sample(&d, i / 5 % 4, n, 100 + i);
        cr_assert(d.k2.known && d.p.known && !*d.note);
        long double z1 = z_skewness(d.skewness.value, n);
        long double z2 = z_kurtosis(3 + (long double)d.kurtosis.value, n);
        double due = (double)(z1 * z1 + z2 * z2);
        cr_expect(fabs(d.k2.value - due) <= 1e-12 * due, "%lu: %.17g, %.17g", i, d.k2.value, due);
        cr_expect(fabs(d.p.value - exp(-d.k2.value / 2)) <= 1e-15 * (1 + due) * d.p.value,
                  "%lu: %g", i, d.p.value);
    }
}

/* At a level of 0.05 the test is to reject about 5 of 100 normal samples: of 400, 20 with a
 * standard deviation of 4.4; and nearly all others. */
Test(distribution, known_distributions)
{
    enum { SAMPLES = 400, COUNT = 200 };
    static const size_t least[] = {4, 390, 400, 400}, most[] = {42, 400, 400, 400};
    for (enum kind kind = NORMAL; kind <= TWO_HUMPS; kind++) {
        size_t rejected = 0;
        struct distribution d;
        for (uint64_t i = 0; i < SAMPLES; i++) {
            sample(&d, kind, COUNT, 1000 * kind + i);
            rejected += d.p.value < 0.05;
        }
        cr_expect(rejected >= least[kind] && rejected <= most[kind], "kind %d: %zu of %d rejected",
                  kind, rejected, SAMPLES);
    }
    struct distribution d;
    sample(&d, EXPONENTIAL, 20000, 1); /* g1 = 2, g2 = 6; g1's standard deviation is about 0.1 */
    cr_expect(fabs(d.skewness.value - 2) < 0.5 && fabs(d.kurtosis.value - 6) < 5, "%g %g",
              d.skewness.value, d.kurtosis.value);
    sample(&d, UNIFORM, 20000, 1); /* g1 = 0, g2 = -1.2 */
    cr_expect(fabs(d.skewness.value) < 0.1 && fabs(d.kurtosis.value + 1.2) < 0.1, "%g %g",
              d.skewness.value, d.kurtosis.value);
}

Test(distribution, says_why_there_is_no_test)
{
    static const struct {
        double value[3];
        int values, each;
        bool spread, shape;
        const char *note;
    } set[] = {
        {{1}, 1, 50, true, false, "one result"},
        {{0.0, -0.0}, 2, 50, true, false, "one result"},
        {{1, 2, 4}, 3, 20, true, true, "too few different results"},
        {{1, INFINITY}, 2, 20, false, false, "results that are not finite"},
        {{NAN}, 1, 20, false, false, "results that are not finite"},
    };
    for (size_t i = 0; i < sizeof set / sizeof *set; i++) {
        struct tally t = {0};
        struct distribution d;
        for (int k = 0; k < set[i].values * set[i].each; k++)
            add_run(&t, FP32, set[i].value[k % set[i].values]);
        distribution_of(&d, &t);
        cr_expect_str_eq(d.note, set[i].note, "set %zu: %s", i, d.note);
        cr_expect(d.spread.known == set[i].spread && d.skewness.known == set[i].shape &&
                      d.kurtosis.known == set[i].shape && !d.k2.known && !d.p.known,
                  "set %zu", i);
        tally_free(&t);
    }
    struct distribution d;
    sample(&d, NORMAL, 19, 1);
    cr_expect_str_eq(d.note, "too few runs");
    sample(&d, NORMAL, 20, 1);
    cr_expect(!*d.note && d.p.known);
}

/* log y = log 2 (0, 1, 3, 2, 4) at log n = log 2 (0 .. 4): slope 9/10, intercept 1/5, and what the
 * line leaves is 19/10. */
Test(distribution, growth_is_that_of_least_squares)
{
    const double n[] = {1, 2, 4, 8, 16}, y[] = {1, 2, 8, 4, 16};
    struct growth g;
    growth_fit(&g, n, y, 5);
    cr_expect(g.points == 5 && g.left_out == 0);
    cr_expect(g.exponent.known && g.exponent.value == 0.9, "%.17g", g.exponent.value);
    cr_expect(g.r_squared.known && g.r_squared.value == 0.81, "%.17g", g.r_squared.value);
    cr_expect(is_root(g.standard_error.value, over(whole(19), whole(300))), "%.17g",
              g.standard_error.value);
    cr_expect(fabs(g.factor.value - exp2(0.2)) <= 0x1p-52, "%.17g", g.factor.value);
    rational_forget();
}

Test(distribution, growth_finds_the_exponent_of_a_power_law)
{
    static const double exponent[] = {-1, 0, 0.5, 1, 1.5};
    for (size_t i = 0; i < 5; i++) {
        double n[12], y[12];
        struct growth g;
        for (int k = 0; k < 12; k++) {
            n[k] = ldexp(1, 2 * k);
            y[k] = 3 * exp2(2 * k * exponent[i]); /* exact */
        }
        growth_fit(&g, n, y, 12);
        cr_expect(fabs(g.exponent.value - exponent[i]) <= 1e-60, "%g: %.17g", exponent[i],
                  g.exponent.value);
        cr_expect(g.factor.value == 3 && g.standard_error.value <= 1e-40, "%g: %.17g +- %g",
                  exponent[i], g.factor.value, g.standard_error.value);
        cr_expect(g.r_squared.known == (exponent[i] != 0) &&
                      (!g.r_squared.known || g.r_squared.value == 1),
                  "%g: %.17g", exponent[i], g.r_squared.value);
    }
}

Test(distribution, growth_leaves_out_what_has_no_logarithm)
{
    const double n[] = {0, 1, 2, 4, 8, 16, 32, 64}, y[] = {1, 0, 1, INFINITY, 4, -1, 16, NAN};
    struct growth g;
    growth_fit(&g, n, y, 8);
    cr_expect(g.points == 3 && g.left_out == 5 && g.exponent.value == 1 && g.factor.value == 0.5,
              "%zu points, n^%.17g", g.points, g.exponent.value);
    growth_fit(&g, n + 2, y + 2, 3);
    cr_expect(g.points == 2 && g.exponent.value == 1 && !g.standard_error.known &&
              !g.r_squared.known);
    growth_fit(&g, n + 2, y + 2, 2);
    cr_expect(g.points == 1 && !g.exponent.known && !g.factor.known);
    const double same[] = {8, 8, 8}, three[] = {1, 2, 3};
    growth_fit(&g, same, three, 3);
    cr_expect(g.points == 3 && !g.exponent.known && !g.factor.known);
    growth_fit(&g, n, y, 0);
    cr_expect(g.points == 0 && !g.exponent.known);
}

/* Ten different results are enough, nine are not. */
Test(distribution, fewest_different_results)
{
    for (int values = 9; values <= 10; values++) {
        struct tally t = {0};
        struct distribution d;
        for (int k = 0; k < 3 * values; k++)
            add_run(&t, FP32, k % values * (k % values));
        distribution_of(&d, &t);
        cr_expect_str_eq(d.note, values < 10 ? "too few different results" : "");
        tally_free(&t);
    }
}
