/* An experiment: a sweep over cases that answers one question. */
#pragma once

#include <signal.h>

#include "experiments/cases/plan.h"
#include "experiments/cases/shard.h"
#include "experiments/system/ranks.h"
#include "kernels/method/method.h"
#include "reports/text/text.h"

/* What an axis is where no option says so, written as options are. */
struct experiment_axes {
    const char *formats; /* pairs: "fp16/fp32,fp32/fp32", or "all" */
    const char *input, *n;
    /* Of inputs that take one; what is beyond the reach of a storage format, or makes sum|x| leave
     * its range, is left out there. NULL: those of the inputs. */
    const char *cond;
    const char *threads; /* NULL: those of the methods */
    const char *load;    /* NULL: there is none beside the sums */
    const char *timed;   /* elements of the inputs that methods are timed on; NULL: they are not */
    uint64_t runs;
};

/* Storage formats of 16 bits and more, each added in itself and, below fp64, in a wider format. */
#define FORMATS_USUAL "fp16/fp16,fp16/fp32,bf16/bf16,bf16/fp32,fp32/fp32,fp32/fp64,fp64/fp64"

/* A file that an experiment derives from its rows when a study is complete: NAME.csv. */
struct derived_file {
    const char *name, *says; /* "a row per case: ..." */
    const struct column *(*column)(size_t);
    size_t columns;
    bool (*is_name)(size_t column); /* else it is a number */
    /* Has the plan one? NULL: every plan has. */
    bool (*due)(const struct plan *plan);
};

/* What an experiment is given that is no sweep. */
struct experiment_run {
    const struct request *request; /* completed by the study repeated */
    const char *out;
    struct shard shard; /* the share to run, where several processes share a study */
    struct rank rank;   /* of the processes that share it now */
    uint32_t merged;    /* the number of shards `out` was merged from, and nothing is run; or 0 */
    bool part;          /* `out` is a rank's: subjects are taken from a meeting */
    bool joins;         /* what ranks left in `out` is of ranks that have ended */
    bool force, dry_run, quiet, progress;
    int argc;
    char **argv;
    const volatile sig_atomic_t *stop;
    void (*note)(void *context, const char *line); /* told of each failure; may be NULL */
    void *context;
};

enum { EXPERIMENT_OPERATIONS = 8 };

struct experiment {
    const char *name;
    const char *summary; /* one line */
    /* Those that its methods may be of, the rest NULL; none: any that are told of nothing but their
     * arrays. Either one of
     * scans or of two arrays alone, or some with one result each. */
    const struct operation *operation[EXPERIMENT_OPERATIONS];
    const char *method; /* those where none is asked for; NULL: all of the operations */
    bool every;        /* where there are no operations: those told of more than their arrays too */
    const char *keys;  /* of scatter-adds, where --keys does not say */
    const char *rows;  /* of matrices, where --rows does not say; NULL: 0 */
    const char *shape; /* of matrix products, where --shape does not say */
    const char *promote;  /* of models that promote sums, where --promote does not say; NULL: 128 */
    const char *ranks;    /* of sums over ranks, where --ranks does not say; NULL: 4 */
    const char *output;   /* of scans and matrix products, where --output does not say; NULL:
                             accumulator */
    bool rounds_matrices; /* A and B of matrix products may be of two formats, scaled, or of tf32 */
    bool takes_scales;    /* they may be scaled by numbers from files alone */
    bool fits;   /* lengths that nobody asked for become ones that its operation can have */
    bool orders; /* data is run in other orders of its elements too */
    struct experiment_axes axes[DEVICE_KINDS]; /* the CPU's where a CPU is among the devices */
    /* Appends the table that a person wants to see of a finished plan, whose results directory is
     * `out`. STATUS_DATA where what it reads there cannot be read, STATUS_MEMORY when memory is
     * short. */
    enum status (*table)(struct text *to, const struct plan *plan, const char *out,
                         struct problem *p);
    /* Writes the derived files of a finished plan, each whole or not at all, from its results.csv
     * and inputs. The same rows give the same files. NULL, and no files, where nothing is derived.
     */
    enum status (*derive)(const struct plan *plan, const char *out, struct problem *p);
    const struct derived_file *derived; /* ends with a NULL name */
    /* NULL: it is a sweep over cases. Else nothing of the above holds but its name and summary, and
     * what it resolves itself: it reads the words of the request, and leaves a study.json. */
    enum status (*run)(const struct experiment_run *run, struct problem *p);
};
static inline bool derived_due(const struct derived_file *f, const struct plan *plan)
{
    return !f->due || f->due(plan);
}

/* The table of `run accuracy`, which others show too. */
enum status accuracy_table(struct text *to, const struct plan *plan, const char *out,
                           struct problem *p);

extern const struct experiment experiment_extrema;
extern const struct experiment experiment_accuracy, experiment_dot, experiment_norm,
    experiment_variance, experiment_cond, experiment_ladder, experiment_trial, experiment_atomics,
    experiment_drift, experiment_scan_variance, experiment_scatter, experiment_rows,
    experiment_rowstats, experiment_gemm, experiment_allreduce, experiment_reduce_scatter,
    experiment_steps;
extern const struct experiment *const experiments[]; /* ends with NULL */

/* May its methods be of this operation? */
bool experiment_takes(const struct experiment *e, const struct operation *o);

/* Its only operation; NULL where it takes several. */
const struct operation *experiment_only(const struct experiment *e);
/* The same of the experiment of a name; NULL also where there is none. */
const struct operation *experiment_operation(const char *name);

/* Has it condition numbers of its own? */
bool experiment_conds(const struct experiment *e);

/* Are methods timed, beside the cases that are run? */
bool experiment_times(const struct experiment *e);

/* Are sums run while the device has other work too? */
bool experiment_loads(const struct experiment *e);

/* May its methods read this option? */
bool experiment_reads(const struct experiment *e, enum setting_option option);

/* Which columns do its files have? */
enum columns_of experiment_columns(const struct experiment *e);

/* The names of the experiments that run this operation, without those that run any operation:
 * "accuracy, variance"; as many as fit. */
void experiments_of(char *text, size_t size, const struct operation *o);

/* The names of the experiments for which `are` holds. */
void experiments_that(char *text, size_t size, bool (*are)(const struct experiment *e));

/* STATUS_USAGE lists what there is. */
enum status experiment_named(const struct experiment **e, const char *name, struct problem *p);
