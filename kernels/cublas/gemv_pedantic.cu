/* cublas/gemv_pedantic: cublas<t>gemv in the pedantic math mode. */
#include "kernels/cublas/library.cuh"

static int enqueue(const struct cuda_task *t)
{
    return cublas::gemv(t, cublas::mode_pedantic);
}

extern "C" {
extern const struct cuda_method cublas_gemv_pedantic_cuda;
const struct cuda_method cublas_gemv_pedantic_cuda = {cublas::vector_workspace, no_workspace,
                                                      enqueue, cublas::vector_prepare};
}
