/* The plan of a study: what its cases read, and the cases, input by input. */
#pragma once

#include "experiments/cases/axes.h"
#include "experiments/cases/source.h"
#include "experiments/operations/setting.h"
#include "reference/base/hash.h"
#include "reports/results/case_id.h"
#include "reports/results/summary.h"

struct tally;

/* A case, and what has become of it. (`case` is a word of C.) */
struct study_case {
    size_t source;
    const struct method *method;
    struct device device;
    enum format accumulator;
    struct shape shape;     /* resolved */
    enum load_kind load;    /* of the device, beside the sums */
    struct setting setting; /* its keys and layout are the axes' */
    bool supported;
    uint64_t id;
    uint64_t runs;         /* wanted */
    uint64_t done;         /* in results.csv */
    bool finished;         /* all its rows are in results.csv */
    bool summarised;       /* and its row in summary.csv */
    bool failed;           /* by an error, in this process */
    bool elsewhere;        /* not for this process: another rank may have it */
    struct tally *earlier; /* the runs that an earlier process made, while they are needed */
    /* Of a finished case. */
    bool has_result;
    struct hash128 result; /* what tells its first result from others */
    enum promise broken;   /* the rung of its promise that it breaks; PROMISE_NONE: none */
    /* The case that it breaks it beside; NULL: by its own results. */
    const struct study_case *beside;
    struct summary summary;
    struct figure err_rel_max, err_backward_max; /* for tables: over the runs, NaN where any is */
    struct figure cond_log2;                     /* measured */
};

enum { PLAN_FAMILIES_OUT = 8 };

struct plan {
    const struct axes *axes;
    struct data_set *data; /* sources point into it */
    size_t data_sets;
    struct source *source;
    size_t sources;
    size_t left_out; /* inputs that n or the format has no room for, which nobody asked for */
    const struct input_family *family_out[PLAN_FAMILIES_OUT]; /* of those, the first few */
    size_t families_out;
    struct study_case *cases;
    size_t case_count, case_capacity;
    uint32_t *slot; /* hash table over ids: 1 + index, 0 for none */
    size_t slots;   /* a power of two */
};

/* Reads all data, and lists every case once. STATUS_USAGE where there is nothing to run. axes is
 * kept. plan_free is due, also after failure. */
enum status plan_make(struct plan *plan, const struct axes *axes, struct problem *p);
void plan_free(struct plan *plan);

/* Forgets what became of the cases, for another sweep. */
void plan_again(struct plan *plan);

/* Is the source an input that nobody asked for and that cannot be made? Of the experiment's own
 * condition numbers: does its format have no room to hold it, or to add it up in any order without
 * overflow? Of its own inputs: is n too small for it? */
bool plan_leaves_out(const struct axes *axes, const struct input *in, const struct source *source);

/* The case with this id, or NULL. */
struct study_case *plan_find(const struct plan *plan, uint64_t id);

/* Frees the runs of an earlier process. */
void case_forget(struct study_case *t);

/* Of everything that makes the case: of `t` what is above `supported`, but for the source's number.
 */
uint64_t case_id(const struct study_case *t, const struct source *s);
