/* Your own sum, scan, dot product or matrix product under ulpscope's microscope: the one header
 * that a shared object needs.
 *
 *     #include "ulpscope_subject.h"
 *
 *     static int my_sum(const struct ulpscope_task *t) { ... return 0; }
 *
 *     static const struct ulpscope_subject subject[] = {{
 *         .name = "mine", .summary = "what it is, in one line",
 *         .operation = ULPSCOPE_SUM, .memory = ULPSCOPE_HOST,
 *         .promise = ULPSCOPE_RUN_TO_RUN,
 *         .pairs = ULPSCOPE_PAIR(ULPSCOPE_FP32, ULPSCOPE_FP32),
 *         .run = my_sum,
 *     }};
 *     const struct ulpscope_subjects ulpscope_subjects = {
 *         ULPSCOPE_SUBJECT_VERSION, sizeof subject / sizeof *subject, subject};
 *
 *     cc -O2 -shared -fPIC -I INCLUDE mine.c -o mine.so
 *     ulpscope run accuracy --method ./mine.so:mine
 *
 * The object is loaded into a process of its own, which calls `run` repeatedly, from one thread,
 * never two runs at a time. A crash, an exit or a hang costs one row of the study. Standard input
 * is empty; output goes to standard error, whose last line is printed if the run fails. C or C++;
 * valid in CUDA sources. */
#ifndef ULPSCOPE_ULPSCOPE_SUBJECT_H
#define ULPSCOPE_ULPSCOPE_SUBJECT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Incremented by every change that makes an older object unreadable. Objects of version 1, whose
 * pairs were 16 bits, are read as well. */
#define ULPSCOPE_SUBJECT_VERSION 2

/* IEEE 754 binary16, bfloat16, binary32, binary64; E4M3 and E5M2 of OCP 8-bit floating point 1.0,
 * for storage only, not for additions. Little-endian, without padding. */
enum ulpscope_format {
    ULPSCOPE_FP16,
    ULPSCOPE_BF16,
    ULPSCOPE_FP32,
    ULPSCOPE_FP64,
    ULPSCOPE_E4M3,
    ULPSCOPE_E5M2
};

enum ulpscope_operation {
    ULPSCOPE_SUM, /* one result; +0 for n = 0 */
    /* n results: output i is the sum of the elements 0 .. i or, where `exclusive`, 0 .. i-1. */
    ULPSCOPE_SCAN,
    ULPSCOPE_DOT, /* one result: the sum of the products in[i] in2[i]; +0 for n = 0 */
    /* One result each. For the library's own methods: a subject cannot be one of these. For n = 0
     * they are +0, NaN, NaN, 1, inf, -inf, inf, -inf, -1, -1, +0. */
    ULPSCOPE_NORM,
    ULPSCOPE_MEAN,
    ULPSCOPE_VARIANCE,
    ULPSCOPE_PRODUCT,
    ULPSCOPE_MINIMUM, /* IEEE 754-2019: a NaN wins; -0 is below +0 */
    ULPSCOPE_MAXIMUM,
    ULPSCOPE_MINIMUM_NUMBER, /* a NaN loses */
    ULPSCOPE_MAXIMUM_NUMBER,
    ULPSCOPE_ARGMIN, /* the lowest index of the minimum, as a number of fp64 */
    ULPSCOPE_ARGMAX,
    ULPSCOPE_ASUM, /* the sum of magnitudes */
    /* m n results: D = A B + C, row after row; A and B as `matrices` says. On host memory alone,
     * and for subjects alone: the library has none. */
    ULPSCOPE_GEMM
};

/* Where `in`, `in2` and `out` point to. ULPSCOPE_DEVICE: memory of the CUDA device `device`, which
 * is current. */
enum ulpscope_memory { ULPSCOPE_HOST, ULPSCOPE_DEVICE };

/* The reproducibility that you claim, which `ulpscope check` tries to refute; each promise includes
 * those before it. */
