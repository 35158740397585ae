/* A way for batches of results from a device to the host: a stream, and for each of two batches a
 * buffer at either end and the events that mark its begin, its end and its arrival.
 *
 * Making one takes longer than many a case, so they are kept when given back, until the process
 * ends. For one thread at a time. */
#pragma once

#include "kernels/gpu/device.h"

struct gpu_channel {
    int device;
    cudaStream_t stream;
    struct gpu_buffer {
        uint64_t *on_device, *on_host; /* GPU_BATCH results, 8 bytes each */
        cudaEvent_t begin, end, arrived;
    } buffer[2];
    struct gpu_channel *next;
};

/* The device must be the current one. */
enum status gpu_channel_take(struct gpu_channel **channel, int device, struct problem *p);
/* Waits for the stream. A channel whose device has failed is not used again. */
void gpu_channel_give_back(struct gpu_channel *channel);
