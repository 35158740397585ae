/* Holds the table of matrix instructions (kernels/mma) to the GPU that is here, and records
 * vectors.
 *
 *     hold_mma [--seconds S] [--out FOLDER] [--seed N] [--chip CHIP] [--only WORD] [--pretend
 * MUTANT]
 *
 * Runs every mma.sync and wgmma that Hopper has for floating-point formats, fused A B + C with C in
 * place, each in a process of its own, on operands that the GPU makes (tests/gpu/mma_cases.h), and
 * compares each element of D with the model, which the GPU computes too. What is recorded is
 * compared with the model on the CPU as well. NaNs are equal whatever their bits; other bits than
 * the model's are counted. Small integers, whose sums are exact, come first: where these fail, this
 * program is wrong (a layout), no model is, and the instruction is not held.
 *
 * FOLDER gets mma.csv, a row an instruction; mma-kinds.csv, a row an instruction and kind of
 * operands; mma-differing.txt, the first that differ of each kind; vectors/, recorded as
 * kernels/mma/vectors.h says, and mixed/, those whose A and B are of different elements, of which
 * the table has no row.
 *
 * --pretend: the GPU is the model's mutant of that name on the CPU, `none`, or `layout`, whose rows
 * are exchanged. Exit status: 0 where all bits are the model's, 1 where some are not or integers
 * fail, 2 for a wrong call, 4 where the device does not run it. */
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include <cuda_runtime.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/mma/group.cuh"
#include "kernels/mma/sync.cuh"
#include "tests/gpu/mma_cases.h"

enum {
    WARPS = CASE_TILES,
    KEPT = 256,  /* differing vectors of a kind that are written out, at most */
    SAMPLE = 64, /* groups whose D comes back */
    EACH = 4,    /* vectors of a tile that are recorded */
    PRETENDED = 10 * CASE_KINDS,
    WATCHED = 40 /* seconds beyond its share after which a process is ended */
};
static_assert(CASE_INTEGERS == CASE_KINDS, "kinds and integers are counted in one array");

struct differing {
    uint64_t tile, found;
    unsigned vector;
};
struct tally {
    unsigned long long differing[CASE_KINDS + 1];
    unsigned long long nan, other_nan, plus_zero, minus_zero, infinite, subnormal;
    unsigned long long nan_bits; /* of one of other_nan */
    struct differing first[CASE_KINDS + 1][KEPT];
};

/* Operands are bytes of rows; lane g x 4 + t has of each row the words t and t + 4. */
#define A_WORDS "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3])
/* From the first fence to the wait in one statement: nothing may touch the registers between. */
#define GROUP_BEGIN                                                                                \
    "{.reg .pred p; setp.ne.b32 p, 1, 0;\nwgmma.fence.sync.aligned;\n"                             \
    "wgmma.mma_async.sync.aligned."
#define GROUP_END "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;}"
#define GROUP_32(shape, types, transposed)                                                         \
    asm volatile(GROUP_BEGIN shape ".f32." types                                                   \
                                   " {%0,%1,%2,%3}, {%4,%5,%6,%7}, %8, p, 1, 1" transposed         \
                                   ";\n" GROUP_END                                                 \
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])                                  \
                 : A_WORDS, "l"(b)                                                                 \
                 : "memory")
#define GROUP_16(shape, types, transposed)                                                         \
    asm volatile(GROUP_BEGIN shape ".f16." types " {%0,%1}, {%2,%3,%4,%5}, %6, p, 1, 1" transposed \
                                   ";\n" GROUP_END                                                 \
                 : "+r"(d[0]), "+r"(d[1])                                                          \
                 : A_WORDS, "l"(b)                                                                 \
                 : "memory")
