/* run rows: how wrong are sums of rows, does a row's sum hang on how rows lie or how many there
 * are; and do transpositions and compactions leave every bit alone? */
#include "experiments/cases/experiment.h"
#include "experiments/studies/scan_table.h"

static enum status draw(struct text *to, const struct plan *plan, const char *out,
                        struct problem *p)
{
    (void)out;
    text_add(
        to, "Different outputs of so many runs. The output (a row; of what moves, an element) with "
            "the largest error of any\nrun, that error in ulps, the root mean square over the "
            "outputs, and the largest error over its bound. The\nlargest share of outputs that "
            "differ from run 1; from the fixed-order twin (rows/tiled on the CPU), with their\n"
            "mean relative difference.\n\n");
    return scan_tables_bins(to, plan, p);
}

#define FORMATS_OF_ROWS "fp16/fp16,bf16/fp32,fp32/fp32,fp64/fp64"

const struct experiment experiment_rows = {
    .name = "rows",
    .summary = "how wrong sums of rows, columns and batches are, and how many different ones many "
               "runs give; transpositions and compactions beside them",
    .operation = {&operation_rows, &operation_transpose, &operation_compact},
    .rows = "1,0",
    .axes =
        {
            [DEVICE_CPU] =
                {.formats = FORMATS_OF_ROWS, .input = "symmetric", .n = "2^16", .runs = 10},
            [DEVICE_CUDA] =
                {.formats = FORMATS_OF_ROWS, .input = "symmetric", .n = "2^20", .runs = 100},
        },
    .table = draw,
};
