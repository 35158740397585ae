/* Reproducers in CUDA: of shared objects that take device memory, and of the libraries that methods
 * of ours call. */
#include <stdio.h>
#include <string.h>

#include "experiments/check/reproducer/reproducer.h"
#include "experiments/options/subject_name.h"

/* In C++: S, A and O are the types of elements, accumulator and results. */
#define STORED(call, ...)                                                                          \
    "    static void *storage;\n    static size_t bytes;\n"                                        \
    "    if (!storage) {\n        GOOD(" call "(NULL, bytes, " __VA_ARGS__ "));\n"                 \
    "        GOOD(cudaMalloc(&storage, bytes + 1));\n    }\n"                                      \
    "    return " call "(storage, bytes, " __VA_ARGS__ ");\n"
#define REQUIRED(level)                                                                            \
    "    return cub::DeviceReduce::Reduce(ELEMENTS(x), out, int(N), cuda::std::plus<A>(), "        \
    "A(-0.0f),\n"                                                                                  \
    "                                     "                                                        \
    "cuda::execution::require(cuda::execution::determinism::" level "));\n"

/* In front of CUDA's own headers, which may be older. */
static const char *const required = "-I CCCL && ./reproducer (CCCL: headers, 3.1 or later)";
static const char *const linked = "-lcublas && ./reproducer";
static const char *const reduce_header =
    "#include <cub/device/device_reduce.cuh>\n#include <thrust/iterator/transform_iterator.h>\n";
static const char *const scan_header = "#include <cub/device/device_scan.cuh>\n";
static const char *const by_key_header =
    "#include <cub/device/device_reduce.cuh>\n#include <thrust/iterator/constant_iterator.h>\n";
static const char *const sorted_header =
    "#include <algorithm>\n#include <numeric>\n#include <vector>\n"
    "#include <cub/device/device_reduce.cuh>\n";
static const char *const cublas_header = "#include <cublas_v2.h>\n";
static const char *const cublas_begin =
    "    static cublasHandle_t handle;\n    if (!handle) {\n        GOOD(cublasCreate(&handle));\n"
    "        GOOD(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));\n    }\n";

/* Callers of ReduceByKey sort by key first; each sum then goes to the bin of its key. */
static const char *const sorted_call =
    "    static uint32_t *key[2], *found;\n    static S *sorted[2];\n    static A *sum;\n"
    "    static unsigned long long *count;\n    static void *storage;\n    static size_t bytes;\n"
    "    (void)x;\n"
    "    if (!key[k]) { /* equal keys keep their order */\n"
    "        std::vector<uint32_t> order(N), own(N);\n        std::vector<element> value(N);\n"
    "        std::iota(order.begin(), order.end(), 0u);\n"
    "        std::stable_sort(order.begin(), order.end(),\n"
    "                         [k](uint32_t a, uint32_t b) { return keys[k][a] < keys[k][b]; "
    "});\n"
    "        for (size_t i = 0; i < N; i++) {\n            own[i] = keys[k][order[i]];\n"
    "            value[i] = setting[k].in[order[i]];\n        }\n"
    "        GOOD(cudaMalloc(&key[k], N * sizeof(uint32_t)));\n"
    "        GOOD(cudaMalloc(&sorted[k], N * sizeof(S)));\n"
    "        GOOD(cudaMemcpy(key[k], own.data(), N * sizeof(uint32_t), "
    "cudaMemcpyHostToDevice));\n"
    "        GOOD(cudaMemcpy(sorted[k], value.data(), N * sizeof(S), cudaMemcpyHostToDevice));\n"
    "    }\n"
    "    if (!storage) {\n        GOOD(cudaMalloc(&found, N * sizeof(uint32_t)));\n"
    "        GOOD(cudaMalloc(&sum, N * sizeof(A)));\n"
    "        GOOD(cudaMalloc(&count, sizeof *count));\n"
    "        GOOD(cub::DeviceReduce::ReduceByKey(NULL, bytes, key[k], found, sorted[k], sum, "
    "count,\n"
    "                                            rounded(), size_t(N)));\n"
    "        GOOD(cudaMalloc(&storage, bytes + 1));\n    }\n"
    "    GOOD(cub::DeviceReduce::ReduceByKey(storage, bytes, key[k], found, sorted[k], sum, "
    "count,\n"
    "                                        rounded(), size_t(N)));\n"
    "    unsigned long long runs = 0;\n"
    "    GOOD(cudaMemcpy(&runs, count, sizeof runs, cudaMemcpyDeviceToHost));\n"
    "    std::vector<uint32_t> own(runs);\n    std::vector<result> sums(runs), bin(OUTPUTS, 0);\n"
    "    GOOD(cudaMemcpy(own.data(), found, runs * sizeof(uint32_t), cudaMemcpyDeviceToHost));\n"
    "    GOOD(cudaMemcpy(sums.data(), sum, runs * sizeof(A), cudaMemcpyDeviceToHost));\n"
    "    for (size_t i = 0; i < runs; i++)\n        bin[own[i]] = sums[i];\n"
    "    return cudaMemcpy(out, bin.data(), OUTPUTS * sizeof(A), cudaMemcpyHostToDevice);\n";

