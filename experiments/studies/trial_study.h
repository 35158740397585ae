/* A results directory of `run trial`: study.json and trial.csv, the rows of `check` for each
 * subject on each device. */
#pragma once

#include "experiments/check/check.h"
#include "experiments/cases/experiment.h"
#include "reports/csv/file.h"
#include "reports/results/directory.h"

/* A subject on a device, and what has become of it. */
struct trial_subject {
    const struct method *method;
    struct device device;
    size_t line;   /* where its rows began in trial.csv, when it was opened; 0: it had none */
    bool begun;    /* it is, or was, being tried */
    bool finished; /* its rows are in trial.csv */
    bool absent;   /* the device does not run it */
    enum promise kept;
    bool disagreed;      /* failed, as its ranks had other bits than each other */
    bool broken, failed; /* broken: a promise that it makes, or its error bound */
    bool exceeds;        /* its error bound */
    enum promise
        broken_rung;   /* the first that it promises and breaks, where one is; else PROMISE_NONE */
    uint64_t attempts; /* at the rungs that it promises and keeps */
    bool tried;        /* there was an attempt at some rung */
    bool untried;      /* a promise beside the ladder that it makes is */
    char cell[PROMISES_ALL][32]; /* for the table: what came of each rung */
};

struct trial_study {
    struct check_request request; /* but for the method, its promise, and the device */
    struct trial_subject *subject;
    size_t subjects;
    struct directory directory;
    struct csv_file csv;
};

/* What is asked for: subjects, and how. trial_study_free is due, also after failure. */
enum status trial_study_make(struct trial_study *s, const struct request *asked,
                             const volatile sig_atomic_t *stop, struct problem *p);

/* Takes the directory, and what it holds of this study: subjects whose rows are there are finished,
 * but for those that failed, whose rows are dropped. */
enum status trial_study_open(struct trial_study *s, const struct experiment_run *run,
                             struct problem *p);
/* Writes the rows of a subject. */
enum status trial_study_add(struct trial_study *s, struct trial_subject *t,
                            const struct check_report *r, const char *program, struct problem *p);
/* Sees to it that all is on the disk. */
enum status trial_study_close(struct trial_study *s, struct problem *p);
void trial_study_free(struct trial_study *s);

/* What a person is told of it: whether promises are kept, a table, what to type next. */
void trial_says(struct text *to, const struct trial_study *s, const struct experiment_run *run);

/* Leaves the subjects of one shard. Dealt one after the other: each takes the same time. */
void trial_keep_shard(struct trial_study *s, struct shard shard);

/* Bits that a GPU is known to give, where there are some; check_recorded_free is due. */
enum status trial_recorded(struct check_recorded **recorded, struct trial_study *s,
                           struct problem *p);

/* Checks a subject and writes its rows. */
struct progress_line;
enum status trial_try(struct trial_study *s, struct trial_subject *t,
                      const struct experiment_run *run, struct progress_line *line,
                      struct problem *p);

/* --- ranks --- */

/* Moves the rows of the ranks to trial.csv, as fold_ranks does. */
enum status trial_fold(const struct directory *d, json_t *study, struct problem *p);

/* The part of one rank, as ranks_sweep: what is missing then rank 0 tries. */
enum status trial_share(struct meeting **meeting, const struct experiment_run *run,
                        struct problem *p);
