/* run allreduce: how wrong are sums over ranks, and which elements change with the algorithm? */
#include "experiments/cases/experiment.h"
#include "experiments/studies/says.h"
#include "experiments/studies/scan_table.h"

/* Whose model has all its bits, in how many cases; a case that has not is named. */
static void says_predicted(struct text *to, const struct plan *plan)
{
    for (size_t k = 0; k < plan->axes->methods; k++) {
        const struct method *m = plan->axes->method[k];
        const struct study_case *other = NULL;
        size_t cases = 0, known = 0, predicted = 0;
        for (size_t i = 0; m->model && i < plan->case_count; i++) {
            const struct study_case *t = &plan->cases[i];
            if (t->method != m || !t->finished || !t->supported)
                continue;
            cases++;
            if (!m->model(m->name, t->setting.ranks, t->setting.bins, t->accumulator))
                continue;
            known++;
            bool equal =
                t->summary.scan.differing_max.known && t->summary.scan.differing_max.value == 0;
            predicted += equal;
            other = equal ? other : t;
        }
        if (cases == 0)
            continue;
        struct text line = {0};
        text_format(&line, "%s: ", m->name);
        if (known > 0)
            text_format(&line, "every bit as predicted in %zu of %zu cases", predicted, known);
        if (known < cases)
            text_format(&line, "%s%zu cases have no model", known ? "; " : "", cases - known);
        if (other) {
            text_add(&line, "; NOT in ");
            says_case(&line, plan, other);
            text_format(&line, ", %zu ranks", other->setting.ranks);
        }
        says_line(to, &line);
    }
}

static enum status draw(struct text *to, const struct plan *plan, const char *out,
                        struct problem *p)
{
    (void)out;
    says_repeats_and_errors(to, plan);
    says_predicted(to, plan);
    text_add(to, "\n");
    says_legend(to, "n / ranks elements on each rank; the accumulator is what travels. distinct: "
                    "different results in how many runs. worst at: the element with the largest "
                    "error of any run; that error in ulps, the root mean square over the elements, "
                    "and the largest error over its bound. run 1: the largest share of elements "
                    "that differ from run 1; from twin: from allreduce/rank_order, or of MPI's own "
                    "from the model of it, with their mean relative difference.");
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