#define GROUP(shape, types, transposed)                                                            \
    do {                                                                                           \
        if constexpr (R == FP16)                                                                   \
            GROUP_16(shape, types, transposed);                                                    \
        else                                                                                       \
            GROUP_32(shape, types, transposed);                                                    \
    } while (0)

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
/* A in registers, B behind a descriptor of shared memory. */
template <enum mma_element A, enum mma_element B, enum format R>
__device__ __forceinline__ void multiply_group(const unsigned (&a)[4], unsigned long long b,
                                               unsigned (&d)[4])
{
    if constexpr (A == MMA_FP16)
        GROUP("m64n8k16", "f16.f16", ", 0");
    else if constexpr (A == MMA_BF16)
        GROUP_32("m64n8k16", "bf16.bf16", ", 0");
    else if constexpr (A == MMA_TF32)
        GROUP_32("m64n8k8", "tf32.tf32", "");
    else if constexpr (A == MMA_E4M3 && B == MMA_E4M3)
        GROUP("m64n8k32", "e4m3.e4m3", "");
    else if constexpr (A == MMA_E4M3 && B == MMA_E5M2)
        GROUP("m64n8k32", "e4m3.e5m2", "");
    else if constexpr (A == MMA_E5M2 && B == MMA_E4M3)
        GROUP("m64n8k32", "e5m2.e4m3", "");
    else if constexpr (A == MMA_E5M2 && B == MMA_E5M2)
        GROUP("m64n8k32", "e5m2.e5m2", "");
}

__device__ static unsigned word_at(const unsigned char *from, unsigned word)
{
    unsigned x;
    memcpy(&x, from + 4 * word, sizeof x);
    return x;
}

/* What a lane has met, for the tally. */
struct met {
    unsigned long long nan, other_nan, plus_zero, minus_zero, infinite, subnormal;
};

__device__ static void count_result(const struct mma_form &f, uint64_t bits, struct met *m,
                                    struct tally *to)
{
    const uint64_t sign = UINT64_C(1) << (f.bits - 1), size = bits & (sign - 1);
    const uint64_t infinity = (sign - 1) & ~((UINT64_C(1) << f.fraction) - 1);
    m->nan += size > infinity;
    m->infinite += size == infinity;
    m->plus_zero += bits == 0;
    m->minus_zero += bits == sign;
    m->subnormal += size != 0 && size < UINT64_C(1) << f.fraction;
    if (size > infinity && bits != sign - 1) {
        m->other_nan++;
        to->nan_bits = bits;
    }
}

#endif

