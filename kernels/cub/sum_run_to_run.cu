/* cub/sum_run_to_run: cub::DeviceReduce::Reduce, required to be deterministic from run to run. */
#include "kernels/cub/required.cuh"

typedef cuda::execution::determinism::run_to_run_t level;

static int reduce_pair(required::one_block memory, const struct cuda_task *t)
{
    return t->accumulator == FP16 || t->accumulator == BF16
               ? required::reduce_narrow<level>(memory, t)
               : required::reduce_wide<level>(memory, t);
}

extern "C" const struct cuda_method cub_sum_run_to_run_cuda = {
    required::workspace<reduce_pair>, no_workspace, required::enqueue_sum<reduce_pair>};
