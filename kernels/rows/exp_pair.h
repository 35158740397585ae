/* exp, as the sum of two doubles: what decides how a result rounds where a double does not.
 * Included by C and by CUDA; the build lets no compiler contract what stands here.
 *
 * The error, |x| <= 150: k = rint(x / log 2), |k| < 2^8; HI has 42 bits, so k HI is exact, and so
 * is x - k HI, of an x of at most 53 bits after the point. What k LO rounds is kept, and k LO2
 * errs by less than 2^-140. r / 32 is below 2^-6.5, where the polynomial lacks less than r^13/13!
 * < 2^-116, and its operations on pairs round by less than 2^-102, relatively. Five squarings
 * multiply that by 32: all in all less than 2^-95. */
#pragma once

#include <math.h>

#ifdef __CUDACC__
#define PAIR_INLINE static __host__ __device__ inline
#else
#define PAIR_INLINE static inline
#endif

/* hi + lo, |lo| at most about an ulp of hi. */
struct double_pair {
    double hi, lo;
};

/* |a| >= |b|, or a = 0 */
PAIR_INLINE struct double_pair pair_of(double a, double b)
{
    struct double_pair y;
    y.hi = a + b;
    y.lo = b - (y.hi - a);
    return y;
}

PAIR_INLINE struct double_pair pair_plus(struct double_pair a, struct double_pair b)
{
    double sum = a.hi + b.hi, of_b = sum - a.hi;
    double rest = (a.hi - (sum - of_b)) + (b.hi - of_b);
    return pair_of(sum, rest + (a.lo + b.lo));
}

PAIR_INLINE struct double_pair pair_times(struct double_pair a, struct double_pair b)
{
    double product = a.hi * b.hi, rest = fma(a.hi, b.hi, -product);
    return pair_of(product, rest + (a.hi * b.lo + a.lo * b.hi));
}

/* exp(x), |x| <= 150, to within 2^-95 of it. */
PAIR_INLINE struct double_pair exp_pair(double x)
{
    const double per_log2 = 0x1.71547652b82fep+0, hi = 0x1.62e42fefa38p-1,
                 lo = 0x1.ef35793c7673p-45, lo2 = 0x1.f97b57a079a19p-103;
    /* 1/2!, 1/3!, ..., 1/6! */
    const struct double_pair high[] = {{0.5, 0},
                                       {0x1.5555555555555p-3, 0x1.5555555555555p-57},
                                       {0x1.5555555555555p-5, 0x1.5555555555555p-59},
                                       {0x1.1111111111111p-7, 0x1.1111111111111p-63},
                                       {0x1.6c16c16c16c17p-10, -0x1.f49f49f49f49fp-65}};
    /* 1/7!, 1/8!, ..., 1/12! */
    const double low[] = {0x1.a01a01a01a01ap-13, 0x1.a01a01a01a01ap-16, 0x1.71de3a556c734p-19,
                          0x1.27e4fb7789f5cp-22, 0x1.ae64567f544e4p-26, 0x1.1eed8eff8d898p-29};
    double k = rint(x * per_log2), by_lo = k * lo;
    struct double_pair r = {x - k * hi, 0}, away = {-by_lo, -fma(k, lo, -by_lo) - k * lo2};
    r = pair_plus(r, away);
    r.hi /= 32;
    r.lo /= 32;
    double tail = low[5];
    for (int i = 4; i >= 0; i--)
        tail = low[i] + r.hi * tail;
    struct double_pair sum = {tail, 0}, one = {1, 0};
    for (int i = 4; i >= 0; i--)
        sum = pair_plus(high[i], pair_times(r, sum));
    sum = pair_plus(one, pair_plus(r, pair_times(r, pair_times(r, sum))));
    for (int i = 0; i < 5; i++)
        sum = pair_times(sum, sum);
    sum.hi = ldexp(sum.hi, (int)k);
    sum.lo = ldexp(sum.lo, (int)k);
    return sum;
}

/* log(x) of a value x > 0 of fp32 or narrower, x != 1, from `near`, its double to within 2^-50 of
 * it: log x = near + e - e^2 / 2 + ..., e = x exp(-near) - 1. To within 2^-95, absolutely; log x is
 * no less than 2^-24. */
PAIR_INLINE struct double_pair log_pair(double x, double near)
{
    struct double_pair by = {x, 0}, y = pair_times(exp_pair(-near), by);
    double e = (y.hi - 1) + y.lo;
    return pair_of(near, e - e * e / 2);
}

/* The sign of 1 / sqrt(x) - m for a value x > 0 of fp32 or narrower and an m of at most 25 bits
 * near it: it is that of 1 - m^2 x, whose product has two doubles, exactly. It is not 0 where m has
 * 25 bits. */
PAIR_INLINE double rsqrt_beyond(double x, double m)
{
    double square = m * m, product = square * x, rest = fma(square, x, -product);
    return (1 - product) - rest;
}