enum ulpscope_promise {
    ULPSCOPE_NO_PROMISE,
    ULPSCOPE_RUN_TO_RUN,      /* same device, same launch shape */
    ULPSCOPE_GPU_TO_GPU,      /* any launch shape, any device */
    ULPSCOPE_ORDER_INVARIANT, /* any order of the elements */
    ULPSCOPE_CORRECTLY_ROUNDED
};

/* A storage format and an accumulator: combine pairs with |. There is room for 8 formats.
 * ULPSCOPE_ALL_PAIRS: all pairs with storage of 16 bits or more; ULPSCOPE_PAIRS_8: those with 8-bit
 * storage. */
#define ULPSCOPE_PAIR(storage, accumulator) (UINT64_C(1) << (8 * (storage) + (accumulator)))
#define ULPSCOPE_ALL_PAIRS                  UINT64_C(0x0f0f0f0f)
#define ULPSCOPE_PAIRS_8                    UINT64_C(0x0f0f00000000)

/* The parts of the launch shape that the function reads: combine with |. And of matrix products
 * more: that it takes no C, so that it is asked for A B alone; that it claims to be
 * batch_invariant, beside its promise: an element of D depends on its row of A, its column of B and
 * its C alone. */
enum {
    ULPSCOPE_READS_THREADS = 1,
    ULPSCOPE_READS_BLOCKS = 2,
    ULPSCOPE_TAKES_NO_C = 4,
    ULPSCOPE_BATCH_INVARIANT = 8
};

/* The matrices of a product: A of m x k, B of k x n, C of m x n elements. Rows of A begin lda
 * elements apart, or its columns where a_column is set, those of B ldb; C's and the result's follow
 * each other. What lies between rows or columns is not to be read. */
struct ulpscope_matrices {
    size_t m, n, k, lda, ldb;
    int a_column, b_column;
    const void *a, *b; /* in the storage format; `in` is a */
    const void *c;     /* in the format `output`; NULL: zeros */
};

/* One execution. */
struct ulpscope_task {
    size_t n; /* elements; may be 0 */
    /* Aligned to one element; 64 bytes and more, unless another place is tried. In host memory a
     * run that changes it is an error, as is one that writes beyond `out`. */
    const void *in;
    /* Dot products only: the second array, of the same length and alignment; else NULL. */
    const void *in2;
    /* The result, to be written: one element in the accumulator's format for a sum, n elements in
     * the format `output` for a scan, m n for a matrix product. Filled with NaN before the call; an
     * element that keeps what was there is an error. Aligned to 64 bytes. */
    void *out;
    enum ulpscope_format storage, accumulator, output;
    int exclusive;            /* of scans */
    unsigned threads, blocks; /* asked for; 0 leaves it to you, or you do not read it */
    int device;               /* the CUDA device's number; -1 with host memory */
    /* cudaStream_t: enqueue all work on device memory here. ulpscope waits for everything enqueued
     * when `run` returns. NULL with host memory. */
    void *stream;
    const struct ulpscope_matrices *matrices; /* of matrix products; else NULL */
};

struct ulpscope_subject {
    const char *name;    /* without blanks, commas or colons */
    const char *summary; /* one line */
    enum ulpscope_operation operation;
    enum ulpscope_memory memory;
    enum ulpscope_promise promise;
    uint64_t pairs; /* ULPSCOPE_PAIRs that it supports; it is never called with others */
    uint32_t reads; /* ULPSCOPE_READS_... and so on; launch shapes that differ only in what it does
                       not read are one case */
    /* Returns 0, or an error code that is printed (return (int)cudaGetLastError() after a launch):
     * the run is then an error. */
    int (*run)(const struct ulpscope_task *t);
};

struct ulpscope_subjects {
    uint32_t version; /* ULPSCOPE_SUBJECT_VERSION */
    uint32_t count;
    const struct ulpscope_subject *subject;
};

/* The symbol that the object must export. */
extern
#ifdef __GNUC__
    __attribute__((visibility("default")))
#endif
    const struct ulpscope_subjects ulpscope_subjects;

#ifdef __cplusplus
}
#endif
#endif
