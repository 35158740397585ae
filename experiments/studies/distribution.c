#include "experiments/studies/distribution.h"

#include <math.h>

/* Doubles are whole multiples of 2^-1074 below 2^1024. A fourth power of a sum of less than 2^64 of
 * them, times the cube of their number, spans less than 4 (2098 + 64) + 192 bits. */
enum { EXACT_PRECISION = 10240, PRECISION = 256 };

static struct figure known(const mpfr_t x)
{
    return (struct figure){true, mpfr_get_d(x, MPFR_RNDN)};
}

/* power[k]: the sum over the runs of result^k. */
static void add_powers(mpfr_t power[5], const struct tally *t)
{
    mpfr_t term;
    mpfr_init2(term, EXACT_PRECISION);
    for (size_t i = 0; i < t->count; i++) {
        mpfr_set_ui(term, t->item[i].count, MPFR_RNDN);
        for (int k = 0; k <= 4; k++) {
            mpfr_add(power[k], power[k], term, MPFR_RNDN);
            mpfr_mul_d(term, term, t->item[i].value.value, MPFR_RNDN);
        }
    }
    mpfr_clear(term);
}

/* to += factor n^i power[a] power[b]^j, exact. */
static void add_product(mpfr_t to, long factor, mpfr_t power[5], unsigned i, int a, int b,
                        unsigned j)
{
    mpfr_t product;
    mpfr_init2(product, EXACT_PRECISION);
    mpfr_set_si(product, factor, MPFR_RNDN);
    for (; i > 0; i--)
        mpfr_mul(product, product, power[0], MPFR_RNDN);
    mpfr_mul(product, product, power[a], MPFR_RNDN);
    for (; j > 0; j--)
        mpfr_mul(product, product, power[b], MPFR_RNDN);
    mpfr_add(to, to, product, MPFR_RNDN);
    mpfr_clear(product);
}

/* central[k] = n^k m_k for k = 2, 3, 4, from the sums of powers, exact. */
static void centre(mpfr_t central[5], mpfr_t power[5])
{
    add_product(central[2], 1, power, 1, 2, 1, 0);
    add_product(central[2], -1, power, 0, 1, 1, 1);
    add_product(central[3], 1, power, 2, 3, 1, 0);
    add_product(central[3], -3, power, 1, 2, 1, 1);
    add_product(central[3], 2, power, 0, 1, 1, 2);
    add_product(central[4], 1, power, 3, 4, 1, 0);
    add_product(central[4], -4, power, 2, 3, 1, 1);
    add_product(central[4], 6, power, 1, 2, 1, 2);
    add_product(central[4], -3, power, 0, 1, 1, 3);
}

/* g1 and g2, where the results differ. */
static void shape_of(mpfr_t skewness, mpfr_t kurtosis, const struct tally *t)
{
    mpfr_t power[5], central[5], root;
    mpfr_init2(root, PRECISION);
    for (int k = 0; k <= 4; k++) {
        mpfr_init2(power[k], EXACT_PRECISION);
        mpfr_init2(central[k], EXACT_PRECISION);
        mpfr_set_zero(power[k], 1);
        mpfr_set_zero(central[k], 1);
    }
    add_powers(power, t);
    centre(central, power);
    mpfr_sqrt(root, central[2], MPFR_RNDN);
    mpfr_div(skewness, central[3], central[2], MPFR_RNDN);
    mpfr_div(skewness, skewness, root, MPFR_RNDN);
    mpfr_sqr(central[2], central[2], MPFR_RNDN);
    mpfr_div(kurtosis, central[4], central[2], MPFR_RNDN);
    mpfr_sub_ui(kurtosis, kurtosis, 3, MPFR_RNDN);
    for (int k = 0; k <= 4; k++)
        mpfr_clears(power[k], central[k], (mpfr_ptr)0);
    mpfr_clear(root);
}

/* The product of n + offset[i], up to an offset of 0. */
static void product(mpfr_t to, uint64_t n, const long *offset)
{
    mpfr_set_ui(to, 1, MPFR_RNDN);
    mpfr_t factor;
    mpfr_init2(factor, PRECISION);
    for (; *offset; offset++) {
        mpfr_set_ui(factor, n, MPFR_RNDN);
        mpfr_add_si(factor, factor, *offset, MPFR_RNDN);
        mpfr_mul(to, to, factor, MPFR_RNDN);
    }
    mpfr_clear(factor);
}

/* The product of n + a[i] over that of n + b[i]. */
static void ratio(mpfr_t to, uint64_t n, const long *a, const long *b)
{
    mpfr_t under;
    mpfr_init2(under, PRECISION);
    product(to, n, a);
    product(under, n, b);
    mpfr_div(to, to, under, MPFR_RNDN);
    mpfr_clear(under);
}

