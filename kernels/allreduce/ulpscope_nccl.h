/* An all-reduce over NCCL whose bits depend on the addends alone: not on the number of GPUs, their
 * placement and order, the message, NCCL's algorithm, protocol, channels or version.
 *
 *     #include <ulpscope_nccl.h>
 *
 *     size_t bytes = ulpscope_nccl_scratch(n, ncclFloat32, ranks);
 *     ... cudaMalloc(&scratch, bytes) ...
 *     ulpscope_nccl_allreduce(in, out, n, ncclFloat32, 0, scratch, comm, stream);
 *
 *     nvcc program.cu $(pkg-config --cflags ulpscope) -lnccl
 *
 * Each rank receives one block of the elements from all ranks, adds them exactly, rounds once, and
 * all ranks gather the rounded blocks: on the wire that is what a ring's all-reduce sends. Short
 * messages, and what is left of others, are gathered whole and added by every rank.
 *
 * All of it stands in this header, for nvcc; NCCL 2.7 or newer. Nothing of it changes with
 * -use_fast_math or -fmad. */
#ifndef ULPSCOPE_ULPSCOPE_NCCL_H
#define ULPSCOPE_ULPSCOPE_NCCL_H

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <ulpscope_nccl_sums.h>

enum {
    ULPSCOPE_NCCL_DEVICES = 64,
    ULPSCOPE_NCCL_GRAIN = 64,        /* blocks are multiples of so many elements */
    ULPSCOPE_NCCL_GATHERED = 2 << 20 /* bytes received up to which a message is gathered whole */
};

/* --- blocks of elements --- */

#ifdef __CUDACC__

/* Words of `bytes` bytes that hold `count` elements of a type, loaded at once. */
template <int bytes> struct ulpscope_nccl_word;
template <> struct ulpscope_nccl_word<2> {
    typedef unsigned short type;
};
template <> struct ulpscope_nccl_word<4> {
    typedef unsigned int type;
};
template <> struct ulpscope_nccl_word<8> {
    typedef uint2 type;
};
template <> struct ulpscope_nccl_word<16> {
    typedef uint4 type;
};

template <ncclDataType_t type> struct ulpscope_nccl_element {
    typedef uint16_t bits;
};
template <> struct ulpscope_nccl_element<ncclFloat32> {
    typedef uint32_t bits;
};
template <> struct ulpscope_nccl_element<ncclFloat64> {
    typedef uint64_t bits;
};

template <ncclDataType_t type, bool binned, int count>
static __global__ void __launch_bounds__(256, 2)
    ulpscope_nccl_kernel(struct ulpscope_nccl_addends a, int folds, void *out, size_t n)
{
    typedef typename ulpscope_nccl_element<type>::bits element;
    typedef typename ulpscope_nccl_word<count *(int)sizeof(element)>::type word;
    size_t step = (size_t)gridDim.x * blockDim.x * count;
    for (size_t i = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * count; i < n; i += step) {
        struct ulpscope_nccl_sum sum[count];
        element result[count];
#pragma unroll 4
        for (int r = 0; r < a.ranks; r++) {
            const element *from = r == a.rank ? (const element *)a.own
                                              : (const element *)a.gathered + (size_t)r * a.stride;
            element x[count];
            word loaded = *(const word *)(from + i);
            memcpy(x, &loaded, sizeof x);
#pragma unroll
            for (int k = 0; k < count; k++)
                ulpscope_nccl_add(&sum[k], type, binned, ulpscope_nccl_decode(type, x[k]), r == 0);
        }
#pragma unroll
        for (int k = 0; k < count; k++) {
            uint64_t bits;
            if (!ulpscope_nccl_decided(&sum[k], type, binned ? folds : 0, &bits))
                bits = ulpscope_nccl_any(&a, type, folds, i + k);
            result[k] = (element)bits;
        }
        word stored;
        memcpy(&stored, result, sizeof stored);
        *(word *)((element *)out + i) = stored;
    }
}

/* What a first launch waits for, as code that is loaded or memory of its threads, must not wait for
 * the other ranks: once on a device it is launched with nothing to do, before anything is sent. */
template <ncclDataType_t type, bool binned, int count>
static ncclResult_t ulpscope_nccl_prepare(cudaStream_t stream)
{
    static unsigned char done[ULPSCOPE_NCCL_DEVICES];
    struct ulpscope_nccl_addends none = {NULL, NULL, 0, 0, 0};
    int device = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess && device < ULPSCOPE_NCCL_DEVICES && done[device])
        return ncclSuccess;
    if (error == cudaSuccess) {
        ulpscope_nccl_kernel<type, binned, count><<<1, 256, 0, stream>>>(none, 0, NULL, 0);
        ulpscope_nccl_kernel<type, binned, 1><<<1, 256, 0, stream>>>(none, 0, NULL, 0);
        error = cudaGetLastError();
    }
    if (error == cudaSuccess && device < ULPSCOPE_NCCL_DEVICES)
        done[device] = 1;
    return error == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}

