/* An all-reduce over NCCL whose bits depend on the addends alone: not on the number of GPUs, their
 * placement and order, the message, NCCL's algorithm, protocol, channels or version.
 *
 *     #include <ulpscope_nccl.h>
 *
 *     size_t bytes = ulpscope_nccl_scratch(n, 1, ncclFloat32, ranks);
 *     ... cudaMalloc(&scratch, bytes) ...
 *     ulpscope_nccl_allreduce(in, 1, out, n, ncclFloat32, 0, scratch, comm, stream);
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
    ULPSCOPE_NCCL_AT_ONCE = 4,       /* arrays whose elements a thread loads at once */
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
        for (int r = 0; r < a.count; r += ULPSCOPE_NCCL_AT_ONCE) {
            word loaded[ULPSCOPE_NCCL_AT_ONCE]; /* all on their way before one is added */
#pragma unroll
            for (int j = 0; j < ULPSCOPE_NCCL_AT_ONCE; j++)
                if (r + j < a.count)
                    loaded[j] = *(const word *)((const element *)ulpscope_nccl_array(
                                                    &a, sizeof(element), r + j) +
                                                i);
#pragma unroll
            for (int j = 0; j < ULPSCOPE_NCCL_AT_ONCE; j++) {
                if (r + j >= a.count)
                    break;
                element x[count];
                memcpy(x, &loaded[j], sizeof x);
#pragma unroll
                for (int k = 0; k < count; k++)
                    ulpscope_nccl_add(&sum[k], type, binned, ulpscope_nccl_decode(type, x[k]),
                                      r + j == 0);
            }
        }
#pragma unroll
        for (int k = 0; k < count; k++) {
            uint64_t bits;
            if (!ulpscope_nccl_decided(&sum[k], type, binned ? folds : 0, &bits))
                bits = ulpscope_nccl_undecided(&a, type, folds, i + k, sum[k].most);
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
    struct ulpscope_nccl_addends none = {NULL, NULL, 0, 0, 0, 0, 0};
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
    size_t strides = (a->stride | (a->own_count > 1 ? a->own_stride : 0) | n) * sizeof(element);
    size_t places = (size_t)(uintptr_t)a->own | (size_t)(uintptr_t)a->gathered |
                    (size_t)(uintptr_t)out | strides;
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
        for (int r = 0; r < a->count; r++)
            ulpscope_nccl_add(&sum, type, folds, ulpscope_nccl_addend(a, type, r, i), r == 0);
        if (!ulpscope_nccl_decided(&sum, type, folds, &bits))
            bits = ulpscope_nccl_undecided(a, type, folds, i, sum.most);
        memcpy((char *)out + i * bytes, &bits, bytes);
    }
    return ncclSuccess;
}

#endif

/* --- the all-reduce --- */

/* Elements of each rank's block; 0: the message is gathered whole. */
static inline size_t ulpscope_nccl_block(size_t n, size_t arrays, size_t bytes, int ranks)
{
    size_t others = (size_t)ranks - 1;
    if (others == 0 || n * arrays * bytes <= ULPSCOPE_NCCL_GATHERED / others)
        return 0;
    return n / (size_t)ranks / ULPSCOPE_NCCL_GRAIN * ULPSCOPE_NCCL_GRAIN;
}

/* From one array's tail to the next one's, in elements. */
static inline size_t ulpscope_nccl_stride(size_t tail, size_t block)
{
    size_t grain = ULPSCOPE_NCCL_GRAIN;
    return block == 0 ? tail : (tail + grain - 1) / grain * grain;
}

/* Bytes of device memory that ulpscope_nccl_allreduce takes beside `in` and `out`: about those of
 * `in` where it is long. 0: no such type, or ranks below 1. */
static inline size_t ulpscope_nccl_scratch(size_t n, size_t arrays, ncclDataType_t type, int ranks)
{
    size_t bytes = (size_t)ulpscope_nccl_type_of(type).bytes;
    if (bytes == 0 || ranks < 1)
        return 0;
    size_t block = ulpscope_nccl_block(n, arrays, bytes, ranks), tail = n - block * (size_t)ranks;
    return (size_t)ranks * arrays * (block + ulpscope_nccl_stride(tail, block)) * bytes + 1;
}

/* What is sent: `arrays` arrays of n elements, of each a block to each rank and the tail to all. */
struct ulpscope_nccl_message {
    const char *in;
    char *blocks, *tails; /* of all arrays of all ranks */
    size_t n, arrays, block, tail, bytes;
    ncclDataType_t type;
    int rank, ranks;
};

