/* What studies of sums over ranks have in common. */
#pragma once

#include "experiments/cases/experiment.h"

#define RANKS_OF_AXES                                                                              \
    {                                                                                              \
        .formats = "fp16/fp16,bf16/bf16,bf16/fp32,fp32/fp32", .input = "normal", .n = "49152",     \
        .runs = 2                                                                                  \
    }
#define RANKS_AXES                                                                                 \
    {                                                                                              \
        [DEVICE_CPU] = RANKS_OF_AXES, [DEVICE_CUDA] = RANKS_OF_AXES                                \
    }

/* Errors and differences by method; whose model has all its bits. */
enum status ranks_table(struct text *to, const struct plan *plan, const char *out,
                        struct problem *p);
