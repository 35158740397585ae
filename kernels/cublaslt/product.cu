/* Matrix products by cublasLtMatmul (product.c says which).
 *
 * There is one handle for a device, made when a workspace is asked for. A workspace holds
 * cuBLASLt's own part and, for 8 bits, copies of what does not lie as the library takes it. What is
 * row-major here is column-major there, transposed: D' = B' A' + C'. */
#include "kernels/cublaslt/routines.cuh"
#include "kernels/gemm/elements.cuh"

#include <cstdio>
#include <mutex>

namespace cublaslt
{

using gemm::product;
using gemm::product_of;

/* What a subject asks for. */
struct asked {
    cublasComputeType_t (*compute)(enum format accumulator);
    size_t bytes; /* of workspace */
    bool fast;    /* 8 bits: sums are not promoted */
    bool split;   /* k may be split */
    bool emulates;
    int choice; /* of the heuristic: 0 is the first */
};

enum { DEVICES = 64 };
static std::mutex one_at_a_time; /* makes handles */
static cublasLtHandle_t handles[DEVICES];

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

static int handle_here(cublasLtHandle_t *handle)
{
    int device = 0, made = cudaSuccess;
    cudaError_t error = cudaGetDevice(&device);
    if (error != cudaSuccess)
        return error;
    if (device >= DEVICES)
        return cudaErrorInvalidDevice;
    if (!loaded())
        return cudaErrorSharedObjectInitFailed;
    std::lock_guard<std::mutex> lock(one_at_a_time);
    if (!handles[device])
        made = error_of(loaded()->create(&handles[device]));
    *handle = handles[device];
    return made;
}

static cudaDataType type_of(enum format f)
{
    switch (f) {
    case FP16:
        return CUDA_R_16F;
    case BF16:
        return CUDA_R_16BF;
    case FP32:
        return CUDA_R_32F;
    case FP64:
        return CUDA_R_64F;
    case E4M3:
        return CUDA_R_8F_E4M3;
    case E5M2:
        return CUDA_R_8F_E5M2;
    }
    return CUDA_R_32F;
}

/* --- what is multiplied, as the library sees it --- */

struct matrix {
    const void *data;
    size_t step; /* elements from one column to the next */
    bool turned; /* transposed */
};

struct call {
    struct matrix first, second; /* B', A' */
    const void *c;
    void *d;
    size_t rows, columns, k; /* of D' */
    enum format of, c_format, d_format;
    bool adds;
    const float *scale_first, *scale_second; /* one number each; NULL: there are none */
};

static size_t rounded_up(size_t n, size_t to)
{
    return groups_of(n, to) * to;
}

/* Operands of 8 bits are to lie with k along rows, which are multiples of 16 bytes. */
constexpr size_t line = 16;

static bool lies_well(const struct gemm::factor &f)
{
    return f.next == 1 && f.step % line == 0 && (size_t)f.data % line == 0;
}

/* Where copies are, in bytes from the begin of a workspace. Which are made depends on addresses;
 * there is room for all. */
struct places {
    size_t a, b, c, d, end;
};

static struct places places_of(const struct gemm_shape *s, enum format output, size_t own)
{
    const size_t k = rounded_up(s->k, line), n = rounded_up(s->n, line);
    const size_t c_bytes = output == FP32 ? 4 : 2, d_bytes = format_facts[output].bytes;
    struct places p;
    p.a = rounded_up(own, 256);
    p.b = p.a + rounded_up(s->m * k, 256);
    p.c = p.b + rounded_up(n * k, 256);
    p.d = p.c + rounded_up(s->m * n * c_bytes, 256);
    p.end = p.d + rounded_up(s->m * n * d_bytes, 256);
    return p;
}

/* `lines` lines of k bytes each, `wide` bytes apart, and zeros. */
__global__ static void copy_lines(const __grid_constant__ struct gemm::factor from, size_t k,
                                  unsigned char *to, size_t wide, size_t lines)
{
    const size_t grid = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < lines * wide; i += grid) {
        const size_t l = i / wide, at = i % wide;
        to[i] = l < from.many && at < k
                    ? ((const unsigned char *)from.data)[l * from.step + at * from.next]
                    : 0;
    }
}

