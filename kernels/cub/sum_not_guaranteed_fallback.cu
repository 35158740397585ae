/* cub/sum_not_guaranteed_fallback: cub::DeviceReduce::Reduce, required to be deterministic in
 * nothing, with accumulators of 2 bytes, for which CUB takes the path of run_to_run. */
#include "kernels/cub/required.cuh"

static constexpr auto reduce_pair =
    required::reduce_narrow<cuda::execution::determinism::not_guaranteed_t>;

extern "C" const struct cuda_method cub_sum_not_guaranteed_fallback_cuda = {
    required::workspace<reduce_pair>, no_workspace, required::enqueue_sum<reduce_pair>};
