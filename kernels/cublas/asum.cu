/* cublas/asum: cublasSasum and cublasDasum, of the positive elements and of the others. */
#include "kernels/cublas/library.cuh"

extern "C" {
extern const struct cuda_method cublas_asum_cuda;
const struct cuda_method cublas_asum_cuda = {cublas::asum_workspace, no_workspace, cublas::asum};
}
