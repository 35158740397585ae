#include <cublas_v2.h>
#include <stdio.h>

#include "kernels/gpu.h"

const char *gpu_cublas(void)
{
    static char text[32];
    int major = 0, minor = 0, patch = 0;
    if (cublasGetProperty(MAJOR_VERSION, &major) != CUBLAS_STATUS_SUCCESS ||
        cublasGetProperty(MINOR_VERSION, &minor) != CUBLAS_STATUS_SUCCESS ||
        cublasGetProperty(PATCH_LEVEL, &patch) != CUBLAS_STATUS_SUCCESS)
        return "of an unknown version";
    snprintf(text, sizeof text, "%d.%d.%d", major, minor, patch);
    return text;
}
