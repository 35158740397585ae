/* What `run atomics` makes of the rows of its study: the distribution of each case's results, and
 * how the largest spread grows with n. */
#pragma once

#include "experiments/studies/distribution.h"
#include "experiments/studies/growth.h"
#include "experiments/cases/plan.h"

/* What grows. */
enum grown { GROWN_SPREAD, GROWN_VS_MAX, GROWNS };
extern const char *const grown_name[GROWNS];

/* A method on an input, whatever n, the launch shape and the seed: that of its first case. */
struct atomics_group {
    const struct study_case *first;
    size_t points; /* different n, ascending, and the largest figures there; NaN where unknown */
    double *n, *largest[GROWNS];
    struct growth growth[GROWNS];
};

struct atomics {
    const struct plan *plan;
    struct distribution *of_case; /* of each case of the plan */
    struct text *text;            /* its columns of the case, empty where it has no distribution */
    struct atomics_group *group;
    size_t groups;
};

/* Is it a finished case with results? */
bool atomics_has(const struct atomics *a, const struct study_case *t);

/* Reads results.csv in the directory `out`. atomics_free is due, also after failure. STATUS_DATA
 * where it cannot be read, STATUS_MEMORY when memory is short. */
enum status atomics_read(struct atomics *a, const struct plan *plan, const char *out,
                         struct problem *p);
void atomics_free(struct atomics *a);

/* Writes atomics.csv and growth.csv there. */
enum status atomics_write(const struct atomics *a, const char *out, struct problem *p);
