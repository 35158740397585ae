/* Work that keeps a GPU from what it is asked for. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Enqueues a kernel on the stream that takes all places of the current device for blocks of 1024
 * threads but for `spare` of them, and holds each for `ns`. A cudaError_t. */
int gpu_load_enqueue(unsigned spare, uint64_t ns, void *stream);

#ifdef __cplusplus
}
#endif
