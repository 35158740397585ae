/* The routines of cuBLAS: products of the input with ones, which are sums, since to multiply by 1
 * rounds nothing; dot products, norms and products of matrices.
 *
 * There is one handle for a device, made when a workspace is asked for. Each call gives it the
 * task's stream and workspace, so that no other call shares these. A workspace holds cuBLAS's own
 * part, places for results, and the ones, which prepare fills in once.
 *
 * Counts are those of cuBLAS's 64-bit interface. What a routine does not support is
 * cudaErrorNotSupported. */
#include "kernels/cublas/routines.cuh"
#include "kernels/device/device.cuh"

#include <mutex>

namespace cublas
{

enum mode { mode_default, mode_pedantic, mode_tf32 };

/* The other factor of a gemm has so many equal columns, as many as a tensor core takes at the
 * least; the sum is the first of as many equal results. */
constexpr size_t columns = 8;

/* A workspace: what NVIDIA recommends for Hopper (cublasSetWorkspace's page), results, ones. */
constexpr size_t own_bytes = (size_t)32 << 20, results_bytes = 256;
enum { DEVICES = 64 };

static std::mutex one_at_a_time; /* a handle's settings stand from setting them to the call */
static cublasHandle_t handles[DEVICES];

static int error_of(cublasStatus_t status)
{
    switch (status) {
    case CUBLAS_STATUS_SUCCESS:
        return cudaSuccess;
    case CUBLAS_STATUS_ALLOC_FAILED:
        return cudaErrorMemoryAllocation;
    case CUBLAS_STATUS_NOT_SUPPORTED:
        return cudaErrorNotSupported;
    case CUBLAS_STATUS_INVALID_VALUE:
        return cudaErrorInvalidValue;
    case CUBLAS_STATUS_ARCH_MISMATCH:
        return cudaErrorNoKernelImageForDevice;
    case CUBLAS_STATUS_NOT_INITIALIZED:
        return cudaErrorInitializationError;
    default:
        return cudaErrorUnknown;
    }
}

/* The handle of the current device. The lock is held. */
static int handle_here(cublasHandle_t *handle)
{
    int device = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (error != cudaSuccess)
        return error;
    if (device >= DEVICES)
        return cudaErrorInvalidDevice;
    int made = cudaSuccess;
    if (!loaded())
        return cudaErrorSharedObjectInitFailed;
    if (!handles[device])
        made = error_of(loaded()->create(&handles[device]));
    *handle = handles[device];
    return made;
}

/* Calls `routine` with the handle made fit for the task. */
template <typename Routine>
static int call(const struct cuda_task *t, cublasMath_t math, cublasPointerMode_t pointers,
                Routine routine)
{
    if (t->of->in.n == 0)
        return cudaMemsetAsync(t->out, 0, sizeof(double), (cudaStream_t)t->stream);
    std::lock_guard<std::mutex> lock(one_at_a_time);
    cublasHandle_t handle = NULL;
    int error = handle_here(&handle);
    if (error != cudaSuccess)
        return error;
    const struct routines *library = loaded();
    cublasStatus_t status = library->set_stream(handle, (cudaStream_t)t->stream);
    if (status == CUBLAS_STATUS_SUCCESS) /* which the stream has taken back to cuBLAS's own */
        status = library->set_workspace(handle, t->workspace, own_bytes);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = library->set_math_mode(handle, math);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = library->set_pointer_mode(handle, pointers);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = routine(handle);
    return error_of(status);
}

static cublasMath_t math_of(enum mode mode)
{
    switch (mode) {
    case mode_pedantic:
        return CUBLAS_PEDANTIC_MATH;
    case mode_tf32:
        return CUBLAS_TF32_TENSOR_OP_MATH;
    default:
        return CUBLAS_DEFAULT_MATH;
    }
}

static cudaDataType type_of(enum format f)
{
    static const cudaDataType type[ACCUMULATORS] = {CUDA_R_16F, CUDA_R_16BF, CUDA_R_32F,
                                                    CUDA_R_64F};
    static_assert(FP16 == 0 && BF16 == 1 && FP32 == 2 && FP64 == 3 && ACCUMULATORS == 4, "");
    return type[f];
}

static const void *ones_of(const struct cuda_task *t)
{
    return (const char *)t->workspace + own_bytes + results_bytes;
}

/* --- ones --- */

/* The distance between arrays: such that each begins at an address as round as the first. */
static size_t leading(size_t n)
{
    return groups_of(n, 16) * 16;
}

template <typename S> __global__ void fill(S *ones, size_t count)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count;
         i += (size_t)gridDim.x * blockDim.x)
        ones[i] = rounded<S>(1.0f);
}

static unsigned fill_grid(size_t count)
{
    size_t blocks = groups_of(count, 256);
    return blocks < 1024 ? grid_for(blocks) : 1024;
}