static const struct call {
    const char *name;
    const char *const *header;
    const char *inclusive, *exclusive;
    const char *const *options; /* of the compiler; NULL: none */
    bool cublas;
} calls[] = {
    {"cub/sum", &reduce_header,
     STORED("cub::DeviceReduce::Reduce", "x, out, int(N), rounded(), A(-0.0f)"), NULL, NULL, false},
    {"cub/sum_run_to_run", &reduce_header, REQUIRED("run_to_run"), NULL, &required, false},
    {"cub/sum_gpu_to_gpu", &reduce_header, REQUIRED("gpu_to_gpu"), NULL, &required, false},
    {"cub/sum_not_guaranteed", &reduce_header, REQUIRED("not_guaranteed"), NULL, &required, false},
    {"cub/sum_by_key", &by_key_header,
     "    static int *key;\n    static unsigned long long *runs;\n"
     "    if (!key) {\n        GOOD(cudaMalloc(&key, sizeof *key));\n"
     "        GOOD(cudaMalloc(&runs, sizeof *runs));\n    }\n" STORED(
         "cub::DeviceReduce::ReduceByKey",
         "thrust::constant_iterator<int>(0), key, x, out, runs, rounded(), size_t(N)"),
     NULL, NULL, false},
    {"cub/reduce_by_key", &sorted_header, sorted_call, NULL, NULL, false},
    {"cub/scan", &scan_header,
     STORED("cub::DeviceScan::InclusiveScan", "x, out, cuda::std::plus<A>(), int(N)"),
     STORED("cub::DeviceScan::ExclusiveScan", "x, out, cuda::std::plus<A>(), A(0.0f), int(N)"),
     NULL, false},
    {"thrust/sum",
     &(const char *const){"#include <thrust/execution_policy.h>\n#include <thrust/reduce.h>\n"},
     "    A sum = thrust::reduce(thrust::device, x, x + N, A(-0.0f), rounded());\n"
     "    return cudaMemcpy(out, &sum, sizeof sum, cudaMemcpyHostToDevice);\n",
     NULL, NULL, false},
    {"thrust/scan",
     &(const char *const){"#include <thrust/execution_policy.h>\n#include <thrust/scan.h>\n"},
     "    thrust::inclusive_scan(thrust::device, x, x + N, out, thrust::plus<A>());\n"
     "    return cudaSuccess;\n",
     "    thrust::exclusive_scan(thrust::device, x, x + N, out, A(0.0f), thrust::plus<A>());\n"
     "    return cudaSuccess;\n",
     NULL, false},
    {"cublas/sum_by_dot", &cublas_header,
     "    return cublasDotEx_64(handle, N, x, TYPE, 1, ones(), TYPE, 1, out, TYPE, EXECUTION);\n",
     NULL, &linked, true},
    {"cublas/sum_by_dot_16", &cublas_header,
     "    return cublasDotEx_64(handle, N, x, TYPE, 1, ones(), TYPE, 1, out, TYPE, EXECUTION);\n",
     NULL, &linked, true},
    {"cublas/dot_product", &cublas_header,
     "    return cublasDotEx_64(handle, N, x, TYPE, 1, y, TYPE, 1, out, TYPE, EXECUTION);\n", NULL,
     &linked, true},
    {"cublas/norm", &cublas_header,
     "    return cublasNrm2Ex_64(handle, N, x, TYPE, 1, out, TYPE, EXECUTION);\n", NULL, &linked,
     true},
    {"cublas/l1_norm", &cublas_header, "    return ASUM(handle, N, x, 1, out);\n", NULL, &linked,
     true},
};

/* Of whatever release: cub/sum@3.1.4 is called as cub/sum is. */
static const struct call *call_of(const struct method *m)
{
    size_t length = strcspn(m->name, "@");
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strlen(calls[i].name) == length && strncmp(m->name, calls[i].name, length) == 0)
            return &calls[i];
    return NULL;
}

bool reproducer_calls(const struct method *m)
{
    return call_of(m);
}

static const char *const type[FORMATS] = {
    [FP16] = "__half", [BF16] = "__nv_bfloat16", [FP32] = "float",
    [FP64] = "double", [E4M3] = "uint8_t",       [E5M2] = "uint8_t"};