static inline ncclResult_t ulpscope_nccl_exchange(const struct ulpscope_nccl_message *m,
                                                  ncclComm_t comm, cudaStream_t stream)
{
    size_t stride = ulpscope_nccl_stride(m->tail, m->block), total = m->arrays * (size_t)m->ranks;
    ncclResult_t result = ncclGroupStart();
    /* Beginning with the next rank: no two ranks send to the same one at first. */
    for (size_t k = m->arrays; k < total && result == ncclSuccess; k++) {
        int away = (int)(k / m->arrays), to = (m->rank + away) % m->ranks;
        int from = (m->rank + m->ranks - away) % m->ranks;
        size_t a = k % m->arrays, place = (size_t)from * m->arrays + a;
        const char *array = m->in + a * m->n * m->bytes;
        result =
            ncclSend(array + (size_t)to * m->block * m->bytes, m->block, m->type, to, comm, stream);
        if (result == ncclSuccess)
            result = ncclRecv(m->blocks + place * m->block * m->bytes, m->block, m->type, from,
                              comm, stream);
        if (result == ncclSuccess && m->tail > 0)
            result =
                ncclSend(array + (m->n - m->tail) * m->bytes, m->tail, m->type, to, comm, stream);
        if (result == ncclSuccess && m->tail > 0)
            result = ncclRecv(m->tails + place * stride * m->bytes, m->tail, m->type, from, comm,
                              stream);
    }
    ncclResult_t ended = ncclGroupEnd();
    return result == ncclSuccess ? ended : result;
}

/* Enqueues on `stream`: out[i] on every rank is the sum of element i of the `arrays` arrays that
 * each rank has, n elements each, one after the other in `in`: the same bits for every number of
 * ranks that share the arrays. Device memory; `out` may be `in`. `type`: ncclFloat16,
 * ncclBfloat16, ncclFloat32 or ncclFloat64. folds 0: the exact sum, rounded once. 2, 3 or 4: that
 * of allreduce/binned with so many folds, each element rounded to a unit that the largest one sets,
 * then exact.
 *
 * All ranks call it with the same n, arrays, type and folds, each in a thread or process of its own
 * and outside of ncclGroupStart. `scratch` is ulpscope_nccl_scratch bytes of device memory, as
 * aligned as cudaMalloc's, which nothing else uses until the stream is done.
 * ncclInvalidArgument: no such type or folds, no arrays or no memory; else what NCCL or the launch
 * gave. */
static inline ncclResult_t ulpscope_nccl_allreduce(const void *in, size_t arrays, void *out,
                                                   size_t n, ncclDataType_t type, unsigned folds,
                                                   void *scratch, ncclComm_t comm,
                                                   cudaStream_t stream)
{
    struct ulpscope_nccl_message m = {(const char *)in,
                                      (char *)scratch,
                                      NULL,
                                      n,
                                      arrays,
                                      0,
                                      0,
                                      (size_t)ulpscope_nccl_type_of(type).bytes,
                                      type,
                                      0,
                                      0};
    if (m.bytes == 0 || arrays == 0 || arrays > 1 << 20 || folds == 1 || folds > 4 ||
        (n > 0 && (!in || !out || !scratch)))
        return ncclInvalidArgument;
    ncclResult_t result = ncclCommCount(comm, &m.ranks);
    if (result == ncclSuccess)
        result = ncclCommUserRank(comm, &m.rank);
    if (result != ncclSuccess || n == 0)
        return result;
    int own = (int)arrays, first = m.rank * own, all = m.ranks * own;
    m.block = ulpscope_nccl_block(n, arrays, m.bytes, m.ranks);
    m.tail = n - m.block * (size_t)m.ranks;
    m.tails = m.blocks + (size_t)all * m.block * m.bytes;
    size_t mine = (size_t)m.rank * m.block * m.bytes, before_tail = (n - m.tail) * m.bytes;
    struct ulpscope_nccl_addends of_block = {m.in + mine, m.blocks, n, m.block, first, own, all};
    struct ulpscope_nccl_addends of_tail = {
        m.in + before_tail, m.tails, n, ulpscope_nccl_stride(m.tail, m.block), first, own, all};
    result = ulpscope_nccl_reduce(&of_block, type, (int)folds, out, 0, stream);
    if (result == ncclSuccess && m.block > 0)
        result = ulpscope_nccl_exchange(&m, comm, stream);
    else if (result == ncclSuccess && m.ranks > 1)
        result = ncclAllGather(in, m.tails, n * arrays, type, comm, stream);
    if (result == ncclSuccess && m.block > 0)
        result =
            ulpscope_nccl_reduce(&of_block, type, (int)folds, (char *)out + mine, m.block, stream);
    if (result == ncclSuccess && m.tail > 0)
        result = ulpscope_nccl_reduce(&of_tail, type, (int)folds, (char *)out + before_tail, m.tail,
                                      stream);
    if (result == ncclSuccess && m.block > 0)
        result = ncclAllGather((const char *)out + mine, out, m.block, type, comm, stream);
    return result;
}
#endif
