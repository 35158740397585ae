/* `ulpscope run`: its command line, resolved, and what it prints. */
#pragma once

#include "experiments/cases/experiment.h"
#include "experiments/cases/shard.h"
#include "experiments/options/options.h"
#include "experiments/sweep/sweep.h"

struct run_command {
    const struct arguments *arguments;
    const struct experiment *experiment;
    const char *from_path;
    json_t *from; /* the study repeated, or NULL */
    struct request request;
    struct axes axes;
    struct plan plan;
    struct rank rank;   /* of the processes that share it */
    struct shard shard; /* `plan` is that of `whole` cases */
    size_t whole;
    uint32_t merged; /* the number of shards `out` was merged from, or 0 */
    char *out;
};

/* Of all cases. */
uint64_t run_command_runs(const struct run_command *c);
/* To standard output, with a new line behind it; takes the object. */
void run_print_json(json_t *object);

/* --dry-run: the cases, the axes that they come of, and how they are dealt to ranks. */
enum status run_dry_json(const struct run_command *c, struct problem *p);
enum status run_dry_text(const struct run_command *c, struct problem *p);

/* What was run and found, read from the results directory: summary.csv and the like, or tables. */
enum status run_report_json(const struct run_command *c, const struct sweep_outcome *outcome,
                            struct problem *p);
enum status run_report_text(const struct run_command *c, const struct sweep_outcome *outcome,
                            struct problem *p);
