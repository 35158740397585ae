/* Matrix products by fused multiply-adds, in an order that a method chooses. */
#pragma once

#include "kernels/blocks/running_sum.cuh"
#include "kernels/gemm/elements.cuh"

namespace gemm
{

enum finish {
    START_WITH_C, /* one chain, which begins at C */
    ADD_C,        /* chains' sums added up, scaled where matrices are, and C last */
    WRITE_SLICES, /* the sum of slice s of element i goes to sums[s x outputs + i] */
    ADD_TO_CELLS  /* and is added there, atomically, to cell i of a running_sum */
};

/* Enqueues the chains. The k products are cut into `slices` of `length`, each of which is of other
 * blocks of threads; within a slice, a chain has `chain` products, a multiple of 16 or all of the
 * slice. A chain begins at -0, so that its first product is rounded. Where scales change along k
 * (GEMM_SCALED_BLOCKS), they do with chains, there is one slice, and ADD_C alone. A cudaError_t. */
int enqueue_products(const struct cuda_task *t, enum finish finish, size_t slices, size_t length,
                     size_t chain, void *sums);

} // namespace gemm
