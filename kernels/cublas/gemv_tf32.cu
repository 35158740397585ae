/* cublas/gemv_tf32: cublasSgemv, allowed to use TF32. */
#include "kernels/cublas/library.cuh"

static int enqueue(const struct cuda_task *t)
{
    return cublas::gemv(t, cublas::mode_tf32);
}

extern "C" {
extern const struct cuda_method cublas_gemv_tf32_cuda;
const struct cuda_method cublas_gemv_tf32_cuda = {cublas::vector_workspace, no_workspace, enqueue,
                                                  cublas::vector_prepare};
}
