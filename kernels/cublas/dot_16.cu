/* cublas/dot_16: the dot product with ones, executed in fp32. */
#include "kernels/cublas/library.cuh"

static int enqueue(const struct cuda_task *t)
{
    return cublas::dot(t);
}

extern "C" {
extern const struct cuda_method cublas_dot_16_cuda;
const struct cuda_method cublas_dot_16_cuda = {cublas::vector_workspace, no_workspace, enqueue,
                                               cublas::vector_prepare};
}