static const char *const cuda_type[FORMATS] = {[FP16] = "CUDA_R_16F", [BF16] = "CUDA_R_16BF",
                                               [FP32] = "CUDA_R_32F", [FP64] = "CUDA_R_64F",
                                               [E4M3] = "",           [E5M2] = ""};

static const char *const good =
    "/* Ends the program where a call of CUDA's or of a library's fails. */\n"
    "#define GOOD(call)                                                                \\\n"
    "    do {                                                                          \\\n"
    "        int error_ = (int)(call);                                                 \\\n"
    "        if (error_ != 0) {                                                        \\\n"
    "            fprintf(stderr, \"%s: error %d\\n\", #call, error_);                    \\\n"
    "            exit(2);                                                              \\\n"
    "        }                                                                         \\\n"
    "    } while (0)\n\n";

static void add_types(struct text *to, const struct reproducer *r, const struct call *call)
{
    text_format(to,
                "typedef %s S; /* of elements */\ntypedef %s A; /* in which they are added */\n"
                "typedef %s O; /* of results */\n\n",
                type[r->storage], type[r->accumulator], type[r->output]);
    if (call->cublas) {
        bool wide = r->storage == FP64;
        text_format(to, "#define TYPE %s\n#define EXECUTION %s\n#define ASUM %s\n\n",
                    cuda_type[r->storage], wide ? "CUDA_R_64F" : "CUDA_R_32F",
                    wide ? "cublasDasum_64" : "cublasSasum_64");
        if (strstr(call->inclusive, "ones()"))
            text_add(
                to,
                "__global__ void fill(S *x)\n{\n    for (size_t i = 0; i < N; i++)\n        x[i] "
                "= S(1.0f);\n}\n\n"
                "static const S *ones(void)\n{\n    static S *x;\n    if (!x) {\n"
                "        GOOD(cudaMalloc(&x, N * sizeof *x + 1));\n        fill<<<1, 1>>>(x);\n"
                "        GOOD(cudaGetLastError());\n    }\n    return x;\n}\n\n");
        return;
    }
    static const char *const add[FORMATS] = {
        [FP16] = "__hadd_rn", [BF16] = "__hadd_rn", [FP32] = "__fadd_rn", [FP64] = "__dadd_rn"};
    text_format(to,
                "struct rounded {\n    __device__ A operator()(A a, A b) const { return %s(a, b); "
                "}\n};\n\n",
                add[r->accumulator]);
    if (r->storage == r->accumulator)
        text_add(to, "#define ELEMENTS(x) (x)\n\n");
    else
        text_add(to, "struct widened {\n    __host__ __device__ A operator()(S x) const { return "
                     "A(x); }\n};\n"
                     "#define ELEMENTS(x) thrust::make_transform_iterator(x, widened())\n\n");
}

static void add_keys(struct text *to, const struct reproducer *r)
{
    const size_t arrays = reproducer_arrays(r);
    for (size_t k = 0; k < arrays; k++) {
        text_format(to, "/* the bin of each element */\nstatic const uint32_t keys_%zu[] = {", k);
        for (size_t i = 0; i < r->n; i++)
            text_format(to, "%s%u,", i % 16 ? " " : "\n    ", (unsigned)r->run[k].keys[i]);
        text_add(to, "\n};\n\n");
    }
    text_format(to, "static const uint32_t *const keys[2] = {keys_0, keys_%zu};\n\n", arrays - 1);
}

static void add_library(struct text *to, const struct reproducer *r, const struct call *call)
{
    add_types(to, r, call);
    if (operation_has(r->method->operation, OPERAND_KEYS))
        add_keys(to, r);
    text_add(
        to,
        "static int begin(const char *unused)\n{\n    (void)unused;\n    return 0;\n}\n\n"
        "/* The call that is tried. */\n"
        "static int call(const S *x, const S *y, O *out, int k)\n{\n    (void)y;\n    (void)k;\n");
    if (call->cublas)
        text_add(to, cublas_begin);
    text_add(to, r->exclusive && call->exclusive ? call->exclusive : call->inclusive);
    text_add(to, "}\n\n");
}

static void add_object(struct text *to, const struct reproducer *r)
{
    text_add(to, "typedef element S;\ntypedef result O;\n\n");
    text_add(to, reproducer_interface);
    text_add(to, reproducer_begin);
    text_format(
        to,
        "static int call(const S *x, const S *y, O *out, int k)\n{\n    struct task t = {};\n"
        "    t.n = N;\n    t.in = x;\n    t.in2 = y;\n    t.out = out;\n"
        "    t.storage = %d;     /* %s */\n    t.accumulator = %d; /* %s */\n"
        "    t.output = %d;      /* %s */\n    t.exclusive = %d;\n"
        "    t.threads = setting[k].threads;\n    t.blocks = setting[k].blocks;\n"
        "    return subject->run(&t); /* on the default stream of device 0 */\n}\n\n",
        (int)r->storage, format_facts[r->storage].name, (int)r->accumulator,
        format_facts[r->accumulator].name, (int)r->output, format_facts[r->output].name,
        r->exclusive);
}

