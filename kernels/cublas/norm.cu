/* cublas/norm: nrm2. */
#include "kernels/cublas/library.cuh"

extern "C" {
extern const struct cuda_method cublas_norm_cuda;
const struct cuda_method cublas_norm_cuda = {cublas::bare_workspace, no_workspace, cublas::norm};
}
