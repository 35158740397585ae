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

/* --- scales, where matrices have them --- */

/* The epilogue multiplies by scales and adds C in fp32, which scales are numbers of, or in fp64
 * where sums are. */
static inline enum format gemm_epilogue(enum format accumulator)
{
    return accumulator == FP64 ? FP64 : FP32;
}

/* An element of D from the sum of its products, of which there is one at least. Without scales,
 * sum + c. Else, each step rounded to the epilogue's format: both scales are multiplied, then the
 * sum by that, then C is added. */
static inline double gemm_finished(const struct task *t, double sum, double c)
{
    const struct gemm_shape *s = &t->of->gemm;
    if (s->scaling == GEMM_UNSCALED)
        return format_add(t->accumulator, sum, format_round(t->accumulator, c));
    const enum format f = gemm_epilogue(t->accumulator);
    const double scale = format_round(f, (double)s->scale[0] * (double)s->scale[1]);
    return format_add(f, format_round(f, scale * sum), c);
}

/* sum |x y|, rounded up. */
static inline double gemm_weight(const struct gemm_terms *terms)
{
    double sum = 0;
    for (size_t i = 0; i < terms->k; i++)
        sum += fabs(terms->x[i] * terms->y[i]);
    return sum * (1 + (double)(terms->k + 2) * 0x1p-52);
}

/* How far the sum of an element's products is from the exact one at most, without C and unscaled,
 * added in a tree of this height; and the element of D behind the epilogue, where that sum is off
 * by `of_sum` at most: a `given` of scaled products. */
double gemm_sum_bound(const struct operands *of, enum format f, const struct matrices_packed *p,
                      size_t output, size_t height);
double gemm_scaled_bound(const struct operands *of, enum format f, const struct matrices_packed *p,
                         size_t output, double of_sum);

/* An element of D, which is then rounded to the results' format. */
typedef double gemm_element(const struct task *t, const struct matrices_packed *p, size_t output);

/* Computes each element. Threads are a schedule: each has consecutive ones. */
enum status gemm_each(const struct task *t, gemm_element *element, struct problem *p);
