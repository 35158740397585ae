/* Holds the table of matrix instructions (kernels/mma) to the GPU that is here, and records
 * vectors. NOT YET RUN on a GPU: written and compiled on a machine without one.
 *
 *     nvcc -std=c++17 -O2 -arch=sm_90a -Xcompiler -fopenmp -I. tests/gpu/hold_mma.cu \
 *         build/kernels/libkernels.a build/reference/libreference.a -lmpfr -lgmp -o build/hold_mma
 *     build/hold_mma CHIP UNIT ELEMENT RESULT VECTORS SEED [FILE COUNT]
 *     build/hold_mma h100 wgmma e4m3 fp32 1e8 1 tests/data/mma/h100-wgmma-e4m3-fp32.txt 64
 *
 * For wgmma sm_90a; for mma the chip's own (sm_80, sm_89, sm_90, ...; 8-bit formats from sm_89 on).
 * Exit status: 0 where all bits are the model's, 1 where some are not, 2 for a wrong call, 4 where
 * the device does not run it. The first COUNT vectors, or those that differ, go to FILE
 * (kernels/mma/vectors.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime.h>

#include "kernels/mma/mma.h"

/* All these instructions read 32 bytes of k a row, as 8 words: a tile is ROWS rows of A and 8
 * columns of B, each vector one of its ROWS * 8 elements of D. A warp's lane has the same words of
 * all. */
enum { WORDS = 8, COLUMNS = 8, ROWS = 16, WARPS = 4, TILES = 4096 };

struct tiles { /* of 16 rows each; wgmma takes four with one B */
    unsigned *a, *b, *c, *d;
};

#define REGISTERS_A "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3])
#define SYNC_32(shape, types)                                                                      \
    asm volatile("mma.sync.aligned." shape ".row.col.f32." types ".f32 {%0,%1,%2,%3}, "            \
                 "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"                                          \
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])                                  \
                 : REGISTERS_A, "r"(b[0]), "r"(b[1]))
#define SYNC_16(shape, types)                                                                      \
    asm volatile("mma.sync.aligned." shape ".row.col.f16." types                                   \
                 ".f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};"                                  \
                 : "+r"(d[0]), "+r"(d[1])                                                          \
                 : REGISTERS_A, "r"(b[0]), "r"(b[1]))
#define GROUP_32(shape, types, transposed)                                                         \
    asm volatile("{.reg .pred p; setp.ne.b32 p, 1, 0;\n"                                           \
                 "wgmma.mma_async.sync.aligned." shape ".f32." types " {%0,%1,%2,%3}, "            \
                 "{%4,%5,%6,%7}, %8, p, 1, 1" transposed ";}"                                      \
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])                                  \
                 : REGISTERS_A, "l"(b))
#define GROUP_16(shape, types, transposed)                                                         \
    asm volatile("{.reg .pred p; setp.ne.b32 p, 1, 0;\n"                                           \
                 "wgmma.mma_async.sync.aligned." shape ".f16." types " {%0,%1}, "                  \
                 "{%2,%3,%4,%5}, %6, p, 1, 1" transposed ";}"                                      \
                 : "+r"(d[0]), "+r"(d[1])                                                          \
                 : REGISTERS_A, "l"(b))

