/* cub/select: the vendor's library, cub::DeviceSelect::Flagged, for comparison.
 *
 * Order: nothing is added but flags: a single pass with decoupled look-back, whose counts are whole
 * numbers. It documents that elements keep their order, so that only one result is correct; they
 * are passed as unsigned integers, so that no bit changes. */
#include "kernels/method/method.h"
#include "kernels/transpose/tile.h"

const struct method cub_select = {
    .name = "cub/select",
    .summary = "NVIDIA's cub::DeviceSelect::Flagged, as it comes with CUDA",
    .operation = &operation_compact,
    .vendor = true,
    .promise = PROMISE_GPU_TO_GPU,
    .pairs = {[DEVICE_CUDA] = FORMAT_PAIRS_SAME_FROM_16},
    .addition = ADDITION_NONE,
    .bound = THEOREM_EXTREMUM,
};
