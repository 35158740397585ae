/* How long something takes that can be run many times in a row. */
#ifndef ULPSCOPE_TIMING_H
#define ULPSCOPE_TIMING_H

#include <stddef.h>

#include "reference/problem.h"

/* Runs it `runs` times, one after the other, and sets *time_ns to the time of one. */
typedef enum status (*timed)(void *context, size_t runs, double *time_ns, struct problem *p);

struct timing {
    double median_ns, least_ns; /* of one run, over the repetitions */
    size_t repetitions;
    size_t runs; /* to a repetition: more than one where a run is short */
};

enum { TIMING_REPEATS = 15 }; /* the least that a figure stands on, unless it says so */

/* Warms up, then repeats: each repetition takes about a millisecond at least, if `most_runs` runs
 * do, and all together some seconds at most: there are fewer than `repeats` where a run takes long.
 */
enum status timing_measure(struct timing *t, timed batch, void *context, size_t most_runs,
                           size_t repeats, struct problem *p);

#endif
