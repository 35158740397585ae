/* What methods of matrix products share: the elements of D taken one by one. */
#pragma once

#include <math.h>

#include "kernels/blocks/product.h"
#include "kernels/gemm/scales.h"
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

/* sum + x[0] y[0] + x[1] y[1] + ... one after the other, each product fused into its addition,
 * which is rounded to the accumulator, whose value `sum` is. */
double gemm_chain(const struct task *t, double sum, const double *x, const double *y, size_t count);

/* The sum of products begin .. end-1, one after the other, of which there is one at least: the
 * first is rounded, the others are fused into the additions. */
static inline double gemm_products(const struct task *t, const struct gemm_terms *terms,
                                   size_t begin, size_t end)
{
    double sum = product_rounded(t->accumulator, terms->x[begin], terms->y[begin]);
    return gemm_chain(t, sum, terms->x + begin + 1, terms->y + begin + 1, end - begin - 1);
}

/* --- scales, where matrices have them --- */

/* The epilogue multiplies by scales and adds C in fp32, which scales are numbers of, or in fp64
 * where sums are. */
static inline enum format gemm_epilogue(enum format accumulator)
{
    return accumulator == FP64 ? FP64 : FP32;
}

/* The scales of A and B, multiplied, of an element's products from k on; and that rounded. */
static inline double gemm_sigma(const struct matrices_packed *p, size_t output, size_t k)
{
    return matrices_scale(&p->scale[0], output / p->n, k) *
           matrices_scale(&p->scale[1], output % p->n, k);
}

static inline double gemm_scale(const struct task *t, const struct matrices_packed *p,
                                size_t output, size_t k)
{
    return format_round(gemm_epilogue(t->accumulator), gemm_sigma(p, output, k));
}

/* The sum of all parts of an element's products up to the one that begins at product k, and has the
 * sum `part`; `sum` is that of the parts before it. Where scales change along k, parts are within
 * their blocks, and the sum is one of the epilogue's format: the first part times its scales, which
 * are multiplied and rounded before, then each other part times its own, fused into the addition.
 * Else parts are added in the accumulator, and scaled in the end. */
static inline double gemm_with_part(const struct task *t, const struct matrices_packed *p,
                                    size_t output, size_t k, double sum, double part)
{
    if (t->of->gemm.scaling != GEMM_SCALED_BLOCKS)
        return k == 0 ? part : format_add(t->accumulator, sum, part);
    const enum format f = gemm_epilogue(t->accumulator);
    const double scale = gemm_scale(t, p, output, k);
    return k == 0 ? format_round(f, scale * part) : product_fused(f, sum, scale, part);
}

/* An element of D from the sum of its products, of which there is one at least. Without scales,
 * sum + c. Else, each step rounded to the epilogue's format: both scales are multiplied, then the
 * sum by that, unless its parts are scaled, then C is added. */
static inline double gemm_finished(const struct task *t, const struct matrices_packed *p,
                                   size_t output, double sum)
{
    const enum gemm_scaling scaling = t->of->gemm.scaling;
    const double c = array_get(&p->c, output);
    if (scaling == GEMM_UNSCALED)
        return format_add(t->accumulator, sum, format_round(t->accumulator, c));
    const enum format f = gemm_epilogue(t->accumulator);
    const double scaled =
        scaling == GEMM_SCALED_BLOCKS ? sum : format_round(f, gemm_scale(t, p, output, 0) * sum);
    return format_add(f, scaled, c);
}

/* sum |x y|, rounded up. */
static inline double gemm_weight(const struct gemm_terms *terms)
{
    double sum = 0;
    for (size_t i = 0; i < terms->k; i++)
        sum += fabs(terms->x[i] * terms->y[i]);
    return sum * (1 + (double)(terms->k + 2) * 0x1p-52);
}

/* An element's products begin .. end-1, without C. */
static inline struct gemm_terms gemm_terms_part(const struct matrices_packed *p, size_t output,
                                                size_t begin, size_t end)
{
    const struct gemm_terms all = gemm_terms_of(p, output);
    return (struct gemm_terms){all.x + begin, all.y + begin, end - begin, 0};
}

/* How far the sum of these products is from the exact one at most, unscaled, added in a tree of
 * this height. */
double gemm_sum_bound(const struct operands *of, enum format f, const struct gemm_terms *terms,
                      size_t height);

/* The bound on an element of D behind the epilogue, a `given` of scaled products. Begins as zeros;
 * each part of the products is added, in order, with how far its sum is off at most, unscaled; then
 * C, and the rest. */
struct gemm_scaled {
    double most, error; /* |sum of the parts so far|, computed, and how far it is off, at most */
};
void gemm_scaled_add(struct gemm_scaled *s, enum format f, const struct matrices_packed *p,
                     size_t output, size_t begin, size_t end, double of_sum);
double gemm_scaled_end(const struct gemm_scaled *s, enum format f, double c);
/* The same of one part. */
double gemm_scaled_bound(enum format f, const struct matrices_packed *p, size_t output,
                         double of_sum);
/* The same of products that are added in one tree of this height. */
double gemm_scaled_tree(const struct operands *of, enum format f, const struct matrices_packed *p,
                        size_t output, size_t height);

/* An element of D, which is then rounded to the results' format. */
typedef double gemm_element(const struct task *t, const struct matrices_packed *p, size_t output);

/* Computes each element. Threads are a schedule: each has consecutive ones. */
enum status gemm_each(const struct task *t, gemm_element *element, struct problem *p);

/* The same of elements begin .. end-1, many at a time, into t->out. */
typedef void gemm_range(const struct task *t, const struct matrices_packed *p, size_t begin,
                        size_t end);
enum status gemm_many(const struct task *t, gemm_range *range, struct problem *p);