/* Groups first, first + 1, ...: a block of four warps takes one at a time, a warp a tile. */
template <enum mma_unit U, enum mma_element A, enum mma_element B, enum format R>
__global__ static void __launch_bounds__(32 * WARPS)
    hold(struct mma_cases s, struct mma_rule rule, uint64_t first, uint64_t groups,
         struct tally *to, uint64_t *sample)
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    constexpr bool doubles = A == MMA_FP64;
    constexpr int row_bytes = doubles ? 128 : 32;
    constexpr int bytes = doubles ? 8 : A == MMA_TF32 ? 4 : A == MMA_FP16 || A == MMA_BF16 ? 2 : 1;
    constexpr int k = row_bytes / bytes;
    __shared__ __align__(128) unsigned described[CASE_COLUMNS * 8];
    __shared__ __align__(16) unsigned char rows[WARPS][CASE_ROWS][row_bytes],
        columns[WARPS][CASE_COLUMNS][row_bytes];
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
    struct met met = {0, 0, 0, 0, 0, 0};
    for (uint64_t group = first + blockIdx.x; group < first + groups; group += gridDim.x) {
        const struct mma_tile tile = case_tile(&s, U == MMA_WGMMA, group * CASE_TILES + warp);
        for (int i = (int)lane; i < CASE_ROWS * k; i += 32) {
            const uint64_t bits = case_factor(&s, &tile, 0, i / k, i % k);
            memcpy(&rows[warp][i / k][i % k * bytes], &bits, bytes);
        }
        for (int i = (int)lane; i < CASE_COLUMNS * k; i += 32) {
            const uint64_t bits = case_factor(&s, &tile, 1, i / k, i % k);
            memcpy(&columns[warp][i / k][i % k * bytes], &bits, bytes);
        }
        uint64_t c[4], d[4];
        for (int i = 0; i < 4; i++)
            c[i] = case_addend(&s, &tile, (int)g + i / 2 * 8, 2 * (int)t + i % 2);
        __syncthreads();
        const unsigned char *upper = rows[warp][g], *lower = rows[warp][g + 8],
                            *column = columns[warp][g];
        if constexpr (doubles) {
            double from_a[8], from_b[4], sum[4];
            for (int i = 0; i < 8; i++)
                memcpy(&from_a[i], (i % 2 ? lower : upper) + 8 * (t + 4 * (i / 2)), sizeof *from_a);
            for (int i = 0; i < 4; i++) {
                memcpy(&from_b[i], column + 8 * (t + 4 * i), sizeof *from_b);
                memcpy(&sum[i], &c[i], sizeof *sum);
            }
            __syncwarp();
            mma::multiply_doubles(from_a, from_b, sum);
            for (int i = 0; i < 4; i++)
                memcpy(&d[i], &sum[i], sizeof *sum);
        } else {
            const unsigned from_a[4] = {word_at(upper, t), word_at(lower, t), word_at(upper, t + 4),
                                        word_at(lower, t + 4)};
            unsigned sum[4];
            if constexpr (R == FP16) {
                sum[0] = (unsigned)c[0] | (unsigned)c[1] << 16;
                sum[1] = (unsigned)c[2] | (unsigned)c[3] << 16;
                sum[2] = sum[3] = 0;
            } else {
                for (int i = 0; i < 4; i++)
                    sum[i] = (unsigned)c[i];
            }
            if constexpr (U == MMA_WGMMA) {
                /* Two core matrices, each of 8 columns by 16 bytes, the second half of k 128 bytes
                 * behind the first: K-major, not swizzled. There is no third, so that both offsets
                 * may be those 128 bytes. */
                if (threadIdx.x < CASE_COLUMNS * 8) {
                    const unsigned at = threadIdx.x % 8, n = threadIdx.x / 8;
                    described[at / 4 * 32 + n * 4 + at % 4] = word_at(columns[warp][n], at);
                }
                asm volatile("fence.proxy.async;" ::: "memory");
                __syncthreads();
                const unsigned long long b =
                    mma::descriptor((unsigned)__cvta_generic_to_shared(described), 128, 128);
                multiply_group<A, B, R>(from_a, b, sum);
            } else {
                const unsigned from_b[2] = {word_at(column, t), word_at(column, t + 4)};
                __syncwarp();
                mma::multiply<A, B, R>(from_a, from_b, sum);
            }
            for (int i = 0; i < 4; i++)
                d[i] = R == FP16 ? sum[i / 2] >> (i % 2 * 16) & 0xffff : sum[i];
        }
        for (int i = 0; i < 4; i++) {
            const int row = (int)g + i / 2 * 8, at = 2 * (int)t + i % 2;
            if (sample && group < SAMPLE)
                sample[tile.tile * CASE_VECTORS + row * CASE_COLUMNS + at] = d[i];
            count_result(s.result, d[i], &met, to);
            if (tile.kind == CASE_INTEGERS)
                continue; /* compared on the CPU */
            const uint64_t expected =
                case_model(A, B, &rule, rows[warp][row], columns[warp][at], c[i]);
            if (case_agrees(&s.result, d[i], expected))
                continue;
            const unsigned long long slot = atomicAdd(&to->differing[tile.kind], 1ull);
            if (slot < KEPT) {
                const struct differing one = {tile.tile, d[i], (unsigned)(row * CASE_COLUMNS + at)};
                to->first[tile.kind][slot] = one;
            }
        }
        __syncthreads(); /* before operands are overwritten */
    }
    atomicAdd(&to->nan, met.nan);
    atomicAdd(&to->other_nan, met.other_nan);
    atomicAdd(&to->plus_zero, met.plus_zero);
    atomicAdd(&to->minus_zero, met.minus_zero);
    atomicAdd(&to->infinite, met.infinite);
    atomicAdd(&to->subnormal, met.subnormal);
#else
    __trap();
#endif
}

typedef void (*kernel)(struct mma_cases, struct mma_rule, uint64_t, uint64_t, struct tally *,
                       uint64_t *);
