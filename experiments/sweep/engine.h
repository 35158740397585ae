/* What the files of the sweep engine share. */
#pragma once

#include "experiments/runs/runner.h"
#include "experiments/sweep/shared.h"
#include "experiments/sweep/sweep.h"
#include "experiments/runs/tally.h"
#include "experiments/runs/truth.h"
#include "reports/results/directory.h"
#include "reports/results/profile.h"
#include "reports/results/results.h"

struct sweep {
    struct plan *plan;
    const struct sweep_options *options;
    struct sweep_outcome *outcome;
    struct directory directory;
    json_t *study;
    bool study_changed;
    uint64_t study_written_ns;
    struct results results;
    struct csv_file summary, profile; /* profile: of scans alone */
    struct progress progress;
    uint64_t runs_done;                 /* of all cases */
    uint64_t runs_before, cases_before; /* done by earlier processes */
    struct hand *hand;                  /* of a share, all that are dealt; */
    size_t hands, at;                   /* the one to run next: `hands` where all are taken */
    struct tally tally;                 /* of the case in progress */
    /* Of the source in progress. */
    struct truth truths[EXACT_VALUES]; /* those that its cases are held against, */
    bool known[EXACT_VALUES];          /* as far as they could be had */
    struct truth *truth;    /* of the case in progress; NULL: none was needed, or could be had */
    struct gpu_input **gpu; /* by position among the axes' devices; NULL: not uploaded */
    struct shared shared;   /* by the cases in progress that are alike */
};

/* The results of a case as they come. */
struct live {
    struct sweep *w;
    struct study_case *t;
    const char *const *text; /* the case's columns */
    struct tally *tally;
    struct theorem theorem;
    enum status status; /* of the files and the tally: what ends the study */
    /* Outputs of a scan: of run 1 and of the run at hand; data NULL where they are not. */
    struct array first, other;
};

/* Runs what is left of a case and writes its rows. What it returns other than STATUS_OK ends the
 * study. */
enum status sweep_case(struct sweep *w, struct study_case *t, struct problem *p);

/* Writes the row of a case that cannot be run, for the reason in `why`. */
enum status sweep_fail(struct sweep *w, struct study_case *t, const struct problem *why,
                       struct problem *p);

/* Draws what is done, of all ranks where there are several, and tells them. */
void sweep_progress(struct sweep *w);

/* A runner_digest whose context is a struct live: tallies the results, measures those that were not
 * seen before and writes their rows. */
enum status sweep_digest(void *context, const struct runner_results *results, struct problem *p);

/* Fetches and measures result i, a scan's, whose entry is d, and formats its parts of a row. Run
 * 1's points go to profile.csv. */
enum status sweep_meet_scan(struct live *l, struct distinct *d,
                            const struct runner_results *results, size_t i, struct problem *p);

/* Sets the entry of a result of such a case, and formats its parts of a row; of a scan of no
 * elements nothing is known. */
void sweep_entry(struct distinct *d, const struct shared *s, const struct study_case *t,
                 const struct scan_measure *m, const struct array *out);

/* Times the study's methods on each of its inputs, as far as times.csv has no times of them. */
enum status sweep_times(struct sweep *w, struct problem *p);

/* The columns exact and exact_hex of a case's rows; NULL where they stay empty. */
const struct text *sweep_exact(const struct sweep *w, const struct study_case *t);
