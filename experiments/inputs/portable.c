#include "experiments/inputs/portable.h"

#include <math.h>

#include "reference/format/format.h"

/* ln 2 in two parts, the first of 42 bits: its product with any exponent of a double is exact. */
static const double ln2_high = 0x1.62e42fefa38p-1, ln2_low = 0x1.ef35793c7673p-45;

double portable_power_of_two(int e)
{
    return double_from_bits((uint64_t)(e + 1023) << 52);
}

/* x = m 2^k with m in [sqrt(1/2), sqrt(2)), x > 0 finite. */
static double split(double x, int *k)
{
    int e = x < 0x1p-1022 ? -54 : 0;
    uint64_t bits = double_bits(e ? x * 0x1p54 : x);
    e += (int)(bits >> 52) - 1023;
    double m = double_from_bits((bits & (UINT64_MAX >> 12)) | double_bits(1));
    *k = m > 1.4142135623730951 ? e + 1 : e;
    return m > 1.4142135623730951 ? m / 2 : m;
}

/* Value of c[0] + c[1] x + ... + c[degree] x^degree. */
static inline double polynomial(const double *c, int degree, double x)
{
    double value = c[degree];
    for (int i = degree - 1; i >= 0; i--)
        value = value * x + c[i];
    return value;
}

/* log(m) = 2 atanh(s), s = f / (2 + f), f = m - 1. As 2 s = f - s f, that is f - s (f - r) with
 * r = 2 s^2/3 + 2 s^4/5 + ...; and s f = f^2/2 - s f^2/2, so the only rounded number that is not
 * small beside f is f^2/2. */
double portable_log(double x)
{
    static const double c[] = {2.0 / 3,  2.0 / 5,  2.0 / 7,  2.0 / 9,  2.0 / 11,
                               2.0 / 13, 2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21};
    if (!(x > 0) || isinf(x))
        return x == 0 ? -INFINITY : x > 0 ? x : NAN;
    int k;
    double f = split(x, &k) - 1;
    double s = f / (2 + f), z = s * s, half = f * f / 2;
    double small = s * (half + z * polynomial(c, 9, z)) + k * ln2_low;
    return k * ln2_high + (f - (half - small));
}

/* exp(x) = 2^k exp(r), |r| <= ln(2)/2 and a bit; Taylor's series to the 14th power. */
double portable_exp(double x)
{
    static const double c[] = {1.0 / 2,          1.0 / 6,        1.0 / 24,        1.0 / 120,
                               1.0 / 720,        1.0 / 5040,     1.0 / 40320,     1.0 / 362880,
                               1.0 / 3628800,    1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800,
                               1.0 / 87178291200};
    if (!(x < 710) || !(x > -746))
        return isnan(x) ? x : x > 0 ? INFINITY : 0;
    int k = (int)floor(x * 1.4426950408889634 + 0.5);
    double high = x - k * ln2_high, low = k * ln2_low;
    double r = high - low, lost = (high - r) - low;
    double value = 1 + (r + (r * r * polynomial(c, 12, r) + lost));
    int half = k / 2; /* 2^k itself may be out of range where the result is not */
    return value * portable_power_of_two(half) * portable_power_of_two(k - half);
}

/* a b - product exactly, where product is a b rounded (Dekker 1971). */
static double product_tail(double a, double b, double product)
{
    double cut_a = a * 0x8000001p0, cut_b = b * 0x8000001p0;
    double a1 = cut_a - (cut_a - a), b1 = cut_b - (cut_b - b), a2 = a - a1, b2 = b - b1;
    return a2 * b2 - (((product - a1 * b1) - a2 * b1) - a1 * b2);
}

/* sin(t + tail) and cos(t + tail) for 0 <= t <= pi/4 and a tail below t's last place. */
static double sin_series(double t, double tail)
{
    static const double c[] = {
        -1.0 / 6,        1.0 / 120,        -1.0 / 5040,          1.0 / 362880,
        -1.0 / 39916800, 1.0 / 6227020800, -1.0 / 1307674368000, 1.0 / 355687428096000};
    double z = t * t;
    return t + (t * (z * polynomial(c, 7, z)) + tail * (1 - z / 2));
}

static double cos_series(double t, double tail)
{
    static const double c[] = {
        1.0 / 24,        -1.0 / 720,         1.0 / 40320,          -1.0 / 3628800,
        1.0 / 479001600, -1.0 / 87178291200, 1.0 / 20922789888000, -1.0 / 6402373705728000};
    double z = t * t, most = 1 - z / 2, lost = (1 - most) - z / 2;
    return most + (lost + (z * (z * polynomial(c, 7, z)) - t * tail));
}

double portable_sin_turns(uint64_t i, uint64_t n)
{
    static const double quarter_pi = 0x1.921fb54442d18p-1, quarter_pi_tail = 0x1.1a62633145c07p-55;
    uint64_t eighths = i % n * 8, octant = eighths / n, rest = eighths % n;
    if (octant & 1)
        rest = n - rest;
    double x = (double)rest, y = x / (double)n, t = y * quarter_pi, back = y * (double)n;
    double lost = ((x - back) - product_tail(y, (double)n, back)) / (double)n; /* x/n - y */
    double tail = product_tail(y, quarter_pi, t) + y * quarter_pi_tail + lost * quarter_pi;
    /* At pi/4, where both serve, always the same one, so that symmetries hold. */
    bool cosine = (octant + 1) & 2 && rest != n;
    double size = cosine ? cos_series(t, tail) : sin_series(t, tail);
    return octant & 4 ? 0 - size : size; /* 0 - 0 is +0 */
}
