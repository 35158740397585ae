/* run gemm: how wrong are the elements of matrix products, and which is the worst? */
#include "experiments/cases/experiment.h"
#include "experiments/studies/says.h"
#include "experiments/studies/scan_table.h"

static enum status draw(struct text *to, const struct plan *plan, const char *out,
                        struct problem *p)
{
    (void)out;
    says_repeats(to, plan);
    says_errors(to, plan);
    text_add(to, "\n");
    says_legend(
        to,
        "D = A B + C. distinct: different products in how many runs. worst at: the element "
        "(row,column) "
        "with the largest error, in ulps; rms: over all elements; of bound: above 1 a bug in the "
        "method "
        "or in its bound. from tiled: the share of elements that differ from gemm/tiled; rel_diff: "
        "their mean relative difference.");
    text_add(to, "\n");
    return scan_tables_product(to, plan, p);
}

#define FORMATS_OF_PRODUCTS "e4m3/fp32,fp16/fp16,fp16/fp32,bf16/fp32,fp32/fp32,fp64/fp64"

const struct experiment experiment_gemm = {
    .name = "gemm",
    .summary = "how wrong the elements of matrix products are, by method, formats and shape",
    .operation = {&operation_gemm},
    .shape = "64x64x256",
    .axes =
        {
            [DEVICE_CPU] =
                {.formats = FORMATS_OF_PRODUCTS, .input = "symmetric", .n = "1", .runs = 3},
            [DEVICE_CUDA] =
                {.formats = FORMATS_OF_PRODUCTS, .input = "symmetric", .n = "1", .runs = 3},
        },
    .table = draw,
};
