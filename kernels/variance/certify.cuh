/* When do enclosures of the sum and of the sum of squares tell the variance? */
#pragma once

#include "kernels/mean/quotient.cuh"
#include "kernels/blocks/enclosure.cuh"

/* n squares - sum^2, enclosed: two products as two doubles each, exactly, what two enclosed numbers
 * lack added to them. Fewer than 12 roundings, each of no more than the magnitudes of all but the
 * leading terms. Only where nothing underflows. */
__device__ inline enclosed scatter_times_n(const enclosed &sum, const enclosed &squares, double n)
{
    double a = __dmul_rn(squares.sum, n), a_low = __fma_rn(squares.sum, n, -a);
    double b = __dmul_rn(sum.sum, sum.sum), b_low = __fma_rn(sum.sum, sum.sum, -b);
    double lead = __dsub_rn(a, b), rest = lost(a, -b, lead);
    double c = __dmul_rn(squares.error, n), d = __dmul_rn(2 * sum.sum, sum.error);
    double e = __dmul_rn(sum.error, sum.error);
    double small =
        __dadd_rn(__dadd_rn(rest, __dsub_rn(a_low, b_low)), __dsub_rn(c, __dadd_rn(d, e)));
    double sizes = __dadd_ru(__dadd_ru(fabs(rest), __dadd_ru(fabs(a_low), fabs(b_low))),
                             __dadd_ru(__dadd_ru(fabs(c), fabs(d)), e));
    double off_sum = __dmul_ru(__dadd_ru(__dmul_ru(3, fabs(sum.sum)), sum.off), sum.off);
    double off = __dadd_ru(__dadd_ru(__dmul_ru(squares.off, n), off_sum),
                           __dadd_ru(__dmul_ru(sizes, 0x1p-49), 0x1p-1000));
    bool fine = a > 0x1p-900 && a < 0x1p1000 && (b == 0 ? sum.sum == 0 : b > 0x1p-900);
    return enclosed(lead, small, fine ? off : INFINITY);
}

/* x / n^2 rounded once, where all that is enclosed rounds to one value. */
template <typename A> __device__ inline bool divide_twice(const enclosed &x, double n, A *result)
{
    *result = rounded<A>(__ddiv_rd(__ddiv_rd(x.low, n), n));
    return same(*result, rounded<A>(__ddiv_ru(__ddiv_ru(x.high, n), n)));
}

/* x less v n^2, and what that may be off by, which is a rounding of each of its terms. */
__device__ inline double less_product(double x, double v, double n, double *off)
{
    double w = __dmul_rn(v, n), w_low = __fma_rn(v, n, -w);
    double p = __dmul_rn(w, n), p_low = __fma_rn(w, n, -p), c = __dmul_rn(w_low, n);
    double far = __dsub_rn(x, p);
    *off = __dmul_ru(__dadd_ru(__dadd_ru(fabs(far), fabs(p_low)), fabs(c)), 0x1p-50);
    return __dsub_rn(__dsub_rn(far, p_low), c);
}

/* In fp64: the nearest double v, found in two steps, where x less v n^2 is below half of n^2 times
 * the distance between doubles. */
template <> __device__ inline bool divide_twice(const enclosed &x, double n, double *result)
{
    double off, v = __ddiv_rn(__ddiv_rn(x.sum, n), n);
    v = __dadd_rn(v, __ddiv_rn(__ddiv_rn(less_product(x.sum, v, n, &off), n), n));
    double rest = less_product(x.sum, v, n, &off);
    double room = __dmul_rd(__dmul_rd(gap_below(v), n), n);
    *result = v;
    return v > 0x1p-900 && x.sum > 0x1p-900 && x.within(rest, __dsub_rd(room / 2, off));
}

/* The variance of n >= 1 elements, if it can be told. */
template <typename A>
__device__ inline bool certify_variance(const enclosed &sum, const enclosed &squares, size_t n,
                                        A *result)
{
    enclosed x = scatter_times_n(sum, squares, (double)n);
    return x.low > 0 && x.high < INFINITY && divide_twice(x, (double)n, result);
}