struct instruction {
    enum mma_unit unit;
    enum mma_element a, b;
    enum format result;
    kernel run;
};
#define ROW(unit, a, b, result) {unit, a, b, result, hold<unit, a, b, result>},
#define ROWS(unit, a, b)        ROW(unit, a, b, FP32) ROW(unit, a, b, FP16)
#define UNIT(unit)                                                                                 \
    ROWS(unit, MMA_FP16, MMA_FP16)                                                                 \
    ROW(unit, MMA_BF16, MMA_BF16, FP32)                                                            \
    ROW(unit, MMA_TF32, MMA_TF32, FP32)                                                            \
    ROWS(unit, MMA_E4M3, MMA_E4M3)                                                                 \
    ROWS(unit, MMA_E5M2, MMA_E5M2)                                                                 \
    ROWS(unit, MMA_E4M3, MMA_E5M2)                                                                 \
    ROWS(unit, MMA_E5M2, MMA_E4M3)
static const struct instruction instructions[] = {
    UNIT(MMA_SYNC) ROW(MMA_SYNC, MMA_FP64, MMA_FP64, FP64) UNIT(MMA_WGMMA)};
enum { INSTRUCTIONS = sizeof instructions / sizeof *instructions };

static const char *const kind_names[] = CASE_NAMES, *const mutant_names[] = MUTANT_NAMES;
enum { NOT_PRETENDED = -1, LAYOUT = MUTANTS };

