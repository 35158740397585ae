/* Shapes of matrix products, as --shape asks for them: MxNxK, A of M x K and B of K x N elements.
 *
 *     :nt :tn :tt   which of A and B are column-major, t; where nothing is said, :nn, neither
 *     :pad=P        their leading dimensions are P elements longer than they need to be
 *     :c=0          C is zeros: D = A B
 *     :mixed        B is of the 8-bit format that --storage is not
 *     :scale=SxT    D = S T A B + C, of A and B of 8 bits: numbers of fp32 above 0
 *     :scale=auto   A and B are quantised by a scale each (quantise.h)
 *     :scale=outer  the same by a scale for each row of A and each column of B
 *     :scale=blocks the same by a scale for 128 elements of a row of A, and for 128 x 128 of B;
 *                   with --scales (scales.h) outer and blocks say what the files have
 *     :tf32         A and B, of fp32, are rounded to tf32 */
#pragma once

#include "kernels/method/gemm.h"
#include "reference/base/problem.h"

enum { SHAPE_NAME = 128, SHAPE_MOST = 1 << 20 };

/* STATUS_USAGE for what is none: each number is at most SHAPE_MOST, and all elements together are
 * as many as memory may ever hold. */
enum status shape_parse(struct gemm_shape *s, const char *text, struct problem *p);
/* The same, and `mixed`, `scale` and `tf32` too, which shape_parse refuses. */
enum status shape_parse_all(struct gemm_shape *s, const char *text, struct problem *p);
void shape_name(char text[SHAPE_NAME], const struct gemm_shape *s);
/* A scale in the fewest digits that are read as the same number. */
void shape_scale_name(char text[16], float x);

/* What run gemm alone takes, of our methods: in words for a message, "matrices of one format: run
 * gemm alone ..."; NULL: it asks for nothing of the kind. And why a GPU is not asked for it: "no
 * method on a GPU multiplies matrices of two formats". */
const char *shape_expected(const struct gemm_shape *s);
const char *shape_asked(const struct gemm_shape *s);

/* A chip by name: STATUS_USAGE for what `list chips` does not have. */
enum status chip_parse(const char **chip, const char *text, struct problem *p);

/* The u-th shape for n elements, which may be more than it takes: flat, cubic, one row, one column;
 * in several layouts; with C or without. */
struct gemm_shape shape_fitting(size_t n, size_t u, bool no_c);

static inline bool shape_equal(const struct gemm_shape *a, const struct gemm_shape *b)
{
    return a->m == b->m && a->n == b->n && a->k == b->k && a->a_column == b->a_column &&
           a->b_column == b->b_column && a->pad == b->pad && a->no_c == b->no_c &&
           a->mixed == b->mixed && a->tf32 == b->tf32 && a->scaling == b->scaling &&
           a->scale[0] == b->scale[0] && a->scale[1] == b->scale[1] && a->given == b->given;
}