/* C, which T holds exactly, its rows `wide` elements apart. */
template <typename T>
__global__ static void copy_c(const __grid_constant__ struct product p, T *to, size_t wide)
{
    const size_t grid = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < p.a.many * wide; i += grid)
        to[i] = i % wide < p.b.many ? gemm::load_c<T>(p, i / wide * p.b.many + i % wide)
                                    : rounded<T>(0.0f);
}

static const void *laid(const struct gemm::factor &f, size_t k, char *to, size_t lines,
                        cudaStream_t stream)
{
    if (lies_well(f) && f.many == lines && k % line == 0)
        return f.data;
    const size_t wide = rounded_up(k, line);
    copy_lines<<<grid_for(groups_of(lines * wide, 256)), 256, 0, stream>>>(
        f, k, (unsigned char *)to, wide, lines);
    return to;
}

/* Of 8 bits. */
static struct call call_of_bytes(const struct cuda_task *t, const struct asked &ask)
{
    const struct gemm_shape *s = &t->of->gemm;
    const struct product p = product_of(t);
    const struct places at = places_of(s, t->output, ask.bytes);
    const size_t k = rounded_up(s->k, line), n = rounded_up(s->n, line);
    const bool whole = n == s->n && k == s->k;
    cudaStream_t stream = (cudaStream_t)t->stream;
    char *memory = (char *)t->workspace;
    struct call c = {};
    c.first = {laid(p.b, s->k, memory + at.b, n, stream), whole && lies_well(p.b) ? p.b.step : k,
               true};
    c.second = {laid(p.a, s->k, memory + at.a, s->m, stream),
                k == s->k && lies_well(p.a) ? p.a.step : k, false};
    c.rows = n, c.columns = s->m, c.k = k, c.of = t->of->in.format;
    c.adds = !s->no_c;
    if (p.scaling != GEMM_UNSCALED) {
        c.scale_first = p.b.scale.of;
        c.scale_second = p.a.scale.of;
    }
    c.d = n == s->n ? t->out : memory + at.d;
    c.d_format = t->output;
    c.c_format = t->output == FP32 ? FP32 : BF16; /* the library takes no C of 8 bits */
    /* Where nothing is added, C is not read; but cuBLASLt 13.1 refuses to have it where D is,
     * unless they are laid out alike. */
    c.c = c.adds ? p.c : c.c_format == c.d_format ? c.d : memory + at.c;
    if (c.adds && (n != s->n || c.c_format != t->output)) {
        const unsigned grid = grid_for(groups_of(s->m * n, 256));
        c.c = memory + at.c;
        if (c.c_format == FP32)
            copy_c<float><<<grid, 256, 0, stream>>>(p, (float *)(memory + at.c), n);
        else
            copy_c<__nv_bfloat16><<<grid, 256, 0, stream>>>(p, (__nv_bfloat16 *)(memory + at.c), n);
    }
    return c;
}

static struct call call_of(const struct cuda_task *t)
{
    const struct gemm_shape *s = &t->of->gemm;
    const struct product p = product_of(t);
    return {{p.b.data, gemm_ldb(s), (bool)s->b_column},
            {p.a.data, gemm_lda(s), (bool)s->a_column},
            s->no_c ? t->out : p.c,
            t->out,
            s->n,
            s->m,
            s->k,
            t->of->in.format,
            t->output,
            t->output,
            !s->no_c,
            nullptr,
            nullptr};
}

/* --- the library's descriptions of it --- */

/* The greatest power of two, 256 at most, that an address is a multiple of. */
static unsigned alignment_of(const void *p)
{
    unsigned a = 256;
    while ((size_t)p % a != 0)
        a /= 2;
    return a;
}

/* Every description of a call; destroyed with it. The first failure is kept, and then nothing more
 * is done. */
struct description {
    const struct routines *library = loaded();
    cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
    cublasLtMatmulDesc_t product = NULL;
    cublasLtMatrixLayout_t first = NULL, second = NULL, c = NULL, d = NULL;
    cublasLtMatmulPreference_t limits = NULL;
#if CUBLASLT_EMULATES
    cublasLtEmulationDesc_t emulation = NULL;
#endif

