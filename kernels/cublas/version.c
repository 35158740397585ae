#include "kernels/cublas/version.h"

#include <stdio.h>

#include "kernels/gpu/gpu.h"

const char *gpu_cublas(void)
{
    static char text[40];
    int version[3], answer = cublas_version(version);
    if (answer != 0)
        return answer < 0 ? NULL : "of an unknown version";
    snprintf(text, sizeof text, "%d.%d.%d", version[0], version[1], version[2]);
    return text;
}
