#include "kernels/rows/divided.h"

#include "kernels/blocks/product.h"
#include "reference/exact/elementary.h"

double divided_scale(enum exact_value of, enum format f, double square)
{
    double epsilon = format_round(f, exact_facts[of].epsilon);
    return rsqrt_rounded(f, format_add(f, square, epsilon));
}

void divided_away(const double *x, size_t n, enum format f, double mean, double scale, double *y)
{
    for (size_t i = 0; i < n; i++)
        y[i] = product_rounded(f, format_add(f, format_round(f, x[i]), -mean), scale);
}

void divided_plain(const double *x, size_t n, enum format f, double scale, double *y)
{
    for (size_t i = 0; i < n; i++)
        y[i] = product_rounded(f, format_round(f, x[i]), scale);
}
