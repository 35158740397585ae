/* cublas/norm: cublasNrm2Ex, the 2-norm; fp16 and bf16 are executed in fp32, as cuBLAS documents of
 * these types (cublasNrm2Ex, executionType), and rounded to the elements' format at the end.
 *
 * Order: cuBLAS's own, not documented, "a multiphase model of accumulation to avoid intermediate
 * underflow and overflow" (cublas<t>nrm2); no bound is. That which rows are held to is for any
 * order of rounded squares of elements that a power of two has scaled: a wider execution keeps it
 * all the more. Promise: as cublas/dot's. */
#include "kernels/blocks/serial.h"

static enum format executed_in(enum format f)
{
    return f == FP64 ? FP64 : FP32;
}

const struct method cublas_norm = {
    .name = "cublas/norm",
    .summary = "NVIDIA's cuBLAS: nrm2; fp16 and bf16 executed in fp32",
    .operation = &operation_norm,
    .promise = PROMISE_RUN_TO_RUN,
    .pairs = {[DEVICE_CUDA] = FORMAT_PAIRS_SAME},
    .adds_in = executed_in,
    .bound = THEOREM_SCALED_NORM,
    .height = serial_height, /* the greatest of any order */
};
