/* run scatter: how wrong are the sums of bins, in which bin most, and are they the same again? */
#include "experiments/cases/experiment.h"
#include "experiments/studies/says.h"
#include "experiments/studies/scan_table.h"

static enum status draw(struct text *to, const struct plan *plan, const char *out,
                        struct problem *p)
{
    (void)out;
    says_repeats_and_errors(to, plan);
    text_add(to, "\n");
    says_legend(to, "distinct: different outputs in how many runs. worst bin: the one with the "
                    "largest error of any run; that error in ulps, the root mean square over the "
                    "bins, and the largest error over its bound. run 1: the largest share of bins "
                    "that differ from run 1; from twin: from scatter/sort, whose order is fixed, "
                    "with their mean relative difference.");
    text_add(to, "\n");
    return scan_tables_bins(to, plan, p);
}

#define FORMATS_OF_GRADIENTS "fp16/fp16,bf16/bf16,bf16/fp32,fp32/fp32,fp64/fp64"

const struct experiment experiment_scatter = {
    .name = "scatter",
    .summary = "how wrong sums by bin are (scatter-add, histograms), in which bin most, and how "
               "many different ones many runs give",
    .operation = {&operation_scatter},
    .keys = "uniform,zipf:s=1.1,one",
    .axes =
        {
            [DEVICE_CPU] = {.formats = FORMATS_OF_GRADIENTS,
                            .input = "symmetric,ones",
                            .n = "2^16",
                            .runs = 10},
            [DEVICE_CUDA] = {.formats = FORMATS_OF_GRADIENTS,
                             .input = "symmetric,ones",
                             .n = "2^20",
                             .runs = 100},
        },
    .table = draw,
};
