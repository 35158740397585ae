/* What users call of libraries of Python, as subjects of `run trial`. */
#pragma once

#include "experiments/cases/axes.h"

/* Appends the functions that trial.json lists (experiments/python/ulpscope/) of these libraries to
 * the methods asked for: LIBRARY in each mode, LIBRARY@MODE in one; `all`: of those that are
 * installed. STATUS_USAGE where a library is not listed, STATUS_DATA where no function of them can
 * be asked what it is. */
enum status trial_python(struct request *r, const struct list *libraries, struct problem *p);
