/* run dot: how wrong is a dot product? */
#include "experiments/cases/experiment.h"

#define INPUTS                                                                                     \
    "uniform,symmetric,normal,lognormal:sigma=4,dot_cond,orthogonal,product_overflow,"             \
    "product_underflow"

const struct experiment experiment_dot = {
    .name = "dot",
    .summary = "how wrong a dot product is: error over method, formats, input, n and how products "
               "are formed",
    .operation = {&operation_dot},
    .axes =
        {
            [DEVICE_CPU] = {.formats = FORMATS_USUAL, .input = INPUTS, .n = "1000,2^18", .runs = 1},
            [DEVICE_CUDA] = {.formats = "all", .input = INPUTS, .n = "1000,2^18", .runs = 1},
        },
    .table = accuracy_table,
};