static int fill_ones(const struct cuda_task *t, size_t count)
{
    return with_type(t->of->in.format, [&](auto s) -> int {
        typedef decltype(s) S;
        fill<S><<<fill_grid(count), 256, 0, (cudaStream_t)t->stream>>>((S *)ones_of(t), count);
        return cudaGetLastError();
    });
}

static size_t workspace(const struct cuda_task *t, size_t count)
{
    cublasHandle_t handle = NULL;
    size_t width = 0;
    (void)with_type(t->of->in.format, [&](auto s) { return width = sizeof s, (int)cudaSuccess; });
    std::lock_guard<std::mutex> lock(one_at_a_time);
    (void)handle_here(&handle); /* not in a capture, and if it fails the call says so */
    return own_bytes + results_bytes + count * width;
}

/* --- vectors --- */

static size_t vector_workspace(const struct cuda_task *t)
{
    return workspace(t, t->of->in.n);
}

/* The same for what needs no ones. */
static size_t bare_workspace(const struct cuda_task *t)
{
    return workspace(t, 0);
}

static int vector_prepare(const struct cuda_task *t)
{
    return fill_ones(t, t->of->in.n);
}

static cudaDataType execution_of(enum format f)
{
    return f == FP64 ? CUDA_R_64F : CUDA_R_32F;
}

/* The dot product with the second array, or with ones where there is none; executed in fp32, or in
 * fp64 on fp64. */
static int dot(const struct cuda_task *t)
{
    cudaDataType type = type_of(t->of->in.format), execution = execution_of(t->of->in.format);
    int64_t n = (int64_t)t->of->in.n;
    return call(t, CUBLAS_DEFAULT_MATH, CUBLAS_POINTER_MODE_DEVICE, [&](cublasHandle_t handle) {
        return loaded()->dot(handle, n, t->of->in.data, type, 1,
                             t->of->in2.data ? t->of->in2.data : ones_of(t), type, 1, t->out, type,
                             execution);
    });
}

/* The 2-norm of the input by nrm2; executed likewise. */
static int norm(const struct cuda_task *t)
{
    cudaDataType type = type_of(t->of->in.format), execution = execution_of(t->of->in.format);
    int64_t n = (int64_t)t->of->in.n;
    return call(t, CUBLAS_DEFAULT_MATH, CUBLAS_POINTER_MODE_DEVICE, [&](cublasHandle_t handle) {
        return loaded()->norm(handle, n, t->of->in.data, type, 1, t->out, type, execution);
    });
}

/* The input is a matrix of one column, transposed. */
static cublasStatus_t gemv_of(cublasHandle_t handle, const struct cuda_task *t)
{
    const float alpha = 1, beta = 0;
    const double alpha_double = 1, beta_double = 0;
    const void *ones = ones_of(t);
    int64_t n = (int64_t)t->of->in.n;
    switch (FORMATS * t->of->in.format + t->accumulator) {
    case FORMATS *FP16 + FP32:
        return loaded()->gemv_fp16(handle, CUBLAS_OP_T, n, 1, &alpha,
                                   (const __half *)t->of->in.data, n, n, (const __half *)ones, 1, n,
                                   &beta, (float *)t->out, 1, 1, 1);
    case FORMATS *BF16 + FP32:
        return loaded()->gemv_bf16(
            handle, CUBLAS_OP_T, n, 1, &alpha, (const __nv_bfloat16 *)t->of->in.data, n, n,
            (const __nv_bfloat16 *)ones, 1, n, &beta, (float *)t->out, 1, 1, 1);
    case FORMATS *FP32 + FP32:
        return loaded()->gemv_fp32(handle, CUBLAS_OP_T, n, 1, &alpha, (const float *)t->of->in.data,
                                   n, (const float *)ones, 1, &beta, (float *)t->out, 1);
    case FORMATS *FP64 + FP64:
        return loaded()->gemv_fp64(handle, CUBLAS_OP_T, n, 1, &alpha_double,
                                   (const double *)t->of->in.data, n, (const double *)ones, 1,
                                   &beta_double, (double *)t->out, 1);
    default:
        return CUBLAS_STATUS_NOT_SUPPORTED;
    }
}

/* The input as a row, times a column of ones. */
template <enum mode mode> static int gemv(const struct cuda_task *t)
{
    return call(t, math_of(mode), CUBLAS_POINTER_MODE_HOST,
                [&](cublasHandle_t handle) { return gemv_of(handle, t); });
}

/* --- magnitudes --- */

static int of_one_format(const struct cuda_task *t, int (*of_fp32)(const struct cuda_task *t),
                         int (*of_fp64)(const struct cuda_task *t))
{
    switch (FORMATS * t->of->in.format + t->accumulator) {
    case FORMATS *FP32 + FP32:
        return of_fp32(t);
    case FORMATS *FP64 + FP64:
        return of_fp64(t);
    default:
        return cudaErrorNotSupported;
    }
}