__device__ static void multiply(enum mma_element e, bool half, const unsigned a[4],
                                const unsigned b[2], unsigned d[4])
{
#if __CUDA_ARCH__ >= 800
    switch (e) {
    case MMA_FP16:
        if (half)
            SYNC_16("m16n8k16", "f16.f16");
        else
            SYNC_32("m16n8k16", "f16.f16");
        break;
    case MMA_BF16:
        SYNC_32("m16n8k16", "bf16.bf16");
        break;
    case MMA_TF32:
        SYNC_32("m16n8k8", "tf32.tf32");
        break;
#if __CUDA_ARCH__ >= 890
    case MMA_E4M3:
        if (half)
            SYNC_16("m16n8k32", "e4m3.e4m3");
        else
            SYNC_32("m16n8k32", "e4m3.e4m3");
        break;
    case MMA_E5M2:
        if (half)
            SYNC_16("m16n8k32", "e5m2.e5m2");
        else
            SYNC_32("m16n8k32", "e5m2.e5m2");
        break;
#endif
    default:
        break;
    }
#endif
}

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
/* A in registers, B behind a descriptor of shared memory. */
__device__ static void multiply_group(enum mma_element e, bool half, const unsigned a[4],
                                      unsigned long long b, unsigned d[4])
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    switch (e) {
    case MMA_FP16:
        if (half)
            GROUP_16("m64n8k16", "f16.f16", ", 0");
        else
            GROUP_32("m64n8k16", "f16.f16", ", 0");
        break;
    case MMA_BF16:
        GROUP_32("m64n8k16", "bf16.bf16", ", 0");
        break;
    case MMA_TF32:
        GROUP_32("m64n8k8", "tf32.tf32", "");
        break;
    case MMA_E4M3:
        if (half)
            GROUP_16("m64n8k32", "e4m3.e4m3", "");
        else
            GROUP_32("m64n8k32", "e4m3.e4m3", "");
        break;
    case MMA_E5M2:
        if (half)
            GROUP_16("m64n8k32", "e5m2.e5m2", "");
        else
            GROUP_32("m64n8k32", "e5m2.e5m2", "");
        break;
    default:
        break;
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}
#endif

/* A block of four warps, a tile each; the four share the first one's B where the group multiplies.
 */
__global__ static void run(enum mma_unit unit, enum mma_element e, bool half, struct tiles t)
{
    const unsigned lane = threadIdx.x % 32, row = lane / 4, word = lane % 4;
    const size_t tile = (size_t)blockIdx.x * WARPS + threadIdx.x / 32;
    const size_t of_b = unit == MMA_SYNC ? tile : (size_t)blockIdx.x * WARPS;
    const unsigned *a = t.a + tile * ROWS * WORDS, *b = t.b + of_b * COLUMNS * WORDS;
    const unsigned char *c = (const unsigned char *)(t.c + tile * ROWS * COLUMNS);
    unsigned char *to = (unsigned char *)(t.d + tile * ROWS * COLUMNS);
    const unsigned from_a[4] = {a[row * WORDS + word], a[(row + 8) * WORDS + word],
                                a[row * WORDS + word + 4], a[(row + 8) * WORDS + word + 4]};
    const unsigned bytes = half ? 2 : 4, pair = 2 * word;
    unsigned d[4] = {0, 0, 0, 0};
    memcpy(&d[0], c + (row * COLUMNS + pair) * bytes, 2 * bytes);
    memcpy(&d[half ? 1 : 2], c + ((row + 8) * COLUMNS + pair) * bytes, 2 * bytes);
    if (unit == MMA_SYNC) {
        const unsigned from_b[2] = {b[row * WORDS + word], b[row * WORDS + word + 4]};
        multiply(e, half, from_a, from_b, d);
    } else {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
        /* Two core matrices of 8 columns by 16 bytes, the second half of k 128 bytes behind. */
        __shared__ __align__(128) unsigned shared[COLUMNS * WORDS];
        if (threadIdx.x < COLUMNS * WORDS) {
            unsigned column = threadIdx.x / WORDS, at = threadIdx.x % WORDS;
            shared[at / 4 * 32 + column * 4 + at % 4] = b[column * WORDS + at];
        }
        asm volatile("fence.proxy.async;" ::: "memory");
        __syncthreads();
        unsigned long long address = (unsigned long long)__cvta_generic_to_shared(shared);
        unsigned long long described =
            (address & 0x3ffff) >> 4 | (128ull >> 4) << 16 | (256ull >> 4) << 32;
        multiply_group(e, half, from_a, described, d);
#endif
    }
    memcpy(to + (row * COLUMNS + pair) * bytes, &d[0], 2 * bytes);
    memcpy(to + ((row + 8) * COLUMNS + pair) * bytes, &d[half ? 1 : 2], 2 * bytes);
}

