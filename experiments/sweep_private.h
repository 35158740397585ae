/* What sweep.c and sweep_case.c share. */
#ifndef ULPSCOPE_SWEEP_PRIVATE_H
#define ULPSCOPE_SWEEP_PRIVATE_H

#include "experiments/sweep.h"
#include "experiments/tally.h"
#include "experiments/truth.h"
#include "kernels/gpu.h"
#include "reports/directory.h"
#include "reports/results.h"

struct sweep {
    struct plan *plan;
    const struct sweep_options *options;
    struct sweep_outcome *outcome;
    struct directory directory;
    json_t *study;
    bool study_changed;
    uint64_t study_written_ns;
    struct results results;
    struct csv_file summary;
    struct progress progress;
    uint64_t runs_done; /* of all cases */
    struct tally tally; /* of the case in progress */
    /* Of the source in progress. */
    struct truth *truth;    /* NULL: none was needed, or none could be had */
    struct gpu_input **gpu; /* by position among the axes' devices; NULL: not uploaded */
};

/* Runs what is left of a case and writes its rows. What it returns other than STATUS_OK ends the
 * study. */
enum status sweep_case(struct sweep *w, struct trial *t, struct problem *p);

/* Writes the row of a case that cannot be run, for the reason in `why`. */
enum status sweep_fail(struct sweep *w, struct trial *t, const struct problem *why,
                       struct problem *p);

#endif
