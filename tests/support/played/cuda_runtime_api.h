/* Eight GPUs whose memory is the host's, for a worker of NCCL without any. */
#pragma once

#include <stdlib.h>
#include <string.h>

typedef int cudaError_t;
typedef struct played_stream *cudaStream_t;
enum { cudaSuccess };
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost };

static inline const char *cudaGetErrorString(cudaError_t error)
{
    return error == cudaSuccess ? "no error" : "out of memory";
}

/* 8, or as many as PLAYED_GPUS says. */
static inline cudaError_t cudaGetDeviceCount(int *count)
{
    const char *few = getenv("PLAYED_GPUS");
    *count = few ? atoi(few) : 8;
    return cudaSuccess;
}

static inline cudaError_t cudaSetDevice(int device)
{
    return device < 0 || device >= 8;
}

static inline cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    *stream = NULL;
    return cudaSuccess;
}

static inline cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    return stream != NULL;
}

static inline cudaError_t cudaDeviceSynchronize(void)
{
    return cudaSuccess;
}

static inline cudaError_t cudaMalloc(void **data, size_t bytes)
{
    *data = malloc(bytes);
    return *data ? cudaSuccess : 1;
}

static inline cudaError_t cudaFree(void *data)
{
    free(data);
    return cudaSuccess;
}

static inline cudaError_t cudaMemset(void *data, int byte, size_t bytes)
{
    memset(data, byte, bytes);
    return cudaSuccess;
}

static inline cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes,
                                     enum cudaMemcpyKind kind)
{
    (void)kind;
    memcpy(to, from, bytes);
    return cudaSuccess;
}
