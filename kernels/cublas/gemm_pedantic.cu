/* cublas/gemm_pedantic: cublasGemmEx in the pedantic math mode. */
#include "kernels/cublas/library.cuh"

static int enqueue(const struct cuda_task *t)
{
    return cublas::gemm(t, cublas::mode_pedantic);
}

extern "C" {
extern const struct cuda_method cublas_gemm_pedantic_cuda;
const struct cuda_method cublas_gemm_pedantic_cuda = {cublas::matrix_workspace, no_workspace,
                                                      enqueue, cublas::matrix_prepare};
}
