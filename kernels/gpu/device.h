/* What the files of the GPU's host side share. */
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/gpu/gpu.h"

struct gpu_input {
    int device;
    struct array array;  /* its data is a device address */
    struct array second; /* likewise; data NULL where there is none */
    uint32_t *keys;      /* device address of as many; NULL where there are none */
    void *allocation, *second_allocation;
    void *copy; /* NULL until it is asked for */
};

/* Makes a device the current one. STATUS_DEVICE where there is none of that number. */
enum status gpu_choose(int device, struct problem *p);

/* Device memory, at least one byte. Out of memory is STATUS_DEVICE with a line that names the
 * device, what for, the bytes asked for and those that are free. Free it with cudaFree. */
enum status gpu_allocate(void **address, int device, size_t bytes, const char *what,
                         struct problem *p);

/* STATUS_DEVICE with a line that names the device, what was being done, and CUDA's reason. */
enum status gpu_failed(int device, const char *doing, cudaError_t error, struct problem *p);