struct call {
    double seconds;
    std::string out, chip, only;
    uint64_t seed;
    int pretend;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#define CUDA(call)                                                                                 \
    do {                                                                                           \
        const cudaError_t status_ = (call);                                                        \
        if (status_ != cudaSuccess) {                                                              \
            fprintf(stderr, "hold_mma: %s: %s\n", #call, cudaGetErrorString(status_));             \
            exit(4);                                                                               \
        }                                                                                          \
    } while (0)

/* "e4m3", or "e4m3xe5m2" where B's are others. */
static std::string elements(const struct instruction &i)
{
    const std::string a = mma_elements[i.a].name;
    return i.a == i.b ? a : a + "x" + mma_elements[i.b].name;
}

static std::string name_of(const struct instruction &i, const std::string &chip)
{
    return chip + " " + mma_units[i.unit] + " " + elements(i) + " " + format_facts[i.result].name;
}

/* One instruction that is held: its operands, its rule, and what was met. */
struct holding {
    const struct instruction *of;
    struct mma_cases cases;
    struct mma_rule rule, pretended;
    bool share;
    int pretend;
    struct tally tally, *on_gpu;
    std::vector<uint64_t> sample;
    uint64_t *sample_on_gpu, groups;
    int blocks;
};

struct operands {
    unsigned char a[8 * MMA_BLOCK], b[8 * MMA_BLOCK];
    uint64_t c;
};

static struct operands operands_of(const struct mma_cases *s, const struct mma_tile *t,
                                   unsigned vector)
{
    struct operands o;
    const int row = (int)vector / CASE_COLUMNS, column = (int)vector % CASE_COLUMNS;
    case_row(s, t, 0, row, o.a);
    case_row(s, t, 1, column, o.b);
    o.c = case_addend(s, t, row, column);
    return o;
}

static uint64_t modelled(const struct holding *h, const struct mma_rule *r,
                         const struct operands *o)
{
    return case_model(h->of->a, h->of->b, r, o->a, o->b, o->c);
}

/* In place of the GPU; its tally counts what differs and nothing else. */
static void pretend(struct holding *h, uint64_t first, uint64_t groups)
{
    for (uint64_t tile = first * CASE_TILES; tile < (first + groups) * CASE_TILES; tile++) {
        const struct mma_tile t = case_tile(&h->cases, h->share, tile);
        for (unsigned v = 0; v < CASE_VECTORS; v++) {
            const struct operands o = operands_of(&h->cases, &t, v);
            const unsigned from = h->pretend == LAYOUT ? v ^ CASE_COLUMNS : v;
            const struct operands other = operands_of(&h->cases, &t, from);
            const uint64_t d = modelled(h, &h->pretended, &other);
            if (tile < SAMPLE * CASE_TILES)
                h->sample[tile * CASE_VECTORS + v] = d;
            if (t.kind == CASE_INTEGERS ||
                case_agrees(&h->cases.result, d, modelled(h, &h->rule, &o)))
                continue;
            const unsigned long long slot = h->tally.differing[t.kind]++;
            if (slot < KEPT)
                h->tally.first[t.kind][slot] = {tile, d, v};
        }
    }
}

/* Tiles of groups first, ...; those of the sample come back. */
static void launch(struct holding *h, uint64_t first, uint64_t groups)
{
    if (h->pretend != NOT_PRETENDED) {
        pretend(h, first, groups);
        return;
    }
    uint64_t *sample = first < SAMPLE ? h->sample_on_gpu : NULL;
    h->of->run<<<h->blocks, 32 * WARPS>>>(h->cases, h->rule, first, groups, h->on_gpu, sample);
    CUDA(cudaGetLastError());
    CUDA(cudaDeviceSynchronize());
    if (sample)
        CUDA(cudaMemcpy(h->sample.data(), sample, 8 * h->sample.size(), cudaMemcpyDeviceToHost));
}

static void clear(struct holding *h)
{
    h->tally = {};
    std::fill(h->sample.begin(), h->sample.end(), 0xa5a5a5a5a5a5a5a5); /* what does not run shows */
    if (h->pretend != NOT_PRETENDED)
        return;
    CUDA(cudaMemset(h->on_gpu, 0, sizeof *h->on_gpu));
    CUDA(cudaMemset(h->sample_on_gpu, 0xa5, 8 * h->sample.size()));
}

/* Integers, whose sums are exact whatever the model; how many are wrong. */
static long insane(struct holding *h, const std::string &name)
{
    long wrong = 0;
    h->cases.only = CASE_INTEGERS;
    clear(h);
    launch(h, 0, SAMPLE);
    for (uint64_t tile = 0; tile < SAMPLE * CASE_TILES; tile++) {
        const struct mma_tile t = case_tile(&h->cases, h->share, tile);
        const long before = wrong;
        for (int v = 0; v < CASE_VECTORS; v++) {
            const int sum = case_sum(&h->cases, &t, v / CASE_COLUMNS, v % CASE_COLUMNS);
            wrong += h->sample[tile * CASE_VECTORS + v] != case_integral(&h->cases.result, sum);
        }
        if (before > 0 || wrong == 0)
            continue;
        printf(
            "%s: SANITY FAILED: the harness is wrong, not a model; tile %llu, expected : found\n",
            name.c_str(), (unsigned long long)tile);
        for (int v = 0; v < CASE_VECTORS; v++)
            printf("%d:%llx%c", case_sum(&h->cases, &t, v / CASE_COLUMNS, v % CASE_COLUMNS),
                   (unsigned long long)h->sample[tile * CASE_VECTORS + v],
                   v % CASE_COLUMNS == CASE_COLUMNS - 1 ? '\n' : ' ');
    }
    h->cases.only = -1;
    return wrong;
}

static void put(FILE *to, const void *from, int count, int bytes, char behind)
{
    for (int i = 0; i < count; i++) {
        uint64_t x = 0;
        memcpy(&x, (const char *)from + i * bytes, (size_t)bytes);
        fprintf(to, "%0*llx", 2 * bytes, (unsigned long long)x);
    }
    fputc(behind, to);
}

static void put_vector(FILE *to, const struct holding *h, const struct operands *o, uint64_t d,
                       char behind)
{
    const int bytes = h->cases.of[0].bits / 8, out = h->cases.result.bits / 8;
    put(to, o->a, h->cases.k, bytes, ' ');
    put(to, o->b, h->cases.k, bytes, ' ');
    put(to, &o->c, 1, out, ' ');
    put(to, &d, 1, out, behind);
}

static FILE *opened(const std::string &path, const char *mode)
{
    FILE *f = fopen(path.c_str(), mode);
    if (!f) {
        perror(("hold_mma: " + path).c_str());
        exit(4);
    }
    return f;
}

/* Writes EACH vectors of each tile of the sample, and holds all of them to the model on the CPU;
 * how many differ. */
static long record(const struct holding *h, const struct call *call, std::string name)
{
    long differing = 0;
    std::string file = name;
    std::replace(file.begin(), file.end(), ' ', '-');
    FILE *to =
        opened(call->out + (h->of->a == h->of->b ? "/vectors/" : "/mixed/") + file + ".txt", "w");
    fprintf(to, "matrix vectors 1\n%s k %d count %d\n", name.c_str(), h->cases.k,
            SAMPLE * CASE_TILES * EACH);
    for (uint64_t tile = 0; tile < SAMPLE * CASE_TILES; tile++) {
        const struct mma_tile t = case_tile(&h->cases, h->share, tile);
        for (unsigned v = 0; v < CASE_VECTORS; v++) {
            const struct operands o = operands_of(&h->cases, &t, v);
            const uint64_t d = h->sample[tile * CASE_VECTORS + v];
            differing += !case_agrees(&h->cases.result, d, modelled(h, &h->rule, &o));
            if ((v + 37 * tile) % (CASE_VECTORS / EACH) == 0)
                put_vector(to, h, &o, d, '\n');
        }
    }
    fclose(to);
    return differing;
}

/* The first that differ of each kind, with what the model gives on the CPU: where that is what the
 * hardware gives, the model on the GPU is another. */
static void tell_differing(const struct holding *h, const struct call *call,
                           const std::string &name)
{
    FILE *to = opened(call->out + "/mma-differing.txt", "a");
    for (int kind = 0; kind < CASE_KINDS; kind++) {
        const unsigned long long met = h->tally.differing[kind];
        for (unsigned i = 0; i < KEPT && i < met; i++) {
            const struct differing &one = h->tally.first[kind][i];
            const struct mma_tile t = case_tile(&h->cases, h->share, one.tile);
            const struct operands o = operands_of(&h->cases, &t, one.vector);
            const uint64_t expected = modelled(h, &h->rule, &o);
            fprintf(to, "%s k %d %s tile %llu vector %u: ", name.c_str(), h->cases.k,
                    kind_names[kind], (unsigned long long)one.tile, one.vector);
            put_vector(to, h, &o, one.found, ' ');
            put(to, &expected, 1, h->cases.result.bits / 8, '\n');
            if (i < 3)
                printf("  %s: D %llx, model %llx%s\n", kind_names[kind],
                       (unsigned long long)one.found, (unsigned long long)expected,
                       one.found == expected ? " (on the CPU; the GPU's model is another)" : "");
        }
    }
    fclose(to);
}

static uint64_t groups_of_kind(uint64_t groups, int kind)
{
    return groups / CASE_KINDS + (groups % CASE_KINDS > (uint64_t)kind);
}

struct machine {
    std::string gpu;
    int driver, runtime, blocks;
};

static struct machine machine_here(const struct call *call)
{
    struct machine m = {"the model on a CPU", 0, 0, 0};
    if (call->pretend != NOT_PRETENDED)
        return m;
    cudaDeviceProp p;
    CUDA(cudaGetDeviceProperties(&p, 0));
    CUDA(cudaDriverGetVersion(&m.driver));
    CUDA(cudaRuntimeGetVersion(&m.runtime));
    m.gpu = p.name;
    m.blocks = p.multiProcessorCount * 8;
    if (p.major != 9 || p.minor != 0) {
        fprintf(stderr, "hold_mma: %s is sm_%d%d, expected a Hopper GPU (sm_90)\n", p.name, p.major,
                p.minor);
        exit(4);
    }
    return m;
}

static void tell_rows(const struct holding *h, const struct call *call, const struct machine *m,
                      const std::string &name, long wrong, long differing_here, double seconds)
{
    const uint64_t vectors = CASE_TILES * (uint64_t)CASE_VECTORS;
    unsigned long long random = 0, adversarial = 0, differing = 0;
    FILE *kinds = opened(call->out + "/mma-kinds.csv", "a");
    for (int kind = 0; kind < CASE_KINDS; kind++) {
        const unsigned long long met = vectors * groups_of_kind(h->groups, kind);
        (kind < CASE_RANDOM ? random : adversarial) += met;
        differing += h->tally.differing[kind];
        fprintf(kinds, "%s,%s,%llu,%llu\n", name.c_str(), kind_names[kind], met,
                h->tally.differing[kind]);
    }
    fclose(kinds);
    char date[32];
    const time_t t = time(NULL);
    struct tm tm;
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&t, &tm));
    const struct tally &y = h->tally;
    FILE *to = opened(call->out + "/mma.csv", "a");
    fprintf(to,
            "%s,%s,%llu,%llu,%llu,%ld,%d,%llu,%llu,%llx,%llu,%llu,%llu,%llu,%.3f,%llu,\"%s\",%d,%d,"
            "%s\n",
            name.c_str(), wrong ? "failed" : "passed", random, adversarial, differing,
            differing_here, SAMPLE * CASE_TILES * CASE_VECTORS, y.nan, y.other_nan, y.nan_bits,
            y.plus_zero, y.minus_zero, y.infinite, y.subnormal, seconds,
            (unsigned long long)call->seed, m->gpu.c_str(), m->driver, m->runtime, date);
    fclose(to);
    if (!wrong)
        printf("%-28s %llu random, %llu adversarial: %llu differ from the model; %.2f s, NaN other "
               "than canonical: %llu\n",
               name.c_str(), random, adversarial, differing, seconds, y.other_nan);
    for (int kind = 0; kind < CASE_KINDS; kind++)
        if (y.differing[kind])
            printf("  %s: %llu of %llu differ\n", kind_names[kind], y.differing[kind],
                   (unsigned long long)(vectors * groups_of_kind(h->groups, kind)));
}