    bool fine() const
    {
        return status == CUBLAS_STATUS_SUCCESS;
    }
    template <typename T> void set(cublasLtMatmulDescAttributes_t which, T value)
    {
        if (fine())
            status = library->desc_set(product, which, &value, sizeof value);
    }
    template <typename T> void limit(cublasLtMatmulPreferenceAttributes_t which, T value)
    {
        if (fine())
            status = library->preference_set(limits, which, &value, sizeof value);
    }
    void lay(cublasLtMatrixLayout_t *to, cudaDataType type, size_t rows, size_t columns,
             size_t step)
    {
        if (fine())
            status = library->layout_create(to, type, rows, columns, (int64_t)step);
    }
    void emulate();

    description(const struct asked &ask, const struct call &call, enum format accumulator);
    ~description();
    description(const description &) = delete;
};

/* Wherever the library can, not only where it is faster. */
void description::emulate()
{
#if CUBLASLT_EMULATES
    if (fine() && !library->emulates)
        status = CUBLAS_STATUS_NOT_SUPPORTED;
    if (fine())
        status = library->emulation_create(&emulation);
    const int32_t eager = CUBLAS_EMULATION_STRATEGY_EAGER;
    if (fine())
        status = library->emulation_set(emulation, CUBLASLT_EMULATION_DESC_STRATEGY, &eager,
                                        sizeof eager);
    set(CUBLASLT_MATMUL_DESC_EMULATION_DESCRIPTOR, emulation);
#else
    if (fine())
        status = CUBLAS_STATUS_NOT_SUPPORTED;
#endif
}

description::description(const struct asked &ask, const struct call &call, enum format accumulator)
{
    const cudaDataType of = type_of(call.of);
    const int32_t turned = CUBLAS_OP_T;
    status = library->desc_create(&product, ask.compute(accumulator), type_of(accumulator));
    if (call.first.turned)
        set(CUBLASLT_MATMUL_DESC_TRANSA, turned);
    if (call.second.turned)
        set(CUBLASLT_MATMUL_DESC_TRANSB, turned);
    if (ask.fast)
        set(CUBLASLT_MATMUL_DESC_FAST_ACCUM, (int8_t)1);
    if (call.scale_first) {
        set(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, (const void *)call.scale_first);
        set(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, (const void *)call.scale_second);
    }
    if (ask.emulates)
        emulate();
    const size_t m = call.rows, n = call.columns, k = call.k;
    lay(&first, of, call.first.turned ? k : m, call.first.turned ? m : k, call.first.step);
    lay(&second, of, call.second.turned ? n : k, call.second.turned ? k : n, call.second.step);
    lay(&c, type_of(call.c_format), m, n, m);
    lay(&d, type_of(call.d_format), m, n, m);
    if (fine())
        status = library->preference_create(&limits);
    limit(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, (uint64_t)ask.bytes);
    if (!ask.split)
        limit(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, (uint32_t)CUBLASLT_REDUCTION_SCHEME_NONE);
    limit(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, (uint32_t)alignment_of(call.first.data));
    limit(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, (uint32_t)alignment_of(call.second.data));
    limit(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, (uint32_t)alignment_of(call.c));
    limit(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, (uint32_t)alignment_of(call.d));
}

description::~description()
{
#if CUBLASLT_EMULATES
    if (emulation)
        (void)library->emulation_destroy(emulation);
#endif
    if (limits)
        (void)library->preference_destroy(limits);
    for (cublasLtMatrixLayout_t l : {first, second, c, d})
        if (l)
            (void)library->layout_destroy(l);
    if (product)
        (void)library->desc_destroy(product);
}

/* --- the call --- */

template <typename A>
static cublasStatus_t multiply(cublasLtHandle_t handle, const struct cuda_task *t,
                               const struct asked &ask, const struct call &call)
{
    const A one = A(1.0f), zero = A(0.0f);
    struct description of(ask, call, t->accumulator);
    cublasLtMatmulHeuristicResult_t found[HEURISTIC_NAMES];
    int count = 0;
    if (of.fine())
        of.status = of.library->heuristic(handle, of.product, of.first, of.second, of.c, of.d,
                                          of.limits, HEURISTIC_NAMES, found, &count);
    if (of.fine() && count <= ask.choice)
        of.status = CUBLAS_STATUS_NOT_SUPPORTED;
    if (of.fine())
        of.status = found[ask.choice].state;
    if (of.fine())
        of.status = of.library->multiply(handle, of.product, &one, call.first.data, of.first,
                                         call.second.data, of.second, call.adds ? &one : &zero,
                                         call.c, of.c, call.d, of.d, &found[ask.choice].algo,
                                         t->workspace, ask.bytes, (cudaStream_t)t->stream);
    return of.status;
}

