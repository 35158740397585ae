/* Scales of A and B of matrix products from files: numbers of fp32 that elements of 8 bits are
 * multiplied by, as libraries take them. An array has the shape of its matrix as that lies in its
 * file (:t: transposed), but for
 *
 *     1 in place of K: one for each row of A, or column of B; or in place of all: a number
 *     ceil(K / 128) in place of K: one for 128 elements of a row, or a column
 *     and ceil(LINES / 128) in place of rows of A, or columns of B, too: one for 128 x 128 elements
 *
 * In one dimension they are one for each row of A, or column of B. Where those of A or of B change
 * along k, the shape is of GEMM_SCALED_BLOCKS, else, unless both are one number, of
 * GEMM_SCALED_OUTER; no way to read an array gives an element another number. */
#pragma once

#include "experiments/data/data.h"
#include "experiments/operations/shape.h"
#include "experiments/options/options.h"
#include "reference/exact/matrices.h"

struct given_scales {
    struct matrices_scales of[2]; /* A's and B's */
    float *number[2];
    char *name;    /* the names of the files, with a comma between them */
    char hash[33]; /* XXH3 128 of all numbers, and of how many elements share one */
};
void scales_free(struct given_scales *g); /* or NULL */

/* Reads two files of scales of the matrices in `parts` files, of shape s, which has them then;
 * where *g is there it has read them. What is no fp32, fp16 or bf16, or not finite and above 0, has
 * another shape, or is of matrices that are not of 8 bits: STATUS_DATA. Scales that s asks for
 * already and that are not of this kind, and matrices that were converted: STATUS_USAGE. */
enum status scales_take(struct given_scales **g, struct gemm_shape *s, const struct data *part,
                        size_t parts, const struct list *files, struct problem *p);

/* Of the product of rows 0, step[0], 2 step[0], ... of A and such columns of B: `is` has the scales
 * of `was`, which are the caller's; *g is due. STATUS_MEMORY. */
enum status scales_part(struct given_scales **g, struct gemm_shape *is,
                        const struct gemm_shape *was, const size_t step[2], struct problem *p);
/* Writes those of A (0) or B (1) as scales_take reads them. */
enum status scales_write(const char *path, const struct gemm_shape *s, int side, struct problem *p);