/* SplitMix64 (Steele, Lea and Flood 2014). */
static unsigned long long mixed(unsigned long long z)
{
    z += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

/* An encoding of `bits`, `fraction` of them behind the point, aimed as the tile says: near each
 * other, F binades apart, subnormal, any at all, with zeros and specials among numbers. */
static unsigned encoding(unsigned long long at, unsigned aim, int bits, int fraction, int reach)
{
    const unsigned long long r = mixed(at);
    const int fields = 1 << (bits - 1 - fraction), middle = fields / 2;
    int span = aim == 0 ? 2 : reach, low = middle - span / 2;
    int field = low + (int)(r >> 40) % (span + 1);
    if (aim == 2)
        field = (int)(r >> 40) % 3;
    if (aim == 3)
        field = (int)(r >> 40) % fields;
    if (aim == 4 && r >> 32 & 1 && (r >> 33) % 16 == 0)
        field = r >> 38 & 1 ? fields - 1 : 0;
    field = field < 0 ? 0 : field > fields - 1 ? fields - 1 : field;
    unsigned low_bits = (unsigned)r & ((1u << fraction) - 1);
    if (aim == 4 && (field == 0 || field == fields - 1) && r >> 39 & 1)
        low_bits = 0;
    return (unsigned)(r >> 63) << (bits - 1) | (unsigned)field << fraction | low_bits;
}

static void fill(struct tiles *t, const struct mma_rule *r, unsigned long long seed)
{
    const struct mma_element_facts *e = &mma_elements[r->element];
    const int bits = e->bits, per = 32 / bits, result = 8 * format_facts[r->result].bytes;
#pragma omp parallel for
    for (long i = 0; i < (long)TILES * ROWS * WORDS; i++) {
        const unsigned aim = (unsigned)(i / (ROWS * WORDS)) % 5;
        unsigned both[2] = {0, 0};
        for (int part = 0; part < per; part++)
            for (int of = 0; of < 2; of++)
                both[of] |= encoding(seed * 7919 + ((unsigned long long)i * 4 + part) * 2 + of, aim,
                                     bits, e->fraction + e->ignored, r->fraction / 2)
                            << (part * bits);
        t->a[i] = both[0];
        if (i % (ROWS * WORDS) < COLUMNS * WORDS)
            t->b[i / (ROWS * WORDS) * COLUMNS * WORDS + i % (ROWS * WORDS)] = both[1];
    }
#pragma omp parallel for
    for (long i = 0; i < (long)TILES * ROWS * COLUMNS; i++) {
        unsigned long long at = seed * 104729 + 0x100000000ull + (unsigned long long)i;
        unsigned c = encoding(at, (unsigned)(i / (ROWS * COLUMNS)) % 5, result,
                              format_facts[r->result].precision - 1, r->fraction);
        c = mixed(at ^ 77) % 4 == 0 ? c & 1u << (result - 1) : c; /* a zero */
        if (result == 16)
            ((unsigned short *)
                 t->c)[i / (ROWS * COLUMNS) * 2 * ROWS * COLUMNS + i % (ROWS * COLUMNS)] =
                (unsigned short)c;
        else
            t->c[i] = c;
    }
}

static unsigned long long element_of(const void *from, size_t i, int bytes)
{
    unsigned long long bits = 0;
    memcpy(&bits, (const char *)from + i * bytes, bytes);
    return bits;
}

static void put_encodings(FILE *to, const void *from, size_t count, int bytes, const char *behind)
{
    for (size_t i = 0; i < count; i++)
        fprintf(to, "%0*llx", 2 * bytes, element_of(from, i, bytes));
    fputs(behind, to);
}

/* Compares a batch with the model; writes vectors to `to` while `*left` is above 0. */
static long compare(const struct mma_instruction *m, const struct tiles *t, FILE *to, long *left)
{
    const int bytes = mma_elements[m->rule.element].bits / 8,
              out = format_facts[m->rule.result].bytes;
    long differing = 0;
#pragma omp parallel for reduction(+ : differing) schedule(dynamic, 16)
    for (long tile = 0; tile < TILES; tile++) {
        long of_b = m->unit == MMA_SYNC ? tile : tile / WARPS * WARPS;
        for (int v = 0; v < ROWS * COLUMNS; v++) {
            const unsigned *a = t->a + (tile * ROWS + v / COLUMNS) * WORDS;
            const unsigned *b = t->b + (of_b * COLUMNS + v % COLUMNS) * WORDS;
            const unsigned *c = t->c + tile * ROWS * COLUMNS, *d = t->d + tile * ROWS * COLUMNS;
            unsigned long long from = element_of(c, (size_t)v, out),
                               found = element_of(d, (size_t)v, out);
            bool differs = mma_dot(&m->rule, (size_t)m->rule.k, a, b, from) != found;
            differing += differs;
            if (!to)
                continue;
#pragma omp critical
            if (differs || (*left > 0 && v == (int)(tile % (ROWS * COLUMNS)))) {
                put_encodings(to, a, (size_t)m->rule.k, bytes, " ");
                put_encodings(to, b, (size_t)m->rule.k, bytes, " ");
                put_encodings(to, &from, 1, out, " ");
                put_encodings(to, &found, 1, out, differs ? " differs\n" : "\n");
                *left -= !differs;
            }
        }
    }
    return differing;
}

static int failed(const char *what)
{
    fprintf(stderr, "hold_mma: %s: %s\n", what, cudaGetErrorString(cudaGetLastError()));
    return 4;
}

static const struct mma_instruction *asked(char **word)
{
    char name[MMA_NAME], wanted[MMA_NAME];
    snprintf(wanted, sizeof wanted, "%s %s %s %s", word[1], word[2], word[3], word[4]);
    for (size_t i = 0; i < mma_instruction_count; i++) {
        mma_name(name, &mma_instructions[i]);
        if (strcmp(name, wanted) == 0)
            return &mma_instructions[i];
    }
    return NULL;
}

int main(int count, char **word)
{
    const struct mma_instruction *m = count == 7 || count == 9 ? asked(word) : NULL;
    if (!m || m->unit == MMA_TCGEN05 || m->rule.element == MMA_FP64 || m->rule.k == 4) {
        fprintf(stderr,
                "hold_mma CHIP UNIT ELEMENT RESULT VECTORS SEED [FILE COUNT]: expected a row of "
                "ulpscope list chips, mma or wgmma, neither fp64 nor v100\n");
        return 2;
    }
    const double wanted = atof(word[5]);
    const unsigned long long seed = strtoull(word[6], NULL, 10);
    long left = count == 9 ? atol(word[8]) : 0, differing = 0;
    const long recorded = left;
    FILE *to = count == 9 ? fopen(word[7], "w") : NULL;
    struct tiles t;
    if (cudaMallocManaged(&t.a, sizeof(unsigned) * TILES * ROWS * WORDS) != cudaSuccess ||
        cudaMallocManaged(&t.b, sizeof(unsigned) * TILES * COLUMNS * WORDS) != cudaSuccess ||
        cudaMallocManaged(&t.c, sizeof(unsigned) * TILES * ROWS * COLUMNS) != cudaSuccess ||
        cudaMallocManaged(&t.d, sizeof(unsigned) * TILES * ROWS * COLUMNS) != cudaSuccess)
        return failed("memory");
    if (to)
        fprintf(to, "matrix vectors 1\n%s %s %s %s k %d count %ld\n", word[1], word[2], word[3],
                word[4], m->rule.k, recorded);
    double done = 0;
    for (unsigned long long batch = 0; done < wanted; batch++) {
        fill(&t, &m->rule, seed * 1000003 + batch);
        memset(t.d, 0xa5, sizeof(unsigned) * TILES * ROWS * COLUMNS); /* what does not run shows */
        run<<<TILES / WARPS, 32 * WARPS>>>(m->unit, m->rule.element, m->rule.result == FP16, t);
        if (cudaDeviceSynchronize() != cudaSuccess)
            return failed("the kernel");
        differing += compare(m, &t, to, &left);
        done += (double)TILES * ROWS * COLUMNS;
    }
    printf("%s %s %s %s: %.0f vectors, %ld differ from the model\n", word[1], word[2], word[3],
           word[4], done, differing);
    if (to)
        fclose(to);
    return differing > 0;
}