/* In a process of its own; its exit status. */
static int hold_one(const struct call *call, const struct instruction *of, double until)
{
    const struct machine m = machine_here(call);
    const std::string chip = !call->chip.empty()                       ? call->chip
                             : m.gpu.find("H200") != std::string::npos ? "h200"
                                                                       : "h100",
                      name = name_of(*of, chip);
    const struct mma_instruction *row = mma_find(chip.c_str(), of->unit, of->a, of->result);
    if (!row || row->rule.k * mma_elements[of->a].bits != (of->a == MMA_FP64 ? 1024 : 256)) {
        fprintf(stderr, "hold_mma: %s: no row of this shape in ulpscope list chips\n",
                name.c_str());
        return 2;
    }
    static struct holding h;
    h.of = of;
    h.rule = h.pretended = row->rule;
    h.cases = case_cases(&h.rule, of->b, call->seed);
    h.share = of->unit == MMA_WGMMA;
    h.pretend = call->pretend;
    h.blocks = m.blocks;
    h.sample.resize((size_t)SAMPLE * CASE_TILES * CASE_VECTORS);
    if (h.pretend != NOT_PRETENDED && h.pretend != LAYOUT &&
        !case_mutant((enum mma_mutant)h.pretend, &h.pretended)) {
        printf("%-28s has no such mutant\n", name.c_str());
        return 0;
    }
    if (h.pretend == NOT_PRETENDED) {
        CUDA(cudaMalloc((void **)&h.on_gpu, sizeof *h.on_gpu));
        CUDA(cudaMalloc((void **)&h.sample_on_gpu, 8 * h.sample.size()));
    }
    const long wrong = insane(&h, name);
    long differing_here = 0;
    clear(&h);
    const double begin = now();
    if (!wrong) {
        const uint64_t each =
            h.pretend != NOT_PRETENDED ? (uint64_t)PRETENDED : 16 * (uint64_t)h.blocks;
        do {
            launch(&h, h.groups, each);
            h.groups += each;
        } while (h.pretend == NOT_PRETENDED && now() < until);
    }
    const double seconds = now() - begin;
    if (!wrong && h.pretend == NOT_PRETENDED)
        CUDA(cudaMemcpy(&h.tally, h.on_gpu, sizeof h.tally, cudaMemcpyDeviceToHost));
    if (!wrong)
        differing_here = record(&h, call, name);
    tell_rows(&h, call, &m, name, wrong, differing_here, seconds);
    tell_differing(&h, call, name);
    if (differing_here)
        printf("  %ld of %d that came back differ from the model on the CPU\n", differing_here,
               SAMPLE * CASE_TILES * CASE_VECTORS);
    unsigned long long differing = 0;
    for (int kind = 0; kind < CASE_KINDS; kind++)
        differing += h.tally.differing[kind];
    return wrong || differing_here || differing;
}

