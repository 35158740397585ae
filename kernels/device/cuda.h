/* The CUDA side of a method, as its .cu file provides it: `sum_tiled_cuda` for sum/tiled.
 *
 * In CUDA C++ a namespace-scope const has internal linkage, unless it is defined as
 *     extern "C" const struct cuda_method sum_tiled_cuda = {...}; */
#pragma once

#include "kernels/method/operands.h"

#ifdef __cplusplus
#define ULPSCOPE_LEFT_OUT = 0 /* after a member that an initialiser may leave out */
extern "C" {
#else
#define ULPSCOPE_LEFT_OUT
#endif

struct cuda_task {
    const struct operands *of; /* device addresses, each aligned to one element at least */
    enum format accumulator;
    unsigned threads, blocks; /* resolved launch shape; 0 where the method does not read it */
    /* Device address of the results, in the format `output`. A single one is aligned to 8 bytes and
     * has all of them to itself; an array is aligned to 256 bytes. */
    void *out;
    void *workspace;      /* device address, 256-byte aligned */
    void *host_workspace; /* address of pinned host memory */
    void *stream;         /* cudaStream_t */
    enum format output;   /* the accumulator's for sums */
};

struct cuda_method {
    /* Bytes of device workspace that the task needs (none of its addresses is read). It is
     * zero-filled before the first run; a run leaves it fit for the next. */
    size_t (*workspace)(const struct cuda_task *t);
    /* The same for pinned host memory, which is not filled. */
    size_t (*host_workspace)(const struct cuda_task *t);
    /* Enqueues one execution on the stream and returns without waiting: cudaSuccess (0) or a
     * cudaError_t. Runs on one stream follow each other. It may be called while the stream is
     * captured into a graph: only stream-ordered calls, and the same ones for the same task. */
    int (*enqueue)(const struct cuda_task *t);
    /* The rest may be left out. */
    /* Enqueues what fills the zero-filled workspace, once, before the first run; or NULL. */
    int (*prepare)(const struct cuda_task *t) ULPSCOPE_LEFT_OUT;
    /* Its enqueue waits for the stream and so cannot be captured. */
    bool waits ULPSCOPE_LEFT_OUT;
};

/* Enqueues the hashing (reference/base/hash.h) of `arrays` arrays of n encodings in f, 1 .. 65535
 * of them, the first at `first`, each `stride` bytes beyond the one before; all aligned to 16
 * bytes. hash: the words of hash i are 2 i and 2 i + 1. A cudaError_t. */
int hash_enqueue(const void *first, size_t stride, size_t arrays, enum format f, size_t n,
                 uint64_t *hash, void *stream);

/* Enqueues a kernel that only reads `bytes` bytes at `data`, as fast as the device can; it writes
 * to `sink` (8 bytes, device memory) next to never. A cudaError_t. */
int raw_read_enqueue(const void *data, size_t bytes, void *sink, void *stream);

#ifdef __cplusplus
}
#endif
