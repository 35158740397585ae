/* The stage that sum/two_kernel, sum/host_finish and sum/last_block share: grid-stride
 * accumulation.
 *
 * With T threads to a block, B blocks and G = B T, thread g = b T + t adds x[g], x[g + G],
 * x[g + 2 G], ... serially; in each block the threads that have any elements are folded by
 * halving. Blocks without elements are absent: ceil(n / T), but at most B, results. */
#pragma once

#include "kernels/method/method.h"

/* How many blocks have elements. */
size_t grid_stride_blocks(size_t n, struct shape shape);

/* result[b] = the sum of block b's elements, accumulated in f. n >= 1. */
void grid_stride_sums(const struct array *in, enum format f, struct shape shape, double *result);

/* The same additions on nodes; node[b] becomes the result of block b. Marks `o` failed where
 * memory is short. */
void grid_stride_order(struct order *o, struct shape shape, uint32_t *result);

/* The height of block 0's result, which no other block's exceeds. */
size_t grid_stride_height(size_t n, struct shape shape);

/* Fits `resolve`. T: 256 unless asked for. B: ceil(n / T), at least 1 and at most 1024, unless
 * asked for. */
struct shape grid_stride_shape(size_t n, enum device_kind device, struct shape asked);

/* The two-stage tree of sum/two_kernel and sum/last_block: block results are seen as rows of T
 * columns, one for each thread of the block that adds them (kernels/blocks/columns.h). These fit
 * `cpu`, `height` and `order` of a method. */
enum status two_stage_sum(const struct task *t, struct problem *p);
size_t two_stage_height(size_t n, struct shape shape);
void two_stage_order(struct order *o, struct shape shape);