static bool understood(struct call *call, int count, char **word)
{
    for (int i = 1; i < count; i += 2) {
        const std::string option = word[i];
        if (i + 1 == count)
            return false;
        char *end = word[i + 1];
        if (option == "--seconds")
            call->seconds = strtod(word[i + 1], &end);
        else if (option == "--seed")
            call->seed = strtoull(word[i + 1], &end, 10);
        else if (option == "--out")
            call->out = word[i + 1];
        else if (option == "--chip")
            call->chip = word[i + 1];
        else if (option == "--only")
            call->only = word[i + 1];
        else if (option == "--pretend") {
            const std::string mutant = word[i + 1];
            call->pretend = mutant == "layout" ? LAYOUT : NOT_PRETENDED;
            for (int m = 0; m < MUTANTS; m++)
                if (mutant == mutant_names[m])
                    call->pretend = m;
            if (call->pretend == NOT_PRETENDED)
                return false;
        } else
            return false;
        if ((option == "--seconds" || option == "--seed") && (*end || end == word[i + 1]))
            return false;
    }
    return call->seconds > 0;
}

/* A kernel that fails takes its process along, and one that hangs is ended. */
static int hold_apart(const struct call *call, const struct instruction *of, double until)
{
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        const int status = hold_one(call, of, until);
        fflush(NULL);
        _exit(status);
    }
    int status = 0;
    while (child > 0 && waitpid(child, &status, WNOHANG) == 0) {
        if (now() > until + WATCHED)
            kill(child, SIGKILL);
        usleep(20000);
    }
    return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 4;
}

