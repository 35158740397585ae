/* Matrix products by cublasLtMatmul, on a GPU alone: kernels/cublaslt/product.cu calls it.
 *
 * Order: cuBLASLt's own, not documented. A heuristic (cublasLtMatmulAlgoGetHeuristic) names
 * algorithms for a shape, the best one first, within limits that the caller sets: how much
 * workspace there is, and how sums of split-K may be added. Subjects differ in what is asked for:
 *
 *   product, _16, _tf32, _8   the first algorithm, 32 MiB of workspace
 *   _8_fast                   fast accumulation: "intermediate results will not periodically be
 *                             promoted to a higher precision" (CUBLASLT_MATMUL_DESC_FAST_ACCUM)
 *   _16_no_workspace          0 bytes of workspace
 *   _16_no_split_k            CUBLASLT_REDUCTION_SCHEME_NONE: k is not split
 *   _16_second                the heuristic's second algorithm
 *   product_emulated          where the library has that for the chip: fp64 by integer products
 *                             (Ozaki's scheme, CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT), fp32 by
 *                             nine products of bf16 (CUBLAS_COMPUTE_32F_EMULATED_16BFX9)
 *
 * --workspace and --algorithm ask for another limit and another place among the algorithms that the
 * heuristic names (struct heuristic), but for what a name says, and the workspace of an emulation,
 * which without the room for it does not emulate.
 *
 * What the library has no algorithm for is an error that says so; nothing takes its place. Products
 * of 8 bits exist in one layout only: k along the rows of A and along the columns of B, lengths and
 * addresses multiples of 16 bytes. Operands that do not lie so are copied to where they do, with
 * zeros behind the last k and the last column of B, and the copies are timed with the product. Of
 * e5m2 times e5m2 there is none, of e5m2 times e4m3 there is; here both are of one format. Scales
 * of 8 bits are one of each matrix (CUBLASLT_MATMUL_DESC_A_SCALE_POINTER); where they are
 * multiplied is not documented.
 *
 * No promise is claimed. cuBLAS's documentation, "Results Reproducibility" (13.0), says the same
 * bits at every run on the same chip; `check` tries it. Bounds are those of kernels/cublas/. */
#include "kernels/method/method.h"

#define PRODUCT(its_name, told, asked, ...)                                                        \
    const struct method cublaslt_##its_name = {.name = "cublaslt/" #its_name,                      \
                                               .summary = "NVIDIA's cuBLASLt: " told,              \
                                               .operation = &operation_gemm,                       \
                                               .promise = PROMISE_NONE,                            \
                                               .product = PRODUCT_UNKNOWN,                         \
                                               .heuristic = asked,                                 \
                                               .pairs[DEVICE_CUDA] = __VA_ARGS__};

#define ANY          HEURISTIC_WORKSPACE | HEURISTIC_ALGORITHM
#define OF_16        FORMAT_PAIRS([FP16] = IN(FP16) | IN(FP32), [BF16] = IN(FP32))
#define TENSOR_CORES .addition = ADDITION_UNDOCUMENTED, .bound = THEOREM_NONE

PRODUCT(product, "matrix products in fp32 and fp64", ANY,
        FORMAT_PAIRS([FP32] = IN(FP32), [FP64] = IN(FP64)), .bound = THEOREM_ANY_ORDER)
PRODUCT(product_16, "matrix products of fp16 and bf16", ANY, OF_16, TENSOR_CORES)
PRODUCT(product_tf32, "matrix products of fp32, elements rounded to TF32", ANY,
        FORMAT_PAIRS([FP32] = IN(FP32)), TENSOR_CORES)
PRODUCT(product_8, "matrix products of e4m3, promoted as the library does", ANY,
        FORMAT_PAIRS([E4M3] = IN(FP32)), .vendor = true, .whole_scales = true, TENSOR_CORES)
PRODUCT(product_8_fast, "matrix products of e4m3 with fast accumulation", ANY,
        FORMAT_PAIRS([E4M3] = IN(FP32)), .whole_scales = true, TENSOR_CORES)
PRODUCT(product_16_no_workspace, "matrix products of fp16 and bf16 without workspace",
        HEURISTIC_ALGORITHM, OF_16, TENSOR_CORES)
PRODUCT(product_16_no_split_k, "matrix products of fp16 and bf16 without split-K", ANY, OF_16,
        TENSOR_CORES)
PRODUCT(product_16_second, "matrix products of fp16 and bf16, the heuristic's second choice",
        HEURISTIC_WORKSPACE, OF_16, TENSOR_CORES)
PRODUCT(product_emulated, "matrix products in emulated fp32 and fp64 where the chip has it",
        HEURISTIC_ALGORITHM, FORMAT_PAIRS([FP32] = IN(FP32), [FP64] = IN(FP64)), TENSOR_CORES)
