/* What methods of matrix products share: the elements of D taken one by one. */
#pragma once

#include <math.h>

#include "kernels/blocks/product.h"
#include "kernels/gemm/slices.h"
#include "kernels/method/method.h"
#include "reference/exact/matrices.h"

/* The format of B, which is A's, or the other one of 8 bits. */
static inline enum format gemm_format_of_b(const struct gemm_shape *s, enum format of_a)
{
    return !s->mixed ? of_a : of_a == E4M3 ? E5M2 : E4M3;
}

/* The operands as reference/exact/ reads them. */
struct matrices gemm_matrices(const struct operands *of);

/* The terms of an element of D: k products x y, and c. */
struct gemm_terms {
    const double *x, *y;
    size_t k;
    double c;
};

static inline struct gemm_terms gemm_terms_of(const struct matrices_packed *p, size_t output)
{
    return (struct gemm_terms){p->a + output / p->n * p->k, p->b + output % p->n * p->k, p->k,
                               array_get(&p->c, output)};
}

/* sum + x y rounded once to the accumulator, whose value `sum` is. */
static inline double gemm_append(const struct task *t, double sum, double x, double y)
{
    if (t->accumulator == FP32 && t->of->in.format != FP64)
        return fmaf((float)x, (float)y, (float)sum);
    return product_fused(t->accumulator, sum, x, y);
}

/* The sum of products begin .. end-1, one after the other, of which there is one at least: the
 * first is rounded, the others are fused into the additions. */
static inline double gemm_products(const struct task *t, const struct gemm_terms *terms,
                                   size_t begin, size_t end)
{
    double sum = product_rounded(t->accumulator, terms->x[begin], terms->y[begin]);
    for (size_t k = begin + 1; k < end; k++)
        sum = gemm_append(t, sum, terms->x[k], terms->y[k]);
    return sum;
}

/* An element of D, which is then rounded to the results' format. */
typedef double gemm_element(const struct task *t, const struct matrices_packed *p, size_t output);

/* Computes each element. Threads are a schedule: each has consecutive ones. */
enum status gemm_each(const struct task *t, gemm_element *element, struct problem *p);
