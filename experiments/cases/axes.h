/* From options to axes: what a study sweeps over. */
#pragma once

#include <jansson.h>

#include "experiments/system/device.h"
#include "experiments/inputs/input.h"
#include "experiments/data/data.h"
#include "experiments/system/memory.h"
#include "experiments/operations/operation.h"
#include "experiments/options/pairs.h"
#include "kernels/gpu/load.h"
#include "reference/exact/reference.h"

struct experiment;

/* The axes as they are asked for: words, as options have them. An empty list leaves the axis to
 * the study repeated, or else to the experiment. */
enum axis {
    AXIS_METHOD,
    AXIS_DEVICE,
    AXIS_STORAGE,
    AXIS_ACCUMULATOR,
    AXIS_INPUT,
    AXIS_DATA,
    AXIS_N,
    AXIS_COND,
    AXIS_SEED,
    AXIS_THREADS,
    AXIS_BLOCKS,
    AXIS_SCAN, /* from here: of scans alone */
    AXIS_OUTPUT,
    AXIS_SEGMENT, /* to here */
    AXIS_PRODUCT, /* from here: of dot products alone */
    AXIS_SHIFT,   /* to here */
    AXIS_KEYS,    /* from here: of scatter-adds alone */
    AXIS_BINS,    /* to here */
    AXIS_ROWS,    /* from here: of matrices, and of masks, alone */
    AXIS_LAYOUT,
    AXIS_KEEP,      /* to here */
    AXIS_SHAPE,     /* of matrix products alone */
    AXIS_RANKS,     /* of all-reduces alone */
    AXIS_CHIP,      /* from here: of models of matrix instructions alone */
    AXIS_PROMOTE,   /* to here */
    AXIS_WORKSPACE, /* from here: of a library's matrix products alone */
    AXIS_ALGORITHM, /* to here */
    AXIS_SCALES,    /* of matrix products alone */
    AXIS_TIMED,     /* of experiments that time methods */
    AXIS_LOAD,      /* of experiments that load the device */
    AXIS_SECONDS,   /* of experiments that check promises */
    AXIS_BATCH,     /* of `check` alone */
    AXIS_WEIGHT,    /* of `run steps` */
    AXIS_RUNS,
    AXIS_REFERENCE,
    AXIS_CONVERT,  /* "yes" */
    AXIS_SATURATE, /* likewise, and the next; in a study.json where it was asked for */
    AXIS_RAW,
    AXES_ASKED,
    AXIS_FORMATS = AXES_ASKED, /* from here on: in a study.json only */
    AXIS_DATA_STORAGE,
    AXIS_DATA_N,
    AXIS_RUNS_CUDA,
    AXIS_METHOD_NAMED, /* "yes": methods were asked for by name */
    AXIS_COND_NAMED,   /* "yes": condition numbers were */
    AXES
};
extern const char *const axis_name[AXES]; /* the options' names, and those in study.json */
/* Does a study.json of this experiment have it? Formats stand there as pairs; what is of scans
 * or of times stands only with those; and of condition numbers, whether they were asked for, only
 * where the experiment has its own. */
bool axis_recorded(const struct experiment *e, enum axis axis);
/* Does a study.json have it only where it was asked for? */
static inline bool axis_where_asked(enum axis axis)
{
    return axis == AXIS_WORKSPACE || axis == AXIS_ALGORITHM || axis == AXIS_SCALES ||
           axis == AXIS_SATURATE || axis == AXIS_RAW;
}

struct request {
    struct list axis[AXES];
};

enum status request_arguments(struct request *r, const struct arguments *a, struct problem *p);
/* Completes a request by the axes of a study.json, of this experiment: what is asked for already
 * stays. */
enum status request_repeat(struct request *r, const struct experiment *e, const json_t *axes,
                           const char *path, struct problem *p);
/* STATUS_USAGE where --operation is given and no method is a function of Python, which reads it. */
enum status request_operation(const struct request *r, const struct arguments *a,
                              struct problem *p);
void request_free(struct request *r);

/* The axes as they are run. */
struct axes {
    const struct experiment *experiment;
    const struct method **method;
    size_t methods;
    bool method_named; /* what they do not support is then a row */
    struct device *device;
    size_t devices;
    struct pairs pairs;
    struct input *input;
    size_t inputs;
    bool promote_named; /* intervals of promotion were */
    bool inputs_own;    /* the experiment's: those that cannot be made are left out */
    struct list data;
    struct data_set joined; /* by axes_join: in each storage one array of them all; else none */
    struct formats data_storage; /* none: as the files have it */
    bool convert, saturate, raw;
    struct numbers n;      /* of generated inputs; of matrix products as their shapes take */
    struct numbers data_n; /* the first so many elements of data; none: all of them */
    double *cond;          /* targets for inputs that take one; none: as the inputs have it */
    size_t conds;
    bool cond_named;                      /* what no input can be made for is then a row */
    struct numbers seed, threads, blocks; /* threads, blocks: 0 leaves it to the method */
    struct setting_axes setting;          /* what no operation of the experiment reads has none */
    enum load_kind load[LOAD_KINDS];      /* of experiments that load the device; of others idle */
    size_t loads;
    uint64_t timed; /* elements of the inputs that methods are timed on; 0: they are not */
    uint64_t runs[DEVICE_KINDS];
    enum reference_kind reference;
};

/* axes_free is due, also after failure. */
enum status axes_resolve(struct axes *axes, const struct experiment *e, const struct request *r,
                         struct problem *p);
void axes_free(struct axes *axes);

/* Where the experiment's operation reads several files as one array (setting_join), and two or more
 * were asked for, or one with scales: reads them and joins them, so that they are one source in
 * each storage format. */
enum status axes_join(struct axes *axes, struct problem *p);

/* Where options name one file twice, as of A A, it stays two. */
enum status request_keep_both(struct request *r, const struct arguments *a,
                              const struct experiment *e, struct problem *p);
/* Is that so of an experiment and so many files? */
bool axes_joins(const struct experiment *e, size_t files);

/* Are data quantised by scales of their own? Then what they are converted from is kept. */
bool axes_quantise(const struct axes *axes);

/* Those that some operations read, which are refused where the experiment runs none of them.
 * Private to axes*.c, as what follows. */
enum status axes_resolve_setting(struct axes *axes, const struct request *r, struct problem *p);
/* STATUS_USAGE where a method, a device or an interval of promotion takes none of their shapes. */
enum status axes_hold_shapes(const struct axes *axes, struct problem *p);
/* Which of two names the words of an axis are, each once, in the order asked for. */
enum status axes_names(size_t which[2], size_t *count, const char *const name[2],
                       const struct request *r, enum axis axis, const char *otherwise,
                       struct problem *p);
/* What else the device does. */
enum status axes_resolve_load(struct axes *axes, const struct request *r, const char *otherwise,
                              struct problem *p);
/* The words of an axis that were asked for or, where there are none, `otherwise`, which may be
 * NULL. list_free is due, also after failure. */
enum status axes_words(struct list *list, const struct list *asked, const char *otherwise,
                       struct problem *p);
/* Numbers of an axis, in the same way. */
enum status axes_numbers(struct numbers *numbers, const struct request *r, enum axis axis,
                         const char *otherwise, enum range range, uint64_t least, uint64_t most,
                         struct problem *p);

/* As study.json has them: equal for equal studies. NULL when memory is short. */
json_t *axes_json(const struct axes *axes);
