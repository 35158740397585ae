/* Device arithmetic laid open to tests: each call copies n encodings to the current GPU, applies
 * one operation of kernels/device/device.cuh to each, and copies the results back. A cudaError_t.
 */
#pragma once

#include "reference/format/format.h"

#ifdef __cplusplus
extern "C" {
#endif

/* out[i] = in[i], an element in format `from`, as a value of format `to`. */
int gpu_arithmetic_convert(enum format from, enum format to, const void *in, size_t n, void *out);

/* out[i] = a[i] + b[i] in format f. */
int gpu_arithmetic_add(enum format f, const void *a, const void *b, size_t n, void *out);

#ifdef __cplusplus
}
#endif
