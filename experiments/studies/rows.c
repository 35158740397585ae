/* run rows: how wrong are sums of rows, does a row's sum hang on how rows lie or how many there
 * are; and do transpositions and compactions leave every bit alone? */
#include "experiments/cases/experiment.h"
#include "experiments/studies/says.h"
#include "experiments/studies/scan_table.h"

static enum status draw(struct text *to, const struct plan *plan, const char *out,
                        struct problem *p)
{
    (void)out;
    says_repeats_and_errors(to, plan);
    text_add(to, "\n");
    says_legend(to, "distinct: different outputs in how many runs. worst at: the output (a row; of "
                    "what moves, an element) with the largest error of any run; that error in "
                    "ulps, the root mean square over the outputs, and the largest error over its "
                    "bound. run 1: the largest share of outputs that differ from run 1; from twin: "
                    "from rows/tiled on the CPU, whose order is fixed, with their mean relative "
                    "difference.");
    text_add(to, "\n");
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
