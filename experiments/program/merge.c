/* ulpscope merge: the shards of a study into one results directory. */
#include <stdlib.h>

#include "experiments/program/verbs.h"
#include "experiments/sweep/merge.h"

static enum status run(const struct arguments *a, struct problem *p)
{
    uint32_t shards;
    char *out;
    const struct merge merge = {.dir = a->operand,
                                .count = a->operands,
                                .out = argument_value(a, "out"),
                                .force = argument_flag(a, "force"),
                                .argc = a->argc,
                                .argv = a->argv};
    enum status status = merge_shards(&merge, &shards, &out, p);
    if (status == STATUS_OK)
        status = run_merged(a, out, shards, p);
    free(out);
    return status;
}

const struct verb verb_merge = {
    .name = "merge",
    .operands = "DIR...",
    .least = 1,
    .most = OPERANDS_MAX,
    .summary = "joins the shards of one study into one results directory",
    .details =
        "`run EXPERIMENT --shard I/N` runs the I-th of N shares of a study's cases, on any machine "
        "and at any\ntime: the N commands differ in I alone, and each can be interrupted and run "
        "again. merge joins their\ndirectories: the rows of one process, but for their order and "
        "times. study.json names the machine and\nthe program of each shard.\n\n"
        "Nothing is run. Every shard must be there once and finished, their inputs the same. "
        "Derived "
        "files, the table\nand the verdict are made of all rows: a promise that two machines break "
        "together shows here. Exit status\n1 where a bound or a promise is broken, 2 where the "
        "directories are not the shards of one study, 3 where a\nshard is not finished or a file "
        "cannot be read.",
    .examples = "  ulpscope run accuracy --device cpu --n 1000 --shard 1/2\n"
                "  ulpscope run accuracy --device cpu --n 1000 --shard 2/2\n"
                "  ulpscope merge results-accuracy-1of2 results-accuracy-2of2",
    .run = run,
};
