/* run scan-variance: does a scan give the same bits again, and where does it begin to differ? */
#include "experiments/cases/experiment.h"
#include "experiments/studies/scan_table.h"
#include "experiments/studies/steady.h"

static void header(struct table *to, const struct scan_table *t, size_t n)
{
    static const char *const name[] = {"distinct",  "mode", "first diff", "median",
                                       "differing", "most", "rel_diff",   "from twin"};
    (void)t, (void)n;
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        table_cell(to, "%s", name[i]);
}

static void row(struct table *to, const struct scan_table *t, const struct study_case *one)
{
    const struct summary *s = &one->summary;
    (void)t;
    table_cell(to, "%llu/%llu", (unsigned long long)s->distinct, (unsigned long long)s->runs);
    scan_table_figure(to, "%.3g", s->mode_share);
    scan_table_figure(to, "%.0f", s->scan.run_first_diff_min);
    scan_table_figure(to, "%.0f", s->scan.run_first_diff_median);
    scan_table_figure(to, "%.2g", s->scan.run_differing_median);
    scan_table_figure(to, "%.2g", s->scan.run_differing_max);
    scan_table_figure(to, "%.2g", s->scan.run_mean_rel_diff_max);
    scan_table_figure(to, "%.2g", s->scan.differing_max);
}

static enum status draw(struct text *to, const struct plan *plan, const char *out,
                        struct problem *p)
{
    struct scan_table t = {.plan = plan,
                           .align = "rrrrrrrr",
                           .header = header,
                           .row = row,
                           .left_out = steady_left_out};
    (void)out;
    text_add(to, "Different outputs of so many runs, and the share of the most frequent. Against "
                 "run 1: the first index that\ndiffers, smallest and median; the share of outputs "
                 "that differ, median and most; their mean relative difference.\nAgainst the "
                 "fixed-order twin (scan/tiled on the CPU): the share that differs.\n\n");
    enum status status = scan_tables(to, &t, p);
    steady_lines(to, plan);
    return status;
}

const struct experiment experiment_scan_variance = {
    .name = "scan-variance",
    .summary = "how many different outputs many runs of a scan give, and from which index on",
    .operation = {&operation_scan},
    .axes =
        {
            [DEVICE_CPU] = {.formats = "bf16/fp32,fp32/fp32,fp64/fp64",
                            .input = "uniform,walk",
                            .n = "2^18",
                            .runs = 50},
            [DEVICE_CUDA] = {.formats = "fp16/fp16,fp16/fp32,bf16/bf16,bf16/fp32,fp32/fp32,"
                                        "fp64/fp64",
                             .input = "uniform,walk",
                             .n = "2^22",
                             .runs = 300},
        },
    .table = draw,
};
