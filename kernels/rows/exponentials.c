#include "kernels/rows/exponentials.h"

#include <math.h>
#include <stdlib.h>

#include "kernels/blocks/product.h"
#include "kernels/blocks/tiled.h"
#include "reference/exact/elementary.h"

double exponentials_of(enum format f, double x, double max)
{
    return exp_rounded(f, format_add(f, format_round(f, x), -max));
}

/* The greater of m and the elements, rounded; NaN where one is. */
static double greatest(const double *x, size_t n, enum format f, double m)
{
    for (size_t i = 0; i < n; i++) {
        double e = format_round(f, x[i]);
        m = isnan(e) || e > m ? e : m;
    }
    return m;
}

/* From the left; of nothing +0. */
static double sum_of(const double *x, size_t n, enum format f, double max)
{
    double sum = 0; /* exponentials have no -0 */
    for (size_t i = 0; i < n; i++)
        sum = format_add(f, sum, exponentials_of(f, x[i], max));
    return sum;
}

enum status exponentials_serial(const double *x, size_t n, enum format f, struct exponentials *e,
                                struct problem *p)
{
    (void)p;
    e->max = greatest(x, n, f, -INFINITY);
    e->sum = sum_of(x, n, f, e->max);
    return STATUS_OK;
}

enum status exponentials_tiled(const double *x, size_t n, enum format f, struct exponentials *e,
                               struct problem *p)
{
    double *term = malloc((n + 1) * sizeof *term);
    enum status status = STATUS_OK;
    if (!term)
        return problem(p, STATUS_MEMORY, "device cpu: no memory for %zu exponentials", n);
    *e = (struct exponentials){greatest(x, n, f, -INFINITY), 0};
    for (size_t i = 0; i < n; i++)
        term[i] = exponentials_of(f, x[i], e->max);
    if (n > 0)
        status = tiled_alone(&(struct array){FP64, n, term}, f, &e->sum, p);
    free(term);
    return status;
}

/* s exp(m - m') */
static double rescaled(enum format f, double sum, double max, double other)
{
    return product_rounded(f, sum, exp_rounded(f, format_add(f, max, -other)));
}

enum status exponentials_online(const double *x, size_t n, enum format f, struct exponentials *e,
                                struct problem *p)
{
    (void)p;
    *e = (struct exponentials){-INFINITY, 0};
    for (size_t i = 0; i < n; i++) {
        double next = format_round(f, x[i]);
        if (next == -INFINITY)
            continue;
        if (next > e->max && e->max > -INFINITY)
            e->sum = format_add(f, rescaled(f, e->sum, e->max, next),
                                exponentials_of(f, next, next)); /* 1, or of +inf NaN */
        else
            e->sum = format_add(f, e->sum, exponentials_of(f, next, next > e->max ? next : e->max));
        e->max = next > e->max || isnan(next) ? next : e->max;
    }
    if (n > 0 && e->max == -INFINITY)
        e->sum = NAN;
    return STATUS_OK;
}

enum status exponentials_flash(const double *x, size_t n, enum format f, struct exponentials *e,
                               struct problem *p)
{
    (void)p;
    *e = (struct exponentials){-INFINITY, 0};
    for (size_t begin = 0, count; begin < n; begin += count) {
        count = n - begin < EXPONENTIALS_BLOCK ? n - begin : EXPONENTIALS_BLOCK;
        double max = greatest(x + begin, count, f, e->max);
        if (max == -INFINITY) /* masked so far */
            continue;
        double sum = sum_of(x + begin, count, f, max);
        double before = e->max == -INFINITY ? 0 : rescaled(f, e->sum, e->max, max);
        *e = (struct exponentials){max, format_add(f, before, sum)};
    }
    if (n > 0 && e->max == -INFINITY)
        e->sum = NAN;
    return STATUS_OK;
}

enum status exponentials_split(const double *x, size_t n, enum format f, struct exponentials *e,
                               struct problem *p)
{
    size_t length = n / EXPONENTIALS_PARTS + (n % EXPONENTIALS_PARTS != 0);
    struct exponentials part[EXPONENTIALS_PARTS];
    size_t parts = 0;
    double max = -INFINITY;
    (void)p;
    for (size_t begin = 0; begin < n; begin += length) {
        size_t count = n - begin < length ? n - begin : length;
        struct exponentials one;
        exponentials_serial(x + begin, count, f, &one, p);
        if (one.max == -INFINITY) /* masked */
            continue;
        max = isnan(one.max) || one.max > max ? one.max : max;
        part[parts++] = one;
    }
    *e = (struct exponentials){max, n > 0 && parts == 0 ? NAN : 0};
    for (size_t k = 0; k < parts; k++)
        e->sum = format_add(f, e->sum, rescaled(f, part[k].sum, part[k].max, max));
    return STATUS_OK;
}

/* ---- heights ---- */

#define HEIGHTS(order, of_terms)                                                                   \
    size_t exponentials_##order##_height(size_t terms, struct shape shape)                         \
    {                                                                                              \
        (void)shape;                                                                               \
        return of_terms;                                                                           \
    }                                                                                              \
    size_t exponentials_##order##_bin(const size_t *element, size_t terms, size_t n, size_t bins)  \
    {                                                                                              \
        (void)element, (void)n, (void)bins;                                                        \
        return exponentials_##order##_height(terms, (struct shape){0});                            \
    }

static size_t ceiling(size_t terms, size_t by)
{
    return terms / by + (terms % by != 0);
}

HEIGHTS(serial, terms - 1)
HEIGHTS(tiled, tiled_height(terms, (struct shape){0}))
/* A step is an addition, or an exponential, a product and an addition. */
HEIGHTS(online, 3 * (terms - 1))
HEIGHTS(flash, (terms < EXPONENTIALS_BLOCK ? terms : EXPONENTIALS_BLOCK) - 1 +
                   3 * (ceiling(terms, EXPONENTIALS_BLOCK) - 1))
HEIGHTS(split, ceiling(terms, EXPONENTIALS_PARTS) - 1 + 2 + EXPONENTIALS_PARTS - 1)
