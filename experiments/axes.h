/* From options to axes: what a study sweeps over. */
#ifndef ULPSCOPE_AXES_H
#define ULPSCOPE_AXES_H

#include <jansson.h>

#include "experiments/device.h"
#include "experiments/input.h"
#include "experiments/pairs.h"
#include "reference/reference.h"

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
    AXIS_RUNS,
    AXIS_REFERENCE,
    AXIS_CONVERT, /* "yes" */
    AXES_ASKED,
    AXIS_FORMATS = AXES_ASKED, /* from here on: in a study.json only */
    AXIS_DATA_STORAGE,
    AXIS_DATA_N,
    AXIS_RUNS_CUDA,
    AXIS_METHOD_NAMED, /* "yes": methods were asked for by name */
    AXES
};
extern const char *const axis_name[AXES]; /* the options' names, and those in study.json */

struct request {
    struct list axis[AXES];
};

enum status request_arguments(struct request *r, const struct arguments *a, struct problem *p);
/* Completes a request by the axes of a study.json: what is asked for already stays. */
enum status request_repeat(struct request *r, const json_t *axes, const char *path,
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
    struct list data;
    struct formats data_storage; /* none: as the files have it */
    bool convert;
    struct numbers n;      /* of generated inputs */
    struct numbers data_n; /* the first so many elements of data; none: all of them */
    double *cond;          /* targets for inputs that take one; none: as the inputs have it */
    size_t conds;
    struct numbers seed, threads, blocks; /* threads, blocks: 0 leaves it to the method */
    uint64_t runs[DEVICE_KINDS];
    enum reference_kind reference;
};

/* axes_free is due, also after failure. */
enum status axes_resolve(struct axes *axes, const struct experiment *e, const struct request *r,
                         struct problem *p);
void axes_free(struct axes *axes);

/* As study.json has them: equal for equal studies. NULL when memory is short. */
json_t *axes_json(const struct axes *axes);

#endif