/* n^2 + a n + b */
static void quadratic(mpfr_t to, uint64_t n, long a, long b)
{
    mpfr_set_ui(to, n, MPFR_RNDN);
    mpfr_add_si(to, to, a, MPFR_RNDN);
    mpfr_mul_ui(to, to, n, MPFR_RNDN);
    mpfr_add_si(to, to, b, MPFR_RNDN);
}

/* Z(g1): Y = g1 sqrt((n+1)(n+3) / (6(n-2))), beta = 3(n^2+27n-70)(n+1)(n+3) /
 * ((n-2)(n+5)(n+7)(n+9)), W^2 = sqrt(2(beta-1)) - 1, Z = asinh(Y sqrt((W^2-1)/2)) / sqrt(ln W). */
static void z_skewness(mpfr_t z, const mpfr_t skewness, uint64_t n)
{
    mpfr_t w2, t;
    mpfr_inits2(PRECISION, w2, t, (mpfr_ptr)0);
    ratio(z, n, (const long[]){1, 3, 0}, (const long[]){-2, 0});
    mpfr_div_ui(z, z, 6, MPFR_RNDN);
    mpfr_sqrt(z, z, MPFR_RNDN);
    mpfr_mul(z, z, skewness, MPFR_RNDN);
    ratio(w2, n, (const long[]){1, 3, 0}, (const long[]){-2, 5, 7, 9, 0});
    quadratic(t, n, 27, -70);
    mpfr_mul(w2, w2, t, MPFR_RNDN);
    mpfr_mul_ui(w2, w2, 3, MPFR_RNDN);
    mpfr_sub_ui(w2, w2, 1, MPFR_RNDN);
    mpfr_mul_ui(w2, w2, 2, MPFR_RNDN);
    mpfr_sqrt(w2, w2, MPFR_RNDN);
    mpfr_sub_ui(w2, w2, 1, MPFR_RNDN);
    mpfr_sub_ui(t, w2, 1, MPFR_RNDN);
    mpfr_div_ui(t, t, 2, MPFR_RNDN);
    mpfr_sqrt(t, t, MPFR_RNDN);
    mpfr_mul(z, z, t, MPFR_RNDN);
    mpfr_asinh(z, z, MPFR_RNDN);
    mpfr_log(w2, w2, MPFR_RNDN); /* 2 ln W */
    mpfr_div_ui(w2, w2, 2, MPFR_RNDN);
    mpfr_sqrt(w2, w2, MPFR_RNDN);
    mpfr_div(z, z, w2, MPFR_RNDN);
    mpfr_clears(w2, t, (mpfr_ptr)0);
}

/* x = (b2 - E) / sqrt(V) of b2 = g2 + 3: E = 3(n-1)/(n+1), V = 24n(n-2)(n-3) / ((n+1)^2(n+3)(n+5)).
 */
static void standardise(mpfr_t x, const mpfr_t kurtosis, uint64_t n)
{
    mpfr_t variance;
    mpfr_init2(variance, PRECISION);
    ratio(x, n, (const long[]){-1, 0}, (const long[]){1, 0});
    mpfr_sub_ui(x, x, 1, MPFR_RNDN);
    mpfr_mul_ui(x, x, 3, MPFR_RNDN); /* E - 3 */
    mpfr_sub(x, kurtosis, x, MPFR_RNDN);
    ratio(variance, n, (const long[]){-2, -3, 0}, (const long[]){1, 1, 3, 5, 0});
    mpfr_mul_ui(variance, variance, n, MPFR_RNDN);
    mpfr_mul_ui(variance, variance, 24, MPFR_RNDN);
    mpfr_sqrt(variance, variance, MPFR_RNDN);
    mpfr_div(x, x, variance, MPFR_RNDN);
    mpfr_clear(variance);
}

/* A = 6 + 8/r (2/r + sqrt(1 + 4/r^2)), r = 6(n^2-5n+2)/((n+7)(n+9)) sqrt(6(n+3)(n+5)/(n(n-2)(n-3)))
 */
static void degrees(mpfr_t a, uint64_t n)
{
    mpfr_t r, t;
    mpfr_inits2(PRECISION, r, t, (mpfr_ptr)0);
    ratio(r, n, (const long[]){3, 5, 0}, (const long[]){-2, -3, 0});
    mpfr_div_ui(r, r, n, MPFR_RNDN);
    mpfr_mul_ui(r, r, 6, MPFR_RNDN);
    mpfr_sqrt(r, r, MPFR_RNDN);
    product(t, n, (const long[]){7, 9, 0});
    mpfr_div(r, r, t, MPFR_RNDN);
    quadratic(t, n, -5, 2);
    mpfr_mul(r, r, t, MPFR_RNDN);
    mpfr_mul_ui(r, r, 6, MPFR_RNDN);
    mpfr_ui_div(r, 2, r, MPFR_RNDN); /* 2/r */
    mpfr_sqr(t, r, MPFR_RNDN);
    mpfr_add_ui(t, t, 1, MPFR_RNDN);
    mpfr_sqrt(t, t, MPFR_RNDN);
    mpfr_add(t, t, r, MPFR_RNDN);
    mpfr_mul(a, t, r, MPFR_RNDN);
    mpfr_mul_ui(a, a, 4, MPFR_RNDN);
    mpfr_add_ui(a, a, 6, MPFR_RNDN);
    mpfr_clears(r, t, (mpfr_ptr)0);
}

