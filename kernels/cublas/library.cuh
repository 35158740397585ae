/* cuBLAS as the methods under cublas/ call it: products of the input with ones, which are sums,
 * since to multiply by 1 rounds nothing; dot products and norms.
 *
 * There is one handle for a device, made when a workspace is asked for. Each call gives it the
 * task's stream and workspace, so that no other call shares these. A workspace holds cuBLAS's own
 * part, places for results, and the ones, which prepare fills in once.
 *
 * Counts are those of cuBLAS's 64-bit interface. What a routine does not support is
 * cudaErrorNotSupported. */
#ifndef ULPSCOPE_CUBLAS_LIBRARY_CUH
#define ULPSCOPE_CUBLAS_LIBRARY_CUH

#include "kernels/cublas/routines.cuh"
#include "kernels/device/device.cuh"

namespace cublas
{

enum mode { mode_default, mode_pedantic, mode_tf32 };

/* The other factor of a gemm has so many equal columns, as many as a tensor core takes at the
 * least; the sum is the first of as many equal results. */
constexpr size_t columns = 8;

size_t vector_workspace(const struct cuda_task *t);
int vector_prepare(const struct cuda_task *t);
/* The same for what needs no ones. */
size_t bare_workspace(const struct cuda_task *t);
/* The dot product with the second array, or with ones where there is none; executed in fp32, or in
 * fp64 on fp64. */
int dot(const struct cuda_task *t);
/* The 2-norm of the input by nrm2; executed in fp32, or in fp64 on fp64. */
int norm(const struct cuda_task *t);
/* The input as a row, times a column of ones. */
int gemv(const struct cuda_task *t, enum mode mode);

/* What the positive elements add up to by asum, less what the others do by asum. */
size_t asum_workspace(const struct cuda_task *t);
int asum(const struct cuda_task *t);

size_t matrix_workspace(const struct cuda_task *t);
int matrix_prepare(const struct cuda_task *t);
/* The input as a row, times `columns` columns of ones. */
int gemm(const struct cuda_task *t, enum mode mode);

} // namespace cublas

#endif
