/* run rowstats: how wrong are statistics of rows, as softmax and LayerNorm need them? Apart from
 * `run rows`, whose subjects sum or move: here the inputs are scores and activations. */
#include "experiments/cases/experiment.h"
#include "experiments/studies/says.h"
#include "experiments/studies/scan_table.h"

static enum status draw(struct text *to, const struct plan *plan, const char *out,
                        struct problem *p)
{
    (void)out;
    says_repeats_and_errors(to, plan);
    text_add(to, "\n");
    says_legend(
        to, "distinct: different outputs in how many runs. worst at: the output (a row; "
            "for softmax and norms an element) with the largest error of any run; that error in "
            "ulps, the root mean square over the outputs, and the "
            "largest error over its bound. run 1: the largest share of outputs that differ "
            "from run 1; from twin: from the method of fixed order that others are "
            "compared with, with their mean relative difference.");
    text_add(to, "\n");
    return scan_tables_bins(to, plan, p);
}

#define FORMATS_OF_ROWS "fp16/fp16,bf16/bf16,bf16/fp32,fp32/fp32"

const struct experiment experiment_rowstats = {
    .name = "rowstats",
    .summary = "how wrong statistics of rows are: means and variances, softmax, its "
               "denominator and its logarithm, RMSNorm and LayerNorm",
    .operation = {&operation_rowmean, &operation_rowvariance, &operation_sumexp,
                  &operation_logsumexp, &operation_softmax, &operation_rmsnorm,
                  &operation_layernorm},
    .rows = "16",
    .axes =
        {
            [DEVICE_CPU] = {.formats = FORMATS_OF_ROWS, .input = "normal", .n = "2^14", .runs = 1},
            [DEVICE_CUDA] = {.formats = FORMATS_OF_ROWS, .input = "normal", .n = "2^14", .runs = 1},
        },
    .table = draw,
};