template <ncclDataType_t type, bool binned>
static ncclResult_t ulpscope_nccl_enqueue(const struct ulpscope_nccl_addends *a, int folds,
                                          void *out, size_t n, cudaStream_t stream)
{
    typedef typename ulpscope_nccl_element<type>::bits element;
    constexpr int count = sizeof(element) == 8 ? 2 : 4;
    constexpr size_t word = count * sizeof(element);
    if (n == 0)
        return ulpscope_nccl_prepare<type, binned, count>(stream);
    size_t places = (size_t)(uintptr_t)a->own | (size_t)(uintptr_t)a->gathered |
                    (size_t)(uintptr_t)out | a->stride * sizeof(element) | n * sizeof(element);
    bool wide = places % word == 0;
    size_t threads = 256, blocks = (n / (wide ? count : 1) + threads - 1) / threads;
    dim3 grid((unsigned)(blocks > 65536 ? 65536 : blocks));
    if (wide)
        ulpscope_nccl_kernel<type, binned, count><<<grid, 256, 0, stream>>>(*a, folds, out, n);
    else
        ulpscope_nccl_kernel<type, binned, 1><<<grid, 256, 0, stream>>>(*a, folds, out, n);
    return cudaGetLastError() == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}

template <ncclDataType_t type>
static ncclResult_t ulpscope_nccl_of_type(const struct ulpscope_nccl_addends *a, int folds,
                                          void *out, size_t n, cudaStream_t stream)
{
    return folds ? ulpscope_nccl_enqueue<type, true>(a, folds, out, n, stream)
                 : ulpscope_nccl_enqueue<type, false>(a, folds, out, n, stream);
}

/* out[i], i < n, from its addends; n = 0: what comes before the first. */
static ncclResult_t ulpscope_nccl_reduce(const struct ulpscope_nccl_addends *a, ncclDataType_t type,
                                         int folds, void *out, size_t n, cudaStream_t stream)
{
    return type == ncclFloat16    ? ulpscope_nccl_of_type<ncclFloat16>(a, folds, out, n, stream)
           : type == ncclBfloat16 ? ulpscope_nccl_of_type<ncclBfloat16>(a, folds, out, n, stream)
           : type == ncclFloat32  ? ulpscope_nccl_of_type<ncclFloat32>(a, folds, out, n, stream)
                                  : ulpscope_nccl_of_type<ncclFloat64>(a, folds, out, n, stream);
}

#else

static ncclResult_t ulpscope_nccl_reduce(const struct ulpscope_nccl_addends *a, ncclDataType_t type,
                                         int folds, void *out, size_t n, cudaStream_t stream)
{
    size_t bytes = (size_t)ulpscope_nccl_type_of(type).bytes;
    (void)stream;
    for (size_t i = 0; i < n; i++) {
        struct ulpscope_nccl_sum sum = {0, 0, 0, 0, 0};
        uint64_t bits;
        for (int r = 0; r < a->ranks; r++)
            ulpscope_nccl_add(&sum, type, folds, ulpscope_nccl_addend(a, type, r, i), r == 0);
        if (!ulpscope_nccl_decided(&sum, type, folds, &bits))
            bits = ulpscope_nccl_any(a, type, folds, i);
        memcpy((char *)out + i * bytes, &bits, bytes);
    }
    return ncclSuccess;
}

#endif

/* --- the all-reduce --- */

/* Elements of each rank's block; 0: the message is gathered whole. */
static inline size_t ulpscope_nccl_block(size_t n, size_t bytes, int ranks)
{
    size_t others = (size_t)ranks - 1;
    if (others == 0 || n * bytes <= ULPSCOPE_NCCL_GATHERED / others)
        return 0;
    return n / (size_t)ranks / ULPSCOPE_NCCL_GRAIN * ULPSCOPE_NCCL_GRAIN;
}

/* From one rank's part to the next one's, in elements. */
static inline size_t ulpscope_nccl_stride(size_t tail)
{
    return (tail + ULPSCOPE_NCCL_GRAIN - 1) / ULPSCOPE_NCCL_GRAIN * ULPSCOPE_NCCL_GRAIN;
}

/* Bytes of device memory that ulpscope_nccl_allreduce takes beside `in` and `out`: about those of
 * the message where it is long. 0: no such type, or ranks below 1. */
