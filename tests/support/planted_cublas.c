/* libcublasLt of a release that has nothing but its version, and libcublas, which as NVIDIA's asks
 * libcublasLt for it. PART: major, minor, patch. ALONE: libcublas asks nobody. */
#define SHOWN __attribute__((visibility("default")))

#ifdef LT
#define FUNCTION cublasLtGetProperty
#else
#define FUNCTION cublasGetProperty
#endif

SHOWN int cublasLtGetProperty(int which, int *value);
SHOWN int FUNCTION(int which, int *value);

int FUNCTION(int which, int *value)
{
#if defined LT || defined ALONE
    static const int part[] = {PART};
    *value = part[which];
    return 0;
#else
    return cublasLtGetProperty(which, value);
#endif
}

#ifndef LT
/* What kernels/cublas asks its library for, in a build that has it (routines.cuh): there, and never
 * called. */
#define THERE(routine)                                                                             \
    SHOWN int routine(void);                                                                       \
    int routine(void)                                                                              \
    {                                                                                              \
        return 1;                                                                                  \
    }
THERE(cublasCreate_v2)
THERE(cublasSetStream_v2)
THERE(cublasSetWorkspace_v2)
THERE(cublasSetMathMode)
THERE(cublasSetPointerMode_v2)
THERE(cublasDotEx_64)
THERE(cublasNrm2Ex_64)
THERE(cublasHSSgemvStridedBatched_64)
THERE(cublasTSSgemvStridedBatched_64)
THERE(cublasSgemv_v2_64)
THERE(cublasDgemv_v2_64)
THERE(cublasSasum_v2_64)
THERE(cublasDasum_v2_64)
THERE(cublasGemmEx_64)
#endif
