/* cub/sum_gpu_to_gpu: cub::DeviceReduce::Reduce, required to be deterministic from GPU to GPU. */
#include "kernels/cub/required.cuh"

static constexpr auto reduce_pair =
    required::reduce_wide<cuda::execution::determinism::gpu_to_gpu_t>;

extern "C" const struct cuda_method cub_sum_gpu_to_gpu_cuda = {
    required::workspace<reduce_pair>, no_workspace, required::enqueue_sum<reduce_pair>};
