#include "kernels/product/scaled.h"

#include <math.h>

struct partial scaled(double m, int64_t exponent)
{
    int own = 1;
    if (isfinite(m) && m != 0)
        m = 2 * frexp(m, &own);
    return (struct partial){.significand = m, .exponent = exponent + own - 1};
}

struct partial scaled_element(enum format f, double x)
{
    struct partial whole = scaled(x, 0);
    return scaled(format_round(f, whole.significand), whole.exponent);
}

/* Significands of at most 24 bits have a product that is a double; so it is rounded once. */
struct partial scaled_join(enum format f, struct partial a, struct partial b)
{
    return scaled(format_round(f, a.significand * b.significand), a.exponent + b.exponent);
}

/* Far below the format's smallest number, or above its largest, a double says which. In fp64 ldexp
 * rounds once; in the others it is exact, or all the digits of the format are below its range. */
double scaled_value(enum format f, struct partial a)
{
    enum { BEYOND = 3000 };
    int64_t exponent = a.exponent > BEYOND ? BEYOND : a.exponent < -BEYOND ? -BEYOND : a.exponent;
    return format_round(f, ldexp(a.significand, (int)exponent));
}

static void load(struct partial *to, const struct task *t, size_t begin, size_t count)
{
    double x[ARRAY_BLOCK];
    array_decode(&t->of->in, begin, count, x);
    for (size_t i = 0; i < count; i++)
        to[i] = scaled_element(t->accumulator, x[i]);
}

static void finish(const struct task *t, const struct partial *whole)
{
    double value = whole ? scaled_value(t->accumulator, *whole) : 1;
    array_encode(&t->out, 0, 1, &value);
}

const struct reduction product_reduction = {load, scaled_join, finish};
