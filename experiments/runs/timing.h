/* How long something takes that can be run many times in a row, beside others. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "reference/base/problem.h"

/* Runs it `runs` times, one after the other, and sets *time_ns to the time of one. */
typedef enum status (*timed)(void *context, size_t runs, double *time_ns, struct problem *p);

struct timing {
    double median_ns, least_ns; /* of one run, over the repetitions */
    size_t repetitions;
    size_t runs; /* to a repetition: more than one where a run is short */
    /* With 95% confidence the median of all repetitions lies between them, if repetitions are
     * i.i.d.; 0 where there are fewer than 6. */
    double low_ns, high_ns;
};

enum { TIMING_REPEATS = 15 }; /* the least that a figure stands on, unless it says so */

struct timing_subject {
    timed batch;
    void *context;
    size_t most_runs;       /* that a batch may have */
    struct timing time;     /* no repetitions: it failed */
    struct problem problem; /* why; its status is STATUS_OK where nothing failed */
};

/* Of `count` values in order, which bounds the median with 95% confidence: the i-th from either
 * end, 0 the outermost. false: even these do not. */
bool timing_bounds(size_t *i, size_t count);

/* Warms each up, then repeats all in turn, each repetition of all before the next of any: what
 * drifts meanwhile, a clock or the load of the host, falls on all alike. A repetition takes about a
 * millisecond at least, if `most_runs` runs do, and all of a subject some seconds at most: there
 * are fewer than `repeats`, spread over the whole time, where a run takes long. What fails leaves
 * the turn to the others; only want of memory for the times fails the call. */
enum status timing_measure(struct timing_subject *subject, size_t count, size_t repeats,
                           struct problem *p);
