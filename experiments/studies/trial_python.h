/* What users call of libraries of Python, as subjects of `run trial`. */
#pragma once

#include "experiments/cases/axes.h"

/* Appends the functions that trial.json lists (experiments/python/ulpscope/) of these libraries to
 * the methods asked for: LIBRARY in each mode, LIBRARY@MODE in one; `all`: of those that are
 * installed. A function that cannot be asked is left out, and `note` told why. STATUS_USAGE where a
 * library is not listed, STATUS_DATA where nothing is left. */
enum status trial_python(struct request *r, const struct list *libraries,
                         void (*note)(void *context, const char *line), void *context,
                         struct problem *p);
