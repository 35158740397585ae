/* ulpscope merge: the shards of a study into one results directory. */
#include <stdlib.h>
#include <string.h>

#include "experiments/program/verbs.h"
#include "experiments/sweep/merge.h"

/* Rows are read again where they were joined: an edited one is a shard's, whatever --out is. */
static enum status finish(const struct arguments *a, const char *out, uint32_t shards,
                          struct problem *p)
{
    struct problem why = {0};
    enum status status = run_merged(a, out, shards, &why);
    char *edited = status == STATUS_DATA ? strstr(why.text, ": edited") : NULL;
    if (edited)
        *edited = 0;
    if (edited)
        problem(p, status,
                "%s: edited in a shard: run that shard again with --force, then merge again",
                why.text);
    else if (why.status != STATUS_OK)
        *p = why;
    return status;
}

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
        status = finish(a, out, shards, p);
    if (status == STATUS_OK || status == STATUS_FAILED) { /* a broken promise is a result */
        enum status finished = merge_finish(out, p);
        status = finished == STATUS_OK ? status : finished;
    }
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
        "`run EXPERIMENT --shard I/N` runs the I-th of N shares of a study's cases, on any "
        "machine and at any time: the N commands differ only in I, and each can be interrupted "
        "and run again. merge joins their directories; the rows are those of a single process, "
        "except for their order and times. study.json names the machine and the program of "
        "each shard; a line on standard error says where programs differ.\n"
        "\n"
        "A merge that was interrupted begins anew with the same command.\n"
        "\n"
        "merge runs no case. Every shard must be given once and be finished, and their inputs "
        "must be the same. Derived files, the table and the verdict cover all rows, so a "
        "promise that only two machines together break shows here. Exit status 1: a bound or a "
        "promise is broken; 2: the directories are not the shards of one study; 3: a shard is "
        "not finished or a file cannot be read.",
    .examples = "  ulpscope run accuracy --device cpu --n 1000 --shard 1/2\n"
                "  ulpscope run accuracy --device cpu --n 1000 --shard 2/2\n"
                "  ulpscope merge results-accuracy-1of2 results-accuracy-2of2",
    .run = run,
};
