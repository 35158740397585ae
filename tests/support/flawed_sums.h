/* Sums whose order depends on what is summed, or that do more than round each addition: subjects
 * that reveal may not show a tree of. Elements and results are numbers of the format f. */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "reference/format/format.h"

enum flaw {
    FLAW_NONE,
    FLAW_APART,      /* positive and negative elements apart */
    FLAW_ASCENDING,  /* sorted by magnitude first */
    FLAW_DESCENDING, /* the same, from the largest down */
    FLAW_SIGN,       /* backwards where the first element is negative */
    FLAW_LARGE_LAST, /* the largest element is added last */
    FLAW_NARROW,     /* by halves where the largest is below twice the smallest */
    FLAW_EQUAL,      /* by halves where all are equal */
    FLAW_ORDERS,     /* those before: the order depends on the data, or on nothing */
    FLAW_NEUMAIER = FLAW_ORDERS,
    FLAW_KAHAN,
    FLAW_KAHAN_END,   /* from the last element on; what the last addition lost is added */
    FLAW_KAHAN_LANES, /* two sums, added without what they lost */
    FLAW_FP64,        /* in fp64, rounded at the end */
    FLAW_BLOCKS, /* four at a time in fp64, whose sums are rounded and added one after the other */
    FLAW_FIXED,  /* in fixed point, what lies below 2^-16 cut off */
    FLAWS
};

static inline int flaw_ascending(const void *a, const void *b)
{
    double x = fabs(*(const double *)a), y = fabs(*(const double *)b);
    return (x > y) - (x < y);
}

static inline double flaw_plain(enum format f, const double *x, size_t n)
{
    double sum = n ? x[0] : 0;
    for (size_t i = 1; i < n; i++)
        sum = format_add(f, sum, x[i]);
    return sum;
}

static inline double flaw_backwards(enum format f, const double *x, size_t n)
{
    double sum = n ? x[n - 1] : 0;
    for (size_t i = n; i-- > 1;)
        sum = format_add(f, sum, x[i - 1]);
    return sum;
}

static inline double flaw_halves(enum format f, const double *x, size_t n)
{
    size_t half = n / 2;
    return n < 2 ? (n ? x[0] : 0)
                 : format_add(f, flaw_halves(f, x, half), flaw_halves(f, x + half, n - half));
}

static inline double flaw_narrow(enum format f, const double *x, size_t n, double times)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        low = fmin(low, x[i]);
        high = fmax(high, x[i]);
    }
    bool narrow = n > 1 && low > 0 && (times > 1 ? high < times * low : high == low);
    return narrow ? flaw_halves(f, x, n) : flaw_plain(f, x, n);
}

static inline double flaw_fixed(enum format f, const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += trunc(ldexp(x[i], 16));
    return format_round(f, ldexp(sum, -16));
}

static inline double flaw_blocks(enum format f, const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i += 4) {
        double block = format_round(f, flaw_plain(FP64, x + i, n - i < 4 ? n - i : 4));
        sum = i ? format_add(f, sum, block) : block;
    }
    return sum;
}

static inline double flaw_apart(enum format f, const double *x, size_t n)
{
    double positive = 0, negative = 0;
    for (size_t i = 0; i < n; i++)
        if (x[i] > 0)
            positive = format_add(f, positive, x[i]);
        else
            negative = format_add(f, negative, x[i]);
    return format_add(f, positive, negative);
}

static inline double flaw_neumaier(enum format f, const double *x, size_t n)
{
    double sum = n ? x[0] : 0, lost = 0;
    for (size_t i = 1; i < n; i++) {
        double next = format_add(f, sum, x[i]);
        double large = fabs(sum) >= fabs(x[i]) ? sum : x[i], small = large == sum ? x[i] : sum;
        if (isfinite(next))
            lost = format_add(f, lost, format_add(f, small, -format_add(f, next, -large)));
        sum = next;
    }
    return format_add(f, sum, lost);
}

/* Every step-th element, from the first on. */
static inline double flaw_kahan(enum format f, const double *x, size_t n, size_t step)
{
    double sum = n ? x[0] : 0, lost = 0;
    for (size_t i = step; i < n; i += step) {
        double y = format_add(f, x[i], lost), next = format_add(f, sum, y);
        lost = isfinite(next) ? format_add(f, y, -format_add(f, next, -sum)) : 0;
        sum = next;
    }
    return sum;
}

static inline double flaw_kahan_end(enum format f, const double *x, size_t n)
{
    double sum = n ? x[n - 1] : 0, lost = 0;
    for (size_t i = n; i-- > 1;) {
        double y = format_add(f, x[i - 1], lost), next = format_add(f, sum, y);
        lost = isfinite(next) ? format_add(f, y, -format_add(f, next, -sum)) : 0;
        sum = next;
    }
    return format_add(f, sum, lost);
}

static inline double flaw_kahan_lanes(enum format f, const double *x, size_t n)
{
    double even = flaw_kahan(f, x, n, 2);
    return n > 1 ? format_add(f, even, flaw_kahan(f, x + 1, n - 1, 2)) : even;
}

/* x[] is overwritten. */
static inline double flawed_sum(enum flaw flaw, enum format f, double *x, size_t n)
{
    switch (flaw) {
    case FLAW_APART:
        return flaw_apart(f, x, n);
    case FLAW_ASCENDING:
        qsort(x, n, sizeof *x, flaw_ascending);
        return flaw_plain(f, x, n);
    case FLAW_DESCENDING:
        qsort(x, n, sizeof *x, flaw_ascending);
        return flaw_backwards(f, x, n);
    case FLAW_SIGN:
        return n && x[0] < 0 ? flaw_backwards(f, x, n) : flaw_plain(f, x, n);
    case FLAW_LARGE_LAST:
        for (size_t i = 1; i < n; i++)
            if (fabs(x[i - 1]) > fabs(x[i])) {
                double large = x[i - 1];
                x[i - 1] = x[i];
                x[i] = large;
            }
        return flaw_plain(f, x, n);
    case FLAW_NARROW:
        return flaw_narrow(f, x, n, 2);
    case FLAW_EQUAL:
        return flaw_narrow(f, x, n, 1);
    case FLAW_NEUMAIER:
        return flaw_neumaier(f, x, n);
    case FLAW_KAHAN:
        return flaw_kahan(f, x, n, 1);
    case FLAW_KAHAN_END:
        return flaw_kahan_end(f, x, n);
    case FLAW_KAHAN_LANES:
        return flaw_kahan_lanes(f, x, n);
    case FLAW_FP64:
        return format_round(f, flaw_plain(FP64, x, n));
    case FLAW_FIXED:
        return flaw_fixed(f, x, n);
    case FLAW_BLOCKS:
        return flaw_blocks(f, x, n);
    case FLAW_NONE:
    case FLAWS:
        break;
    }
    return flaw_plain(f, x, n);
}
