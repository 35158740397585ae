/* cublas/gemm: cublasGemmEx in the default math mode. */
#include "kernels/cublas/library.cuh"

static int enqueue(const struct cuda_task *t)
{
    return cublas::gemm(t, cublas::mode_default);
}

extern "C" {
extern const struct cuda_method cublas_gemm_cuda;
const struct cuda_method cublas_gemm_cuda = {cublas::matrix_workspace, no_workspace, enqueue,
                                             cublas::matrix_prepare};
}
