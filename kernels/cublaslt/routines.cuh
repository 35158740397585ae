/* The routines of cuBLASLt that are called, by names of ours, loaded when the first is asked for
 * (kernels/cublas/routines.cuh says why). */
#pragma once

#include <cublasLt.h>

/* The first release whose headers tell of emulated fp64. */
#define CUBLASLT_EMULATES (CUBLAS_VERSION >= 130100)

namespace cublaslt
{

#define CUBLASLT_ROUTINES(X)                                                                       \
    X(create, cublasLtCreate)                                                                      \
    X(desc_create, cublasLtMatmulDescCreate)                                                       \
    X(desc_set, cublasLtMatmulDescSetAttribute)                                                    \
    X(desc_destroy, cublasLtMatmulDescDestroy)                                                     \
    X(layout_create, cublasLtMatrixLayoutCreate)                                                   \
    X(layout_destroy, cublasLtMatrixLayoutDestroy)                                                 \
    X(preference_create, cublasLtMatmulPreferenceCreate)                                           \
    X(preference_set, cublasLtMatmulPreferenceSetAttribute)                                        \
    X(preference_destroy, cublasLtMatmulPreferenceDestroy)                                         \
    X(heuristic, cublasLtMatmulAlgoGetHeuristic)                                                   \
    X(multiply, cublasLtMatmul)

/* Those that older libraries of the same major version lack. */
#if CUBLASLT_EMULATES
#define CUBLASLT_EMULATION(X)                                                                      \
    X(emulation_create, cublasLtEmulationDescCreate)                                               \
    X(emulation_set, cublasLtEmulationDescSetAttribute)                                            \
    X(emulation_destroy, cublasLtEmulationDescDestroy)
#else
#define CUBLASLT_EMULATION(X)
#endif

struct routines {
#define CUBLASLT_MEMBER(name, routine) decltype(&::routine) name;
    CUBLASLT_ROUTINES(CUBLASLT_MEMBER)
    CUBLASLT_EMULATION(CUBLASLT_MEMBER)
#undef CUBLASLT_MEMBER
    bool emulates; /* it has those for emulation */
};

/* NULL where the loader finds no cuBLASLt of the major version that this was built with, or one
 * that lacks some of the first list. Safe to call from any thread. */
const struct routines *loaded();

} // namespace cublaslt
