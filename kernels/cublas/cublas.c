/* The routines of NVIDIA's cuBLAS, on a GPU alone: kernels/cublas/cublas.cu calls them.
 *
 * Order: cuBLAS's own, not documented. A product with 1 is exact, so that the bound for any order
 * of rounded additions holds of a product with ones, fused multiply-adds included, where additions
 * are known to be rounded; NVIDIA documents no bound, and not what becomes of subnormals. There is
 * none where tensor cores may add: they do not round to nearest but cut off, on a V100, T4 and A100
 * (Fasi, Higham, Mikaitis and Pranesh, Numerical behavior of NVIDIA tensor cores, 2021), each
 * generation in its own way (Khattak and Mikaitis, Accurate models of NVIDIA tensor cores, 2025, on
 * the H100 too), and NVIDIA documents nothing of it.
 *
 * Promise: cuBLAS's documentation, "Results Reproducibility" (13.0): the same bits at every run,
 * for one version of the toolkit, on GPUs of the same architecture and number of multiprocessors,
 * as long as only one stream is active or each has a workspace of its own (cublasSetWorkspace), as
 * here; atomics are off (cublasSetAtomicsMode).
 *
 * A gemv takes the input as a row, times a column of ones; a gemm the input as a row, times a
 * matrix of 8 columns of ones: the sum is the first of 8 equal results. */
#include "kernels/blocks/serial.h"

#define FP32_AND_FP64 FORMAT_PAIRS([FP32] = IN(FP32), [FP64] = IN(FP64))

#define METHOD(its_name, its_former, told, of, ...)                                                \
    const struct method cublas_##its_name = {.name = "cublas/" #its_name,                          \
                                             .former = its_former,                                 \
                                             .summary = "NVIDIA's cuBLAS: " told,                  \
                                             .operation = &operation_##of,                         \
                                             .promise = PROMISE_RUN_TO_RUN,                        \
                                             .pairs[DEVICE_CUDA] = __VA_ARGS__};