static inline size_t ulpscope_nccl_scratch(size_t n, ncclDataType_t type, int ranks)
{
    size_t bytes = (size_t)ulpscope_nccl_type_of(type).bytes;
    if (bytes == 0 || ranks < 1)
        return 0;
    size_t block = ulpscope_nccl_block(n, bytes, ranks), tail = n - block * (size_t)ranks;
    size_t stride = block == 0 ? tail : ulpscope_nccl_stride(tail);
    return (size_t)ranks * (block + stride) * bytes + 1;
}

/* To and from each other rank: its block of ours and ours of its; and the tail. */
static inline ncclResult_t ulpscope_nccl_exchange(const char *in, char *blocks, char *tails,
                                                  size_t block, size_t tail, size_t bytes,
                                                  ncclDataType_t type, int rank, int ranks,
                                                  ncclComm_t comm, cudaStream_t stream)
{
    size_t count = (size_t)ranks, stride = ulpscope_nccl_stride(tail);
    ncclResult_t result = ncclGroupStart();
    for (int k = 1; k < ranks && result == ncclSuccess; k++) {
        int to = (rank + k) % ranks, from = (rank + ranks - k) % ranks;
        result = ncclSend(in + (size_t)to * block * bytes, block, type, to, comm, stream);
        if (result == ncclSuccess)
            result =
                ncclRecv(blocks + (size_t)from * block * bytes, block, type, from, comm, stream);
        if (result == ncclSuccess && tail > 0)
            result = ncclSend(in + count * block * bytes, tail, type, to, comm, stream);
        if (result == ncclSuccess && tail > 0)
            result =
                ncclRecv(tails + (size_t)from * stride * bytes, tail, type, from, comm, stream);
    }
    ncclResult_t ended = ncclGroupEnd();
    return result == ncclSuccess ? ended : result;
}

/* Enqueues on `stream`: out[i] on every rank is the sum over the ranks of in[i], i < n, in device
 * memory; `out` may be `in`. `type`: ncclFloat16, ncclBfloat16, ncclFloat32 or ncclFloat64. folds
 * 0: the exact sum, rounded once. 2, 3 or 4: that of allreduce/binned with so many folds, each
 * element rounded to a unit that the largest element sets, then exact.
 *
 * All ranks call it with the same n, type and folds, each in a thread or process of its own and
 * outside of ncclGroupStart. `scratch` is
 * ulpscope_nccl_scratch bytes of device memory, as aligned as cudaMalloc's, which nothing else uses
 * until the stream is done.
 * ncclInvalidArgument: no such type or folds, or no scratch; else what NCCL or the launch gave. */
static inline ncclResult_t ulpscope_nccl_allreduce(const void *in, void *out, size_t n,
                                                   ncclDataType_t type, unsigned folds,
                                                   void *scratch, ncclComm_t comm,
                                                   cudaStream_t stream)
{
    size_t bytes = (size_t)ulpscope_nccl_type_of(type).bytes;
    int rank = 0, ranks = 0;
    if (bytes == 0 || folds == 1 || folds > 4 || (n > 0 && (!in || !out || !scratch)))
        return ncclInvalidArgument;
    ncclResult_t result = ncclCommCount(comm, &ranks);
    if (result == ncclSuccess)
        result = ncclCommUserRank(comm, &rank);
    if (result != ncclSuccess || n == 0)
        return result;
    size_t count = (size_t)ranks, block = ulpscope_nccl_block(n, bytes, ranks);
    size_t tail = n - block * count, mine = (size_t)rank * block * bytes;
    char *blocks = (char *)scratch, *tails = blocks + count * block * bytes;
    struct ulpscope_nccl_addends of_tail = {(const char *)in + count * block * bytes, tails,
                                            block == 0 ? tail : ulpscope_nccl_stride(tail), rank,
                                            ranks};
    struct ulpscope_nccl_addends of_block = {(const char *)in + mine, blocks, block, rank, ranks};
    result = ulpscope_nccl_reduce(&of_block, type, (int)folds, out, 0, stream);
    if (result == ncclSuccess && block > 0)
        result = ulpscope_nccl_exchange((const char *)in, blocks, tails, block, tail, bytes, type,
                                        rank, ranks, comm, stream);
    else if (result == ncclSuccess && ranks > 1)
        result = ncclAllGather(in, tails, n, type, comm, stream);
    if (result == ncclSuccess && block > 0)
        result =
            ulpscope_nccl_reduce(&of_block, type, (int)folds, (char *)out + mine, block, stream);
    if (result == ncclSuccess && tail > 0)
        result = ulpscope_nccl_reduce(&of_tail, type, (int)folds,
                                      (char *)out + count * block * bytes, tail, stream);
    if (result == ncclSuccess && block > 0)
        result = ncclAllGather((const char *)out + mine, out, block, type, comm, stream);
    return result;
}
#endif
