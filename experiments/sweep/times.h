/* What a study times: its methods, on each of its inputs as they are generated, beside the raw read
 * of that input. Behind it stands times.csv. */
#pragma once

#include "experiments/bench/plan.h"
#include "experiments/cases/plan.h"
#include "reports/csv/file.h"

/* What is timed together: methods on one input on one device. */
struct times_group {
    struct device device;
    struct source source;
    struct bench_plan plan;
    uint64_t *id; /* the case of each of its rows */
    bool *there;  /* times.csv has its time, or says why there is none */
};

struct times {
    struct times_group *group;
    size_t groups;
};

/* Lists the groups of a plan whose axes say of how many elements generated inputs are to be; data
 * are timed as they are. Of seeds the first is taken, of launch shapes the first asked for.
 * times_free is due, also after failure. */
enum status times_make(struct times *t, const struct plan *plan, struct problem *p);
void times_free(struct times *t);

/* The case of a row of the group. */
uint64_t times_id(const struct times_group *g, const struct bench_row *row);

bool times_complete(const struct times_group *g);

/* Reads a times.csv, marks what is there, and drops the rows of groups that are not complete, for
 * ratios hold within what was timed in turn. *whole: bytes of what remains, 0 where there is no
 * file. STATUS_DATA where it holds what is none of these. */
enum status times_resume(struct times *t, const char *path, uint64_t *whole, struct problem *p);