/* A sum by a routine, which alone its name was at first. */
#define SUM_BY(routine, told, ...)                                                                 \
    METHOD(sum_by_##routine, "cublas/" #routine, told, sum, __VA_ARGS__)

/* cublasDotEx of the input with ones. */
SUM_BY(dot, "dot product with ones, in fp32 and fp64", FP32_AND_FP64, .bound = THEOREM_ANY_ORDER)

/* cublasDotEx of the input with ones: fp16 and bf16 are executed in fp32, as cuBLAS documents of
 * these types (cublasDotEx, executionType), and rounded to the elements' format at the end. The
 * bound is that for any order in fp32, whose greatest height is n - 1, and of the last rounding. */
SUM_BY(dot_16, "dot product with ones on fp16 and bf16, executed in fp32",
       FORMAT_PAIRS([FP16] = IN(FP16), [BF16] = IN(BF16)), .adds_in = format_wider,
       .bound = THEOREM_WIDENED, .height = serial_height)

/* cublasDotEx of two arrays. How products are formed is not documented either: the bound is that
 * for any order of rounded or fused products. */
METHOD(dot_product, NULL, "dot product, in fp32 and fp64", dot, FP32_AND_FP64,
       .products = 1u << PRODUCT_UNKNOWN, .product = PRODUCT_UNKNOWN, .bound = THEOREM_ANY_ORDER,
       .vendor = true)

/* cublasSasum and cublasDasum, which add up magnitudes: the sum of the positive elements, with 0 in
 * place of the others, less that of the others' magnitudes, in the same way. Where no element is
 * negative, that is the asum of the input. (Its time holds the splitting.) To add 0 rounds nothing,
 * so that the whole is an order of n - 1 rounded additions. */
SUM_BY(asum, "asum of the positive elements, less asum of the others", FP32_AND_FP64,
       .bound = THEOREM_ANY_ORDER)

/* The same, of all elements as they are: cublasSasum and cublasDasum, the 1-norm. */
METHOD(l1_norm, NULL, "asum, the sum of magnitudes", asum, FP32_AND_FP64, .vendor = true,
       .bound = THEOREM_ANY_ORDER)

static enum format executed_in(enum format f)
{
    return f == FP64 ? FP64 : FP32;
}

/* cublasNrm2Ex, the 2-norm; fp16 and bf16 are executed in fp32, as cuBLAS documents of these types
 * (cublasNrm2Ex, executionType), and rounded to the elements' format at the end.
 *
 * Order: "a multiphase model of accumulation to avoid intermediate underflow and overflow"
 * (cublas<t>nrm2). The bound that rows are held to is for any order of rounded squares of elements
 * that a power of two has scaled: a wider execution keeps it all the more. */
METHOD(norm, NULL, "nrm2; fp16 and bf16 executed in fp32", norm, FORMAT_PAIRS_SAME_FROM_16,
       .adds_in = executed_in, .vendor = true, .bound = THEOREM_SCALED_NORM,
       .height = serial_height /* the greatest of any order */)

/* cublasSgemv and cublasDgemv in the default math mode: CUBLAS_DEFAULT_MATH keeps at least the
 * digits and exponents of the formats (cuBLAS's documentation, cublasMath_t). */
SUM_BY(gemv, "gemv with ones, in fp32 and fp64", FP32_AND_FP64, .bound = THEOREM_ANY_ORDER)

/* cublasHSSgemvStridedBatched and cublasTSSgemvStridedBatched, a batch of one, in the default math
 * mode: fp16 or bf16, with a result in fp32. Whether tensor cores add is not documented. */
SUM_BY(gemv_16, "gemv with ones on fp16 and bf16, in fp32",
       FORMAT_PAIRS([FP16] = IN(FP32), [BF16] = IN(FP32)), .addition = ADDITION_UNDOCUMENTED,
       .bound = THEOREM_NONE)

/* cublasSgemv in the math mode CUBLAS_TF32_TENSOR_OP_MATH, which allows elements to be rounded to
 * TF32, 11 digits, and tensor cores to add (cuBLAS's documentation, cublasMath_t); whether cuBLAS
 * does either, it does not say. */
SUM_BY(gemv_tf32, "gemv with ones on fp32, allowed to round elements to TF32",
       FORMAT_PAIRS([FP32] = IN(FP32)), .addition = ADDITION_UNDOCUMENTED, .bound = THEOREM_NONE)

/* cublas/sum_by_gemv and cublas/sum_by_gemv_16 in the math mode CUBLAS_PEDANTIC_MATH: the
 * prescribed precision and standardized arithmetic in all phases of the calculation, for robustness
 * studies (cuBLAS's documentation, cublasMath_t), which the bound for any order takes at its word.
 */
SUM_BY(gemv_pedantic, "gemv with ones in pedantic math mode",
       FORMAT_PAIRS([FP16] = IN(FP32), [BF16] = IN(FP32), [FP32] = IN(FP32), [FP64] = IN(FP64)),
       .bound = THEOREM_ANY_ORDER)

/* cublasGemmEx with CUBLAS_COMPUTE_32F and CUBLAS_COMPUTE_64F in the default math mode, which keeps
 * what cublas/sum_by_gemv's does. Tensor cores that multiply fp64 round to nearest (Fasi, Higham,
 * Mikaitis and Pranesh, on the A100). */
SUM_BY(gemm, "gemm with ones, in fp32 and fp64", FP32_AND_FP64, .bound = THEOREM_ANY_ORDER)

/* cublasGemmEx on fp16 and bf16 with CUBLAS_COMPUTE_32F, and on fp16 with CUBLAS_COMPUTE_16F, in
 * the default math mode, on tensor cores wherever cuBLAS can: each step adds several products at
 * once. */
SUM_BY(gemm_16, "gemm with ones on fp16 and bf16, for tensor cores",
       FORMAT_PAIRS([FP16] = IN(FP16) | IN(FP32), [BF16] = IN(FP32)),
       .addition = ADDITION_UNDOCUMENTED, .bound = THEOREM_NONE)

/* cublasGemmEx with CUBLAS_COMPUTE_32F_FAST_TF32, which allows elements to be rounded to TF32, 11
 * digits, and tensor cores to add (cuBLAS's documentation, cublasComputeType_t). How elements are
 * rounded is not documented. */
SUM_BY(gemm_tf32, "gemm with ones on fp32, elements rounded to TF32",
       FORMAT_PAIRS([FP32] = IN(FP32)), .addition = ADDITION_UNDOCUMENTED, .bound = THEOREM_NONE)

/* cublasGemmEx with CUBLAS_COMPUTE_16F_PEDANTIC, _32F_PEDANTIC and _64F_PEDANTIC, whose word the
 * bound takes as cublas/sum_by_gemv_pedantic's does (cublasComputeType_t). */
SUM_BY(gemm_pedantic, "gemm with ones in pedantic math mode",
       FORMAT_PAIRS([FP16] = IN(FP16) | IN(FP32), [BF16] = IN(FP32), [FP32] = IN(FP32),
                    [FP64] = IN(FP64)),
       .bound = THEOREM_ANY_ORDER)

/* Matrix products by cublasGemmEx, the yardstick of ours: D is C first, and the product is added to
 * it. A heuristic chooses the kernel, and so the order, by the shape. No promise is claimed of
 * them: what is documented, above, `check` tries. */
#define PRODUCT_BY(its_name, told, ...)                                                            \
    const struct method cublas_##its_name = {.name = "cublas/" #its_name,                          \
                                             .summary = "NVIDIA's cuBLAS: " told,                  \
                                             .operation = &operation_gemm,                         \
                                             .promise = PROMISE_NONE,                              \
                                             .product = PRODUCT_UNKNOWN,                           \
                                             .pairs[DEVICE_CUDA] = __VA_ARGS__};

/* CUBLAS_COMPUTE_32F and CUBLAS_COMPUTE_64F in the default math mode, as cublas/sum_by_gemm. */
PRODUCT_BY(matrix_product, "matrix products in fp32 and fp64", FP32_AND_FP64, .vendor = true,
           .bound = THEOREM_ANY_ORDER)

/* CUBLAS_COMPUTE_32F and CUBLAS_COMPUTE_16F, as cublas/sum_by_gemm_16. */
PRODUCT_BY(matrix_product_16, "matrix products of fp16 and bf16, for tensor cores",
           FORMAT_PAIRS([FP16] = IN(FP16) | IN(FP32), [BF16] = IN(FP32)), .vendor = true,
           .addition = ADDITION_UNDOCUMENTED, .bound = THEOREM_NONE)

/* CUBLAS_COMPUTE_32F_FAST_TF32, as cublas/sum_by_gemm_tf32. */
PRODUCT_BY(matrix_product_tf32, "matrix products of fp32, elements rounded to TF32",
           FORMAT_PAIRS([FP32] = IN(FP32)), .addition = ADDITION_UNDOCUMENTED,
           .bound = THEOREM_NONE)
