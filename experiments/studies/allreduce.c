/* run allreduce: how wrong are sums over ranks, and which elements change with the algorithm? */
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
    says_legend(to, "n / ranks elements on each rank; the accumulator is what travels. distinct: "
                    "different results in how many runs. worst at: the element with the largest "
                    "error of any run; that error in ulps, the root mean square over the elements, "
                    "and the largest error over its bound. run 1: the largest share of elements "
                    "that differ from run 1; from twin: from allreduce/rank_order, with their mean "
                    "relative difference.");
    text_add(to, "\n");
    return scan_tables_bins(to, plan, p);
}

#define FORMATS_OF_ALLREDUCES "fp16/fp16,bf16/bf16,bf16/fp32,fp32/fp32"

const struct experiment experiment_allreduce = {
    .name = "allreduce",
    .summary = "how wrong sums over the ranks of an all-reduce are, and which elements change with "
               "algorithm and number of ranks",
    .operation = {&operation_allreduce},
    .ranks = "2,3,4,8",
    .axes =
        {
            [DEVICE_CPU] =
                {.formats = FORMATS_OF_ALLREDUCES, .input = "normal", .n = "49152", .runs = 2},
            [DEVICE_CUDA] =
                {.formats = FORMATS_OF_ALLREDUCES, .input = "normal", .n = "49152", .runs = 2},
        },
    .table = draw,
};
