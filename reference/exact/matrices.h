/* The exact elements of D = A B + C: each the sum of k products and an element of C, with no
 * rounding, overflow or underflow on the way. With scales, elements of A and B are multiplied by
 * them: the terms are products of scaled elements, also where magnitudes are summed.
 *
 * What an element is when it is no plain number: exact.h says it, of the products as IEEE 754 gives
 * them, NaN with infinity times zero, and of the element of C. */
#pragma once

#include "reference/exact/products.h"
#include "reference/exact/scales.h"
#include "reference/base/problem.h"

/* What is multiplied: element (i, k) of A is a.data[i * a_row + k * a_next], and (k, j) of B is
 * b.data[j * b_column + k * b_next]. Element (i, j) of C is number i * n + j. */
struct matrices {
    struct array a, b, c;
    size_t m, n, k;
    size_t a_row, a_next, b_column, b_next;
    struct matrices_scales scale[2]; /* A's and B's: both are scaled, or neither is */
};

/* Element k of a row of A (0), or a column of B (1), scaled: exact, unless it has more digits. */
static inline double matrices_element(const struct matrices *m, int side, size_t line, size_t k)
{
    return matrices_scale(&m->scale[side], line, k) *
           (side == 0 ? array_get(&m->a, line * m->a_row + k * m->a_next)
                      : array_get(&m->b, line * m->b_column + k * m->b_next));
}

/* Numbers are whole ones times 2^lowest, the largest below 2^(lowest + bits): 0 bits where all are
 * zero, MATRICES_NO_BITS where one is not finite. */
struct matrices_line {
    int lowest, bits;
    bool negative; /* one is below 0 */
};
enum { MATRICES_NO_BITS = 1 << 20 };
struct matrices_line matrices_line_of(const double *x, size_t count);

/* The same made ready: each row of A and each column of B consecutive, as doubles. */
struct matrices_packed {
    size_t m, n, k;
    double *a, *b; /* m rows and n columns of k doubles, as they are stored */
    struct array c;
    bool scaled;
    struct matrices_scales scale[2]; /* the caller's */
    struct matrices_line *line[2];   /* of the rows of A and the columns of B, scaled */
    /* Products of A and B may need more than doubles hold: all are summed as `products`. */
    bool wide;
};

/* STATUS_MEMORY when memory is short ((8 k + 12) (m + n) bytes). `of` is read until packed is
 * freed: C and scales stay where they are. */
enum status matrices_pack(struct matrices_packed *p, const struct matrices *of,
                          struct problem *why);
void matrices_free(struct matrices_packed *p);

static inline size_t matrices_outputs(const struct matrices_packed *p)
{
    return p->m * p->n;
}

/* Elements begin .. begin+count-1 of a row of A (0), or a column of B (1), scaled; those that are,
 * in `room`. */
const double *matrices_elements(const struct matrices_packed *p, int side, size_t line,
                                size_t begin, size_t count, double *room);

/* Sets x and y to the k factors of the products that element `output` is the sum of: scaled. */
void matrices_factors(const struct matrices_packed *p, size_t output, double *x, double *y);

/* The exact element number i * n + j: false, and nothing is set, where it needs matrices_products.
 */
bool matrices_sum(const struct matrices_packed *p, size_t output, struct exact *sum);
void matrices_products(const struct matrices_packed *p, size_t output, struct products *sum);

/* Element `output` rounded once to f. */
double matrices_round(const struct matrices_packed *p, size_t output, enum format f);

/* Sets `sum` and `sum_abs`, initialised by the caller, to element `output` and to the sum of the
 * magnitudes of its terms, by MPFR alone; their precision is changed. */
void matrices_mpfr(const struct matrices_packed *p, size_t output, mpfr_t sum, mpfr_t sum_abs);

/* Holds every element to MPFR's: STATUS_FAILED, with `name` and its row and column, where they
 * differ. */
enum status matrices_check(const struct matrices_packed *p, const char *name, struct problem *why);