/* Of each element one part is 0: adding it changes nothing. */
template <typename S> __global__ void split(const S *in, size_t n, S *above, S *below)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
         i += (size_t)gridDim.x * blockDim.x) {
        S x = in[i];
        bool negative = x < S(0); /* not a NaN */
        above[i] = negative ? S(0) : x;
        below[i] = negative ? -x : S(0);
    }
}

template <typename S> __global__ void subtract(S *out, const S *sums)
{
    *out = add(sums[0], -sums[1]);
}

static size_t asum_workspace(const struct cuda_task *t)
{
    return workspace(t, 2 * leading(t->of->in.n));
}

static cublasStatus_t asum_into(float *sum, cublasHandle_t handle, int64_t n, const float *x)
{
    return loaded()->asum_fp32(handle, n, x, 1, sum);
}

static cublasStatus_t asum_into(double *sum, cublasHandle_t handle, int64_t n, const double *x)
{
    return loaded()->asum_fp64(handle, n, x, 1, sum);
}

template <typename S> static int sum_by_asum_as(const struct cuda_task *t)
{
    cudaStream_t stream = (cudaStream_t)t->stream;
    S *above = (S *)ones_of(t), *below = above + leading(t->of->in.n);
    S *sums = (S *)((char *)t->workspace + own_bytes);
    if (t->of->in.n > 0)
        split<S><<<fill_grid(t->of->in.n), 256, 0, stream>>>((const S *)t->of->in.data, t->of->in.n,
                                                             above, below);
    int error =
        call(t, CUBLAS_DEFAULT_MATH, CUBLAS_POINTER_MODE_DEVICE, [&](cublasHandle_t handle) {
            cublasStatus_t status = asum_into(&sums[0], handle, (int64_t)t->of->in.n, above);
            return status == CUBLAS_STATUS_SUCCESS
                       ? asum_into(&sums[1], handle, (int64_t)t->of->in.n, below)
                       : status;
        });
    if (t->of->in.n > 0 && error == cudaSuccess)
        subtract<S><<<1, 1, 0, stream>>>((S *)t->out, sums);
    return error == cudaSuccess ? (int)cudaGetLastError() : error;
}

template <typename S> static int asum_as(const struct cuda_task *t)
{
    return call(t, CUBLAS_DEFAULT_MATH, CUBLAS_POINTER_MODE_DEVICE, [&](cublasHandle_t handle) {
        return asum_into((S *)t->out, handle, (int64_t)t->of->in.n, (const S *)t->of->in.data);
    });
}

/* What the positive elements add up to by asum, less what the others do by asum. */
static int sum_by_asum(const struct cuda_task *t)
{
    return of_one_format(t, sum_by_asum_as<float>, sum_by_asum_as<double>);
}

/* What the magnitudes of all elements add up to. */
static int asum(const struct cuda_task *t)
{
    return of_one_format(t, asum_as<float>, asum_as<double>);
}

/* --- matrices --- */

static size_t matrix_workspace(const struct cuda_task *t)
{
    return workspace(t, columns * leading(t->of->in.n));
}

static int matrix_prepare(const struct cuda_task *t)
{
    return fill_ones(t, columns * leading(t->of->in.n));
}

static cublasComputeType_t compute_of(enum format accumulator, enum mode mode)
{
    bool pedantic = mode == mode_pedantic;
    if (mode == mode_tf32)
        return CUBLAS_COMPUTE_32F_FAST_TF32;
    if (accumulator == FP16)
        return pedantic ? CUBLAS_COMPUTE_16F_PEDANTIC : CUBLAS_COMPUTE_16F;
    if (accumulator == FP64)
        return pedantic ? CUBLAS_COMPUTE_64F_PEDANTIC : CUBLAS_COMPUTE_64F;
    return pedantic ? CUBLAS_COMPUTE_32F_PEDANTIC : CUBLAS_COMPUTE_32F;
}

/* The input is a matrix of one column, transposed; the product is a row of equal results. */
template <typename A>
static cublasStatus_t gemm_of(cublasHandle_t handle, const struct cuda_task *t, enum mode mode)
{
    const A alpha = A(1.0f), beta = A(0.0f);
    int64_t n = (int64_t)t->of->in.n, apart = (int64_t)leading(t->of->in.n);
    cudaDataType from = type_of(t->of->in.format), to = type_of(t->accumulator);
    A *row = (A *)((char *)t->workspace + own_bytes);
    cublasStatus_t status =
        loaded()->gemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, 1, (int64_t)columns, n, &alpha,
                       t->of->in.data, from, apart, ones_of(t), from, apart, &beta, row, to, 1,
                       compute_of(t->accumulator, mode), CUBLAS_GEMM_DEFAULT);
    if (status != CUBLAS_STATUS_SUCCESS)
        return status;
    cudaError_t error =
        cudaMemcpyAsync(t->out, row, sizeof(A), cudaMemcpyDeviceToDevice, (cudaStream_t)t->stream);
    return error == cudaSuccess ? status : CUBLAS_STATUS_EXECUTION_FAILED;
}

