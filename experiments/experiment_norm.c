/* run norm: how wrong are norms, means and variances? */
#include "experiments/experiment.h"

const struct experiment experiment_norm = {
    .name = "norm",
    .summary = "how wrong norms, means and variances are: error over method, formats, input and n",
    .operation = {&operation_norm, &operation_mean, &operation_variance},
    .axes =
        {
            [DEVICE_CPU] = {.formats = "fp16/fp16,fp16/fp32,bf16/bf16,bf16/fp32,fp32/fp32,"
                                       "fp32/fp64,fp64/fp64",
                            .input =
                                "uniform,normal,normal:mean=1000,lognormal:sigma=4,wide,subnormal",
                            .n = "1000,2^18",
                            .runs = 1},
            [DEVICE_CUDA] = {.formats = "all",
                             .input =
                                 "uniform,normal,normal:mean=1000,lognormal:sigma=4,wide,subnormal",
                             .n = "1000,2^18",
                             .runs = 1},
        },
    .table = accuracy_table,
};
