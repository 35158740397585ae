#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* Loads cuBLAS and asks for its version: major, minor, patch. 0, or -1 where the loader finds none
 * (routines.cuh), or 1 where it does not say. */
int cublas_version(int version[3]);

#ifdef __cplusplus
}
#endif
