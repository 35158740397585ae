/* Shared by the files of the GPU's host side. */
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/gpu/gpu.h"

struct gpu_input {
    int device;
    struct operands of; /* device addresses; NULL of what it has not been given */
    void *allocation[OPERANDS];
    void *copy; /* NULL until it is asked for */
};

/* Makes a device the current one. STATUS_DEVICE where there is none of that number. */
enum status gpu_choose(int device, struct problem *p);

/* Device memory, at least one byte. Out of memory is STATUS_MEMORY with a line that names the
 * device, what for, the bytes asked for and those that are free. Free it with cudaFree. */
enum status gpu_allocate(void **address, int device, size_t bytes, const char *what,
                         struct problem *p);

/* STATUS_MEMORY where CUDA's reason is that memory is short, else STATUS_DEVICE, with a line that
 * names the device, what was being done, and that reason. */
enum status gpu_failed(int device, const char *doing, cudaError_t error, struct problem *p);
