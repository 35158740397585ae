/* In place of version.c where there is no cuBLAS. */
#include <stddef.h>

#include "kernels/gpu/gpu.h"

const char *gpu_cublas(void)
{
    return NULL;
}
