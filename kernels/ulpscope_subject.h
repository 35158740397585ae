/* Your own sum, scan or dot product under ulpscope's microscope: the one header that a shared
 * object needs.
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
 * The object is loaded into a process of its own, which calls `run` again and again, from one
 * thread, never two runs at a time. What crashes, exits, or runs on costs a row of the study. Its
 * standard input is empty, and what it prints goes to standard error, of which the last line is
 * told when it fails. C or C++; valid in CUDA sources. */
#ifndef ULPSCOPE_ULPSCOPE_SUBJECT_H
#define ULPSCOPE_ULPSCOPE_SUBJECT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Grows with every change that would make an older object misread. Objects of version 1, whose
 * pairs were 16 bits, are read as well. */
#define ULPSCOPE_SUBJECT_VERSION 2

/* IEEE 754 binary16, bfloat16, binary32, binary64; E4M3 and E5M2 of OCP 8-bit floating point 1.0,
 * which elements are stored in and nothing is added in. Little-endian, without padding. */
enum ulpscope_format {
    ULPSCOPE_FP16,
    ULPSCOPE_BF16,
    ULPSCOPE_FP32,
    ULPSCOPE_FP64,
    ULPSCOPE_E4M3,
    ULPSCOPE_E5M2
};

enum ulpscope_operation {
    ULPSCOPE_SUM, /* one result; of nothing +0 */
    /* n results: output i is the sum of the elements 0 .. i or, where `exclusive`, 0 .. i-1. */
    ULPSCOPE_SCAN,
    ULPSCOPE_DOT, /* one result: the sum of the products in[i] in2[i]; of nothing +0 */
    /* One result each, of the library's methods alone: a subject is none of these. Of nothing +0,
     * NaN, NaN, 1, inf, -inf, inf, -inf, -1, -1. */
    ULPSCOPE_NORM,
    ULPSCOPE_MEAN,
    ULPSCOPE_VARIANCE,
    ULPSCOPE_PRODUCT,
    ULPSCOPE_MINIMUM, /* IEEE 754-2019: a NaN wins; -0 is below +0 */
    ULPSCOPE_MAXIMUM,
    ULPSCOPE_MINIMUM_NUMBER, /* a NaN loses */
    ULPSCOPE_MAXIMUM_NUMBER,
    ULPSCOPE_ARGMIN, /* the lowest index of the minimum, as a number of fp64 */
    ULPSCOPE_ARGMAX
};

/* What `in`, `in2` and `out` are addresses of. ULPSCOPE_DEVICE: of a CUDA device's memory, that of
 * `device`, which is the current one. */
enum ulpscope_memory { ULPSCOPE_HOST, ULPSCOPE_DEVICE };

/* What you claim of the bits of a result, for `ulpscope check` to try to refute; each includes
 * those before it. */
enum ulpscope_promise {
    ULPSCOPE_NO_PROMISE,
    ULPSCOPE_RUN_TO_RUN,      /* same device, same launch shape */
    ULPSCOPE_GPU_TO_GPU,      /* any launch shape, any device */
    ULPSCOPE_ORDER_INVARIANT, /* any order of the elements */
    ULPSCOPE_CORRECTLY_ROUNDED
};

/* Elements stored in one format and added in another: combine such pairs with |. There is
 * room for 8 formats. ULPSCOPE_ALL_PAIRS are those of 16 bits and more; ULPSCOPE_PAIRS_8 those that
 * store 8 bits. */
#define ULPSCOPE_PAIR(storage, accumulator) (UINT64_C(1) << (8 * (storage) + (accumulator)))
#define ULPSCOPE_ALL_PAIRS                  UINT64_C(0x0f0f0f0f)
#define ULPSCOPE_PAIRS_8                    UINT64_C(0x0f0f00000000)

/* What is read of the launch shape: combine with |. */
enum { ULPSCOPE_READS_THREADS = 1, ULPSCOPE_READS_BLOCKS = 2 };

/* One execution. */
struct ulpscope_task {
    size_t n;       /* elements; may be 0 */
    const void *in; /* aligned to one element; 64 bytes and more, unless another place is tried */
    /* Of a dot product alone: the second array, as long and placed alike; else NULL. */
    const void *in2;
    /* To be written: of a sum one element in the accumulator's format, of a scan n elements in the
     * format `output`. Holds NaNs before. Aligned to 64 bytes. */
    void *out;
    enum ulpscope_format storage, accumulator, output;
    int exclusive;            /* of scans */
    unsigned threads, blocks; /* asked for; 0 leaves it to you, or you do not read it */
    int device;               /* the CUDA device's number; -1 with host memory */
    /* cudaStream_t: whatever is done to device memory is enqueued here. What has been enqueued when
     * `run` returns is waited for. NULL with host memory. */
    void *stream;
};

struct ulpscope_subject {
    const char *name;    /* without blanks, commas or colons */
    const char *summary; /* one line */
    enum ulpscope_operation operation;
    enum ulpscope_memory memory;
    enum ulpscope_promise promise;
    uint64_t pairs; /* ULPSCOPE_PAIRs that it supports: it is never asked for others */
    uint32_t reads; /* ULPSCOPE_READS_...; runs that differ in nothing that it reads are one case */
    /* 0, or a number that is told (return (int)cudaGetLastError() behind a launch): the run is then
     * an error. */
    int (*run)(const struct ulpscope_task *t);
};

struct ulpscope_subjects {
    uint32_t version; /* ULPSCOPE_SUBJECT_VERSION */
    uint32_t count;
    const struct ulpscope_subject *subject;
};

/* What the object has to export. */
extern
#ifdef __GNUC__
    __attribute__((visibility("default")))
#endif
    const struct ulpscope_subjects ulpscope_subjects;

#ifdef __cplusplus
}
#endif
#endif