/* Z(g2) = (1 - 2/(9A) - cbrt((1 - 2/A) / (1 + x sqrt(2/(A-4))))) / sqrt(2/(9A)) */
static void z_kurtosis(mpfr_t z, const mpfr_t kurtosis, uint64_t n)
{
    mpfr_t a, t;
    mpfr_inits2(PRECISION, a, t, (mpfr_ptr)0);
    standardise(z, kurtosis, n);
    degrees(a, n);
    mpfr_sub_ui(t, a, 4, MPFR_RNDN);
    mpfr_ui_div(t, 2, t, MPFR_RNDN);
    mpfr_sqrt(t, t, MPFR_RNDN);
    mpfr_mul(z, z, t, MPFR_RNDN);
    mpfr_add_ui(z, z, 1, MPFR_RNDN);
    mpfr_ui_div(t, 2, a, MPFR_RNDN);
    mpfr_ui_sub(t, 1, t, MPFR_RNDN);
    mpfr_div(z, t, z, MPFR_RNDN);
    mpfr_cbrt(z, z, MPFR_RNDN);
    mpfr_mul_ui(a, a, 9, MPFR_RNDN);
    mpfr_ui_div(a, 2, a, MPFR_RNDN); /* 2/(9A) */
    mpfr_ui_sub(t, 1, a, MPFR_RNDN);
    mpfr_sub(z, t, z, MPFR_RNDN);
    mpfr_sqrt(a, a, MPFR_RNDN);
    mpfr_div(z, z, a, MPFR_RNDN);
    mpfr_clears(a, t, (mpfr_ptr)0);
}

static void test_normality(struct distribution *d, const mpfr_t skewness, const mpfr_t kurtosis)
{
    mpfr_t k2, z;
    mpfr_inits2(PRECISION, k2, z, (mpfr_ptr)0);
    z_skewness(z, skewness, d->runs);
    mpfr_sqr(k2, z, MPFR_RNDN);
    z_kurtosis(z, kurtosis, d->runs);
    mpfr_sqr(z, z, MPFR_RNDN);
    mpfr_add(k2, k2, z, MPFR_RNDN);
    d->k2 = known(k2);
    mpfr_div_si(k2, k2, -2, MPFR_RNDN);
    mpfr_exp(k2, k2, MPFR_RNDN);
    d->p = known(k2);
    mpfr_clears(k2, z, (mpfr_ptr)0);
}

/* The largest result minus the least, exact, then rounded. */
static struct figure spread_of(const struct tally *t)
{
    double least = t->item[0].value.value, most = least;
    mpfr_t exact;
    for (size_t i = 1; i < t->count; i++) {
        least = fmin(least, t->item[i].value.value);
        most = fmax(most, t->item[i].value.value);
    }
    mpfr_init2(exact, EXACT_PRECISION);
    mpfr_set_d(exact, most, MPFR_RNDN);
    mpfr_sub_d(exact, exact, least, MPFR_RNDN);
    struct figure spread = known(exact);
    mpfr_clear(exact);
    return spread;
}

static const char *why_not(const struct distribution *d)
{
    if (!d->spread.known)
        return "results that are not finite";
    if (d->spread.value == 0)
        return "one result";
    if (d->distinct < NORMALITY_DISTINCT)
        return "too few different results";
    return d->runs < NORMALITY_RUNS ? "too few runs" : "";
}

void distribution_of(struct distribution *d, const struct tally *t)
{
    bool finite = t->count > 0;
    *d = (struct distribution){.runs = t->runs, .distinct = t->count};
    for (size_t i = 0; i < t->count; i++)
        finite = finite && t->item[i].value.known && isfinite(t->item[i].value.value);
    if (finite)
        d->spread = spread_of(t);
    d->note = why_not(d);
    if (!finite || d->spread.value == 0) /* +0 and -0 differ in bits alone */
        return;
    mpfr_t skewness, kurtosis;
    mpfr_inits2(PRECISION, skewness, kurtosis, (mpfr_ptr)0);
    shape_of(skewness, kurtosis, t);
    d->skewness = known(skewness);
    d->kurtosis = known(kurtosis);
    if (!*d->note)
        test_normality(d, skewness, kurtosis);
    mpfr_clears(skewness, kurtosis, (mpfr_ptr)0);
}
