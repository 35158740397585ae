/* Special inputs of matrix products: an element of D is a sum of products, of which the last is C
 * times 1. All rows of A are alike, and all columns of B, so that all elements of D are judged by
 * the same terms. */
#pragma once

#include "experiments/conformance/judge.h"
#include "kernels/method/gemm.h"

/* Is the method a matrix product? A scan? Does it read two arrays, whose products it adds? */
bool special_multiplies(const struct method *m);
bool special_is_scan(const struct method *m);
/* Does it read rows of a matrix? They are tried as one row. */
bool special_reads_rows(const struct method *m);
bool special_reads_two(const struct method *m);

/* The shape for n terms, C among them where it is taken. */
struct gemm_shape special_product_shape(const struct method *m, size_t n);

/* Makes the last product one of C: what the results' format holds, times 1. What models of matrix
 * instructions do not read of fp32 becomes 0. */
void special_product_settle(const struct conformance_subject *s, const struct special_input *in);

/* Puts the terms into the subject's operands. */
void special_product_fill(const struct conformance_subject *s, const struct array *operands,
                          const struct array *c, const struct special_input *in);

/* The bound of a model on an element, infinite where it says nothing. STATUS_MEMORY. */
enum status special_product_bound(double *bound, const struct conformance_subject *s,
                                  const struct special_input *in, struct problem *p);