static const char *const place =
    "/* Copies N elements to device memory, where they shall lie. */\n"
    "static S *place(int k, const element *from)\n{\n    enum { MARGIN = 4096 };\n"
    "    unsigned char *memory;\n    size_t bytes = N * sizeof(element);\n"
    "    GOOD(cudaMalloc(&memory, 2 * MARGIN + bytes + 256));\n"
    "    GOOD(cudaMemset(memory, setting[k].around, 2 * MARGIN + bytes + 256));\n"
    "    unsigned char *to = memory + MARGIN + setting[k].offset * sizeof(element);\n"
    "    GOOD(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice));\n    return (S *)to;\n}\n\n";

static void add_run(struct text *to, const struct reproducer *r)
{
    bool two = operation_has(r->method->operation, OPERAND_IN2);
    text_add(to, place);
    text_format(
        to,
        "static int run(int k, result *out)\n{\n    static S *x[2], *y[2];\n    static O "
        "*results;\n"
        "    if (!results)\n        GOOD(cudaMalloc(&results, OUTPUTS * sizeof *results));\n"
        "    if (!x[k])\n        x[k] = place(k, setting[k].in);\n%s"
        "    GOOD(cudaMemset(results, 0xff, OUTPUTS * sizeof *results));\n"
        "    GOOD(call(x[k], y[k], results, k));\n    GOOD(cudaDeviceSynchronize());\n"
        "    GOOD(cudaMemcpy(out, results, OUTPUTS * sizeof *out, cudaMemcpyDeviceToHost));\n"
        "    return 0;\n}\n\n",
        two ? "    if (!y[k])\n        y[k] = place(k, setting[k].in + N);\n" : "");
}

static void add_device(struct text *to)
{
    text_add(
        to, "/* What this runs on. */\n__attribute__((constructor)) static void device(void)\n{\n  "
            "  int driver = 0, runtime = 0;\n"
            "    cudaDeviceProp is;\n    GOOD(cudaGetDeviceProperties(&is, 0));\n"
            "    GOOD(cudaDriverGetVersion(&driver));\n    GOOD(cudaRuntimeGetVersion(&runtime));\n"
            "    printf(\"%s, driver's CUDA %d, runtime %d\\n\", is.name, driver, runtime);\n"
            "}\n\n");
}

enum status reproducer_cuda(struct text *to, const struct reproducer *r, struct problem *p)
{
    const struct call *call = call_of(r->method);
    if (r->fresh)
        return problem(p, STATUS_USAGE,
                       "check --reproducer: the break was seen between processes, which is not "
                       "reproduced on a GPU; look for another with --only run_to_run/repeat");
    if (r->run[0].device.kind != DEVICE_CUDA || r->run[1].device.kind != DEVICE_CUDA)
        return problem(
            p, STATUS_USAGE,
            "check --reproducer: the break was seen between devices, which is written of "
            "python: functions alone");
    for (int k = 0; k < 3; k++) {
        enum format f = k == 0 ? r->storage : k == 1 ? r->accumulator : r->output;
        if (!type[f]) /* a format added to the table has none until one is named above */
            return problem(p, STATUS_USAGE, "check --reproducer: CUDA has no type for %s",
                           format_facts[f].name);
    }
    reproducer_comment(to, "/* ", r->file);
    text_add(to, " *\n");
    reproducer_head(to, r, " * ");
    reproducer_compile(to, "nvcc -O2 -x cu", r->file,
                       call && call->options ? *call->options
                       : call                ? "&& ./reproducer"
                                             : "-ldl && ./reproducer [OBJECT]");
    text_add(to, "#include <cmath>\n#include <cstdint>\n#include <cstdio>\n#include "
                 "<cstdlib>\n#include <cstring>\n#include <ctime>\n\n"
                 "#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n");
    text_add(to, call ? *call->header : "#include <dlfcn.h>\n");
    text_add(to, "\nusing std::isinf, std::isnan, std::signbit;\n\n");
    if (call)
        text_add(to, "static const char *path;\n\n");
    else if (!reproducer_path(to, r->method->name))
        return problem(p, STATUS_MEMORY, "check --reproducer: out of memory");
    reproducer_c_data(to, r);
    text_add(to, good);
    add_device(to);
    if (call)
        add_library(to, r, call);
    else
        add_object(to, r);
    add_run(to, r);
    reproducer_c_main(to, r);
    return STATUS_OK;
}
