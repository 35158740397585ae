/* The all-reduces of kernels/allreduce/ulpscope_nccl.h, for workers in C: compiled by nvcc, and for
 * tests without a GPU by a C compiler. */
#pragma once

#include <nccl.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

size_t nccl_invariant_scratch(size_t n, ncclDataType_t type, int ranks);
ncclResult_t nccl_invariant(const void *in, void *out, size_t n, ncclDataType_t type,
                            unsigned folds, void *scratch, ncclComm_t comm, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
