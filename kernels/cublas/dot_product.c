/* cublas/dot_product: cublasDotEx of two arrays, in fp32 and fp64.
 *
 * Order: cuBLAS's own, not documented; nor is how products are formed. The bound is that for any
 * order of rounded or fused products. Promise: as cublas/dot's. */
#include "kernels/method/method.h"

const struct method cublas_dot_product = {
    .name = "cublas/dot_product",
    .summary = "NVIDIA's cuBLAS: dot product, in fp32 and fp64",
    .operation = &operation_dot,
    .promise = PROMISE_RUN_TO_RUN,
    .pairs = {[DEVICE_CUDA] = FORMAT_PAIRS([FP32] = IN(FP32), [FP64] = IN(FP64))},
    .products = 1u << PRODUCT_UNKNOWN,
    .product = PRODUCT_UNKNOWN,
    .bound = THEOREM_ANY_ORDER,
};