/* The input as a row, times `columns` columns of ones. */
template <enum mode mode> static int gemm(const struct cuda_task *t)
{
    static_assert(columns * sizeof(double) <= results_bytes, "");
    return with_type(t->accumulator, [&](auto a) -> int {
        typedef decltype(a) A;
        return call(t, CUBLAS_DEFAULT_MATH, CUBLAS_POINTER_MODE_HOST,
                    [&](cublasHandle_t handle) { return gemm_of<A>(handle, t, mode); });
    });
}

/* --- products of matrices --- */

/* What is row-major here is column-major there, transposed: D' = B' A' + C'. */
template <typename A>
static cublasStatus_t product_of(cublasHandle_t handle, const struct cuda_task *t, enum mode mode)
{
    const struct gemm_shape *s = &t->of->gemm;
    const A one = A(1.0f), zero = A(0.0f);
    const cudaDataType from = type_of(t->of->in.format);
    const char *a = (const char *)t->of->in.data;
    const char *b = a + gemm_b_begins(s) * (size_t)format_facts[t->of->in.format].bytes;
    return loaded()->gemm(handle, s->b_column ? CUBLAS_OP_T : CUBLAS_OP_N,
                          s->a_column ? CUBLAS_OP_T : CUBLAS_OP_N, (int64_t)s->n, (int64_t)s->m,
                          (int64_t)s->k, &one, b, from, (int64_t)gemm_ldb(s), a, from,
                          (int64_t)gemm_lda(s), s->no_c ? &zero : &one, t->out, type_of(t->output),
                          (int64_t)s->n, compute_of(t->accumulator, mode), CUBLAS_GEMM_DEFAULT);
}

template <enum mode mode> static int product(const struct cuda_task *t)
{
    const struct gemm_shape *s = &t->of->gemm;
    const size_t bytes = s->m * s->n * (size_t)format_facts[t->output].bytes;
    if (bytes == 0)
        return cudaSuccess;
    cudaError_t error = cudaSuccess;
    if (!s->no_c || s->k == 0)
        error = cudaMemcpyAsync(t->out, t->of->c.data, bytes, cudaMemcpyDeviceToDevice,
                                (cudaStream_t)t->stream);
    if (error != cudaSuccess || s->k == 0)
        return error;
    return with_type(t->accumulator, [&](auto a) -> int {
        typedef decltype(a) A;
        return call(t, CUBLAS_DEFAULT_MATH, CUBLAS_POINTER_MODE_HOST,
                    [&](cublasHandle_t handle) { return product_of<A>(handle, t, mode); });
    });
}

/* --- methods --- */

/* What a routine takes of the workspace, how it is called, and what fills in its ones. */
#define METHOD(name, workspace, ...)                                                               \
    extern "C" const struct cuda_method cublas_##name##_cuda = {workspace, no_workspace,           \
                                                                __VA_ARGS__};

METHOD(sum_by_dot, vector_workspace, dot, vector_prepare)
METHOD(sum_by_dot_16, vector_workspace, dot, vector_prepare)
METHOD(dot_product, bare_workspace, dot)
METHOD(sum_by_asum, asum_workspace, sum_by_asum)
METHOD(l1_norm, bare_workspace, asum)
METHOD(norm, bare_workspace, norm)
METHOD(sum_by_gemv, vector_workspace, gemv<mode_default>, vector_prepare)
METHOD(sum_by_gemv_16, vector_workspace, gemv<mode_default>, vector_prepare)
METHOD(sum_by_gemv_tf32, vector_workspace, gemv<mode_tf32>, vector_prepare)
METHOD(sum_by_gemv_pedantic, vector_workspace, gemv<mode_pedantic>, vector_prepare)
METHOD(sum_by_gemm, matrix_workspace, gemm<mode_default>, matrix_prepare)
METHOD(sum_by_gemm_16, matrix_workspace, gemm<mode_default>, matrix_prepare)
METHOD(sum_by_gemm_tf32, matrix_workspace, gemm<mode_tf32>, matrix_prepare)
METHOD(sum_by_gemm_pedantic, matrix_workspace, gemm<mode_pedantic>, matrix_prepare)
METHOD(matrix_product, bare_workspace, product<mode_default>)
METHOD(matrix_product_16, bare_workspace, product<mode_default>)
METHOD(matrix_product_tf32, bare_workspace, product<mode_tf32>)

} // namespace cublas
