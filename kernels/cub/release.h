/* What a shared object of one release of CUB and Thrust holds: the CUDA side of the methods that
 * this release can be asked for, compiled from experiments/releases/release.cu. A program loads it
 * beside its own: `cub/sum@3.1.4` is cub/sum, compiled with CCCL 3.1.4. */
#pragma once

#include "kernels/device/cuda.h"

struct release_method {
    const char *name; /* of the registry: "cub/sum" */
    const struct cuda_method *cuda;
    /* The pairs that were compiled: by the storage's format, a bit 1 << accumulator for each. */
    uint32_t accumulators[FORMATS];
};

struct release {
    uint32_t layout;  /* RELEASE_LAYOUT of the sources that it was compiled from */
    uint32_t version; /* CCCL_VERSION: 3001004 */
    const char *compiler, *flags;
    uint32_t count;
    const struct release_method *method;
};

/* Differs where the structures that an object and the program share do. */
#define RELEASE_LAYOUT                                                                             \
    ((uint32_t)(sizeof(struct cuda_task) | sizeof(struct cuda_method) << 8 |                       \
                sizeof(struct operands) << 15 | (size_t)FORMATS << 27))

#ifdef __cplusplus
extern "C" {
#endif
/* The symbol that the object exports. */
extern __attribute__((visibility("default"))) const struct release ulpscope_release;
#ifdef __cplusplus
}
#endif
