/* The sweep engine: runs what is left of a plan into a results directory. */
#pragma once

#include <signal.h>

#include "experiments/cases/plan.h"
#include "experiments/cases/shard.h"
#include "experiments/system/progress.h"
#include "experiments/system/ranks.h"

/* What a rank's share of a study is dealt from. */
struct sweep_share {
    struct meeting *meeting;
    uint32_t ranks;
    const char *taken;          /* a byte for each case of the plan: not 0, it is not dealt */
    struct meeting_done before; /* of the whole, when the ranks began; for progress */
};

struct sweep_options {
    const char *out;
    bool force;
    struct shard shard; /* the plan is its share of the study's; or of the whole */
    uint32_t merged;    /* `out` was merged of so many shards: nothing is run, and a case that is
                           not there is STATUS_DATA, with the shard that lacks it */
    const struct sweep_share
        *share; /* hands are taken from there as long as there are any, and
                   their rows alone written: no times, nothing derived; or NULL */
    bool joins; /* what ranks left in `out` is of ranks that have ended */
    int argc;
    char **argv;                       /* for the record */
    const volatile sig_atomic_t *stop; /* not 0: stop behind the run or batch in progress */
    bool progress;                     /* drawn on standard error */
    /* Told of each failure that becomes a row; may be NULL. */
    void (*note)(void *context, const char *line);
    void *context;
};

struct sweep_outcome {
    size_t finished;            /* cases, those of earlier processes included */
    uint64_t runs;              /* made by this process */
    size_t failed;              /* cases, by an error */
    enum status failed_status;  /* of the first of them */
    size_t untimed;             /* methods, by an error */
    enum status untimed_status; /* of the first of them */
    size_t broken; /* rows that broke their bound, those of earlier processes included */
    char first_broken[128];
};

/* Finished cases of the directory are kept; what is left is run, input by input. Afterwards each
 * case of the plan says what became of it. A case that fails becomes a row with the status `error`
 * and the study goes on: that is STATUS_OK here, and so are a broken bound and a method that cannot
 * be timed. Everything else ends the
 * study, resumable: STATUS_INTERRUPTED; STATUS_DATA or STATUS_USAGE for the directory;
 * STATUS_FAILED where the reference is wrong. */
enum status sweep_run(struct sweep_outcome *outcome, struct plan *plan,
                      const struct sweep_options *options, struct problem *p);

/* What a study that came to its end says as a whole: STATUS_FAILED where a row broke its bound or a
 * method its promise, else the status of the first case that failed, else STATUS_OK. */
enum status sweep_verdict(const struct sweep_outcome *outcome, const struct plan *plan,
                          const char *out, struct problem *p);
