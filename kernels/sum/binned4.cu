/* sum/binned4: the kernel of sum/binned (binned.cu) in 4 folds. */
#include "kernels/device/device.cuh"
#include "kernels/sum/binned_sum.h"

static int enqueue(const struct cuda_task *t)
{
    return binned_enqueue(t, 4);
}

extern "C" {
extern const struct cuda_method sum_binned4_cuda;
const struct cuda_method sum_binned4_cuda = {binned_workspace_bytes, no_workspace, enqueue};
}
