/* cub/sum_not_guaranteed: cub::DeviceReduce::Reduce, required to be deterministic in nothing: the
 * path with atomic additions, which CUB takes for accumulators of 4 bytes and more. */
#include "kernels/cub/required.cuh"

static constexpr auto reduce_pair =
    required::reduce_wide<cuda::execution::determinism::not_guaranteed_t>;

extern "C" const struct cuda_method cub_sum_not_guaranteed_cuda = {
    required::workspace<reduce_pair>, no_workspace, required::enqueue_sum<reduce_pair>};
