/* cublas/gemm_tf32: cublasGemmEx, allowed to use TF32. */
#include "kernels/cublas/library.cuh"

static int enqueue(const struct cuda_task *t)
{
    return cublas::gemm(t, cublas::mode_tf32);
}

extern "C" {
extern const struct cuda_method cublas_gemm_tf32_cuda;
const struct cuda_method cublas_gemm_tf32_cuda = {cublas::matrix_workspace, no_workspace, enqueue,
                                                  cublas::matrix_prepare};
}
