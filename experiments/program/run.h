/* What the files of `run` share. */
#pragma once

#include "experiments/cases/experiment.h"
#include "experiments/options/options.h"
#include "experiments/sweep/sweep.h"

/* The command line, resolved. */
struct run_command {
    const struct arguments *arguments;
    const struct experiment *experiment;
    json_t *from; /* the study repeated, or NULL */
    struct request request;
    struct axes axes;
    struct plan plan;
    char *out;
};

/* Of all cases. */
uint64_t run_command_runs(const struct run_command *c);

/* To standard output, with a new line behind it; takes the object. */
void run_print_json(json_t *object);

/* --dry-run: what would be run, to standard output. */
void run_dry_json(const struct run_command *c);
void run_dry_text(const struct run_command *c);

/* What was run and found, to standard output, read from the results directory. */
enum status run_report_json(const struct run_command *c, const struct sweep_outcome *outcome,
                            struct problem *p);
enum status run_report_text(const struct run_command *c, const struct sweep_outcome *outcome,
                            struct problem *p);