int main(int count, char **word)
{
    struct call call = {100, ".", "", "", 20, NOT_PRETENDED};
    if (!understood(&call, count, word)) {
        fprintf(stderr, "usage: hold_mma [--seconds S] [--out FOLDER] [--seed N] [--chip CHIP] "
                        "[--only WORD] [--pretend MUTANT]\n");
        return 2;
    }
    mkdir(call.out.c_str(), 0777);
    mkdir((call.out + "/vectors").c_str(), 0777);
    mkdir((call.out + "/mixed").c_str(), 0777);
    FILE *f = opened(call.out + "/mma.csv", "w");
    fprintf(f,
            "instruction,sanity,random,adversarial,differing,differing_on_cpu,checked_on_cpu,nan,"
            "other_nan,other_nan_bits,plus_zero,minus_zero,infinite,subnormal,seconds,seed,gpu,"
            "driver,cuda,date\n");
    fclose(f);
    f = opened(call.out + "/mma-kinds.csv", "w");
    fprintf(f, "instruction,kind,vectors,differing\n");
    fclose(f);
    fclose(opened(call.out + "/mma-differing.txt", "w"));
    std::vector<const struct instruction *> asked;
    for (int i = 0; i < INSTRUCTIONS; i++)
        if ((name_of(instructions[i], "") + " ").find(call.only) != std::string::npos)
            asked.push_back(&instructions[i]);
    int worst = asked.empty() ? 2 : 0;
    printf("seed %llu, %zu instructions, %.0f s\n", (unsigned long long)call.seed, asked.size(),
           call.seconds);
    const double end = now() + call.seconds;
    int held = 0, others = 0;
    std::string names;
    for (size_t i = 0; i < asked.size(); i++) {
        const double begin = now(), share = (end - begin) / (double)(asked.size() - i);
        const int status = hold_apart(&call, asked[i], begin + share);
        if (status > 1)
            printf("%s: NOT HELD, status %d\n", name_of(*asked[i], call.chip).c_str(), status);
        (status == 0 ? held : others) += 1;
        if (status)
            names += (names.empty() ? "" : ",") + name_of(*asked[i], call.chip);
        worst = status > worst ? status : worst;
    }
    printf("%d instructions give the model's bits; %d do not, or were not held:%s\n", held, others,
           names.empty() ? " none" : names.c_str());
    return worst;
}
