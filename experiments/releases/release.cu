/* CUB's and Thrust's methods in one source, for a shared object of the release whose headers come
 * first on the command line (experiments/releases/releases). cub/scan_run_to_run is compiled by
 * itself: most of the compiler's time is its.
 *
 * Each file stands in a namespace of its own, behind all headers. */
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <cub/device/device_select.cuh>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>

#include "kernels/cub/counts.cuh"
#include "kernels/cub/elements.cuh"
#include "kernels/cub/pairs.cuh"
#include "kernels/cub/release.h"
#include "kernels/cub/storage.cuh"
#include "kernels/method/matrix.h"
#include "kernels/scatter/sorted.cuh"
#include "kernels/thrust/policy.cuh"
#include "kernels/transpose/move.cuh"

#if CCCL_VERSION >= 3001000
#include "kernels/cub/bounds.cuh"
#include "kernels/cub/required.cuh"
#endif

#include "kernels/scatter/sorted.cu"

namespace release_sum
{
#include "kernels/cub/sum.cu"
}
namespace release_sum_by_key
{
#include "kernels/cub/sum_by_key.cu"
}
namespace release_reduce_by_key
{
#include "kernels/cub/reduce_by_key.cu"
}
namespace release_segments_by_key
{
#include "kernels/cub/segments_by_key.cu"
}
namespace release_sum_segment
{
#include "kernels/cub/sum_segment.cu"
}
namespace release_rows
{
#include "kernels/cub/rows.cu"
}
namespace release_scan
{
#include "kernels/cub/scan.cu"
}
namespace release_select
{
#include "kernels/cub/select.cu"
}
namespace release_thrust_sum
{
#include "kernels/thrust/sum.cu"
}
namespace release_thrust_scan
{
#include "kernels/thrust/scan.cu"
}
#if CCCL_VERSION >= 3001000
namespace release_sum_run_to_run
{
#include "kernels/cub/sum_run_to_run.cu"
}
namespace release_sum_gpu_to_gpu
{
#include "kernels/cub/sum_gpu_to_gpu.cu"
}
#endif
#if CCCL_VERSION >= 3002000
namespace release_sum_not_guaranteed
{
#include "kernels/cub/sum_not_guaranteed.cu"
}
#endif
#if CCCL_VERSION >= 3005000
extern "C" const struct cuda_method cub_scan_run_to_run_cuda;
#endif

/* By the storage's format, in the order of formats.def. */
#define PAIRS                                                                                      \
    {                                                                                              \
        0, 1 << FP32, 1 << FP32, 1 << FP64, 0, 0                                                   \
    }
#define WIDE_PAIRS                                                                                 \
    {                                                                                              \
        0, 0, 1 << FP32, 1 << FP64, 0, 0                                                           \
    }
#define SAME_PAIRS                                                                                 \
    {                                                                                              \
        1 << FP16, 1 << BF16, 1 << FP32, 1 << FP64, 0, 0                                           \
    }
static_assert(ULPSCOPE_FEW_PAIRS == 3 && FP16 == 0 && BF16 == 1 && FP32 == 2 && FP64 == 3 &&
                  FORMATS == 6,
              "pairs");

static const struct release_method methods[] = {
    {"cub/sum", &release_sum::cub_sum_cuda, PAIRS},
#if CCCL_VERSION >= 3001000
    {"cub/sum_run_to_run", &release_sum_run_to_run::cub_sum_run_to_run_cuda, PAIRS},
    {"cub/sum_gpu_to_gpu", &release_sum_gpu_to_gpu::cub_sum_gpu_to_gpu_cuda, PAIRS},
#endif
#if CCCL_VERSION >= 3002000
    {"cub/sum_not_guaranteed", &release_sum_not_guaranteed::cub_sum_not_guaranteed_cuda, PAIRS},
#endif
    {"cub/sum_by_key", &release_sum_by_key::cub_sum_by_key_cuda, PAIRS},
    {"cub/reduce_by_key", &release_reduce_by_key::cub_reduce_by_key_cuda, PAIRS},
    {"cub/segments_by_key", &release_segments_by_key::cub_segments_by_key_cuda, PAIRS},
    {"cub/sum_segment", &release_sum_segment::cub_sum_segment_cuda, PAIRS},
    {"cub/rows", &release_rows::cub_rows_cuda, PAIRS},
    {"cub/scan", &release_scan::cub_scan_cuda, PAIRS},
#if CCCL_VERSION >= 3005000
    {"cub/scan_run_to_run", &cub_scan_run_to_run_cuda, WIDE_PAIRS},
#endif
    {"cub/select", &release_select::cub_select_cuda, SAME_PAIRS},
    {"thrust/sum", &release_thrust_sum::thrust_sum_cuda, PAIRS},
    {"thrust/scan", &release_thrust_scan::thrust_scan_cuda, PAIRS},
};

#define TEXT_OF(x) #x
#define TEXT(x)    TEXT_OF(x)
#define NVCC                                                                                       \
    "nvcc " TEXT(__CUDACC_VER_MAJOR__) "." TEXT(__CUDACC_VER_MINOR__) "." TEXT(__CUDACC_VER_BUILD__)

extern "C" const struct release ulpscope_release = {
    RELEASE_LAYOUT, CCCL_VERSION, NVCC, ULPSCOPE_FLAGS, sizeof methods / sizeof *methods, methods,
};