static bool of_bytes(const struct cuda_task *t)
{
    return format_facts[t->of->in.format].bytes == 1;
}

static int run(const struct cuda_task *t, const struct asked &ask)
{
    const struct gemm_shape *s = &t->of->gemm;
    const size_t width = (size_t)format_facts[t->output].bytes, bytes = s->m * s->n * width;
    cudaStream_t stream = (cudaStream_t)t->stream;
    cublasLtHandle_t handle = NULL;
    if (bytes == 0)
        return cudaSuccess;
    if (s->k == 0)
        return cudaMemcpyAsync(t->out, t->of->c.data, bytes, cudaMemcpyDeviceToDevice, stream);
    int error = handle_here(&handle);
    if (error != cudaSuccess)
        return error;
    const struct call call = of_bytes(t) ? call_of_bytes(t, ask) : call_of(t);
    error = with_type(t->accumulator, [&](auto a) -> int {
        return error_of(multiply<decltype(a)>(handle, t, ask, call));
    });
    if (error == cudaSuccess && call.d != t->out)
        error = cudaMemcpy2DAsync(t->out, s->n * width, call.d, call.rows * width, s->n * width,
                                  s->m, cudaMemcpyDeviceToDevice, stream);
    return error == cudaSuccess ? (int)cudaGetLastError() : error;
}

static size_t workspace(const struct cuda_task *t, const struct asked &ask)
{
    cublasLtHandle_t handle = NULL;
    (void)handle_here(&handle); /* not in a capture, and if it fails the call says so */
    return of_bytes(t) ? places_of(&t->of->gemm, t->output, ask.bytes).end
                       : rounded_up(ask.bytes, 256);
}

/* --- subjects --- */

static cublasComputeType_t plainly(enum format accumulator)
{
    return accumulator == FP16   ? CUBLAS_COMPUTE_16F
           : accumulator == FP64 ? CUBLAS_COMPUTE_64F
                                 : CUBLAS_COMPUTE_32F;
}

static cublasComputeType_t in_tf32(enum format)
{
    return CUBLAS_COMPUTE_32F_FAST_TF32;
}

static cublasComputeType_t emulated(enum format accumulator)
{
#if CUBLASLT_EMULATES
    return accumulator == FP64 ? CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT
                               : CUBLAS_COMPUTE_32F_EMULATED_16BFX9;
#else
    return plainly(accumulator);
#endif
}

/* What NVIDIA recommends for Hopper (cublasSetWorkspace's page); an emulation keeps slices of A and
 * B and integer products there, and without the room for them does not emulate. */
constexpr size_t usual = (size_t)32 << 20, plenty = (size_t)512 << 20;

constexpr struct asked first = {plainly, usual, false, true, false, 0};
constexpr struct asked tf32 = {in_tf32, usual, false, true, false, 0};
constexpr struct asked fast = {plainly, usual, true, true, false, 0};
constexpr struct asked bare = {plainly, 0, false, true, false, 0};
constexpr struct asked whole = {plainly, usual, false, false, false, 0};
constexpr struct asked second = {plainly, usual, false, true, false, 1};
constexpr struct asked emulation = {emulated, plenty, false, true, true, 0};

/* The same with what the task asks for. */
static struct asked asked_of(const struct cuda_task *t, struct asked own)
{
    const struct heuristic &h = t->of->heuristic;
    own.bytes = h.has_workspace ? h.workspace : own.bytes;
    own.choice = h.has_algorithm ? (int)h.algorithm : own.choice;
    return own;
}

#define METHOD(name, own)                                                                          \
    extern "C" const struct cuda_method cublaslt_##name##_cuda = {                                 \
        [](const struct cuda_task *t) { return workspace(t, asked_of(t, own)); }, no_workspace,    \
        [](const struct cuda_task *t) { return run(t, asked_of(t, own)); }};

METHOD(product, first)
METHOD(product_16, first)
METHOD(product_tf32, tf32)
METHOD(product_8, first)
METHOD(product_8_fast, fast)
METHOD(product_16_no_workspace, bare)
METHOD(product_16_no_split_k, whole)
METHOD(product_16_second, second)
METHOD(product_emulated, emulation)

} // namespace cublaslt
