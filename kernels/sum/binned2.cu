/* sum/binned2: the kernel of sum/binned (binned.cu) in 2 folds. */
#include "kernels/device/device.cuh"
#include "kernels/sum/binned_sum.h"

static int enqueue(const struct cuda_task *t)
{
    return binned_enqueue(t, 2);
}

extern "C" {
extern const struct cuda_method sum_binned2_cuda;
const struct cuda_method sum_binned2_cuda = {binned_workspace_bytes, no_workspace, enqueue};
}
