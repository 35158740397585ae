/* cublas/dot_product: the dot product of two arrays. */
#include "kernels/cublas/library.cuh"

static int enqueue(const struct cuda_task *t)
{
    return cublas::dot(t);
}

extern "C" {
extern const struct cuda_method cublas_dot_product_cuda;
const struct cuda_method cublas_dot_product_cuda = {cublas::bare_workspace, no_workspace, enqueue};
}
