/* The routines of cuBLAS that are called, by names of ours. cuBLAS is loaded when the first of them
 * is asked for and not with the program: its relocations would cost each start of the program 70
 * ms. */
#pragma once

#include <cublas_v2.h>

namespace cublas
{

#define CUBLAS_ROUTINES(X)                                                                         \
    X(get_property, cublasGetProperty)                                                             \
    X(create, cublasCreate_v2)                                                                     \
    X(set_stream, cublasSetStream_v2)                                                              \
    X(set_workspace, cublasSetWorkspace_v2)                                                        \
    X(set_math_mode, cublasSetMathMode)                                                            \
    X(set_pointer_mode, cublasSetPointerMode_v2)                                                   \
    X(dot, cublasDotEx_64)                                                                         \
    X(norm, cublasNrm2Ex_64)                                                                       \
    X(gemv_fp16, cublasHSSgemvStridedBatched_64)                                                   \
    X(gemv_bf16, cublasTSSgemvStridedBatched_64)                                                   \
    X(gemv_fp32, cublasSgemv_v2_64)                                                                \
    X(gemv_fp64, cublasDgemv_v2_64)                                                                \
    X(asum_fp32, cublasSasum_v2_64)                                                                \
    X(asum_fp64, cublasDasum_v2_64)                                                                \
    X(gemm, cublasGemmEx_64)

struct routines {
#define CUBLAS_MEMBER(name, routine) decltype(&::routine) name;
    CUBLAS_ROUTINES(CUBLAS_MEMBER)
#undef CUBLAS_MEMBER
};

/* NULL where the loader finds no cuBLAS of the major version that this was built with, or one that
 * lacks some of them. Safe to call from any thread. */
const struct routines *loaded();

} // namespace cublas
