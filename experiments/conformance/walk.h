/* A subject on the special inputs of one pair of formats. */
#pragma once

#include "experiments/conformance/run.h"

struct special_walk {
    struct special_report *report;
    struct special_subject subject;
    size_t pair, failed;
};

/* Runs all that there is time for, until then by clock_ns(). What a subject fails with is counted
 * in the report. */
enum status special_walk_pair(struct special_walk *w, uint64_t until, struct problem *p);

bool special_stopped(const struct special_request *q);

/* An equal share of what is left of the time until then. */
uint64_t special_share(const struct special_report *r, uint64_t until, size_t shares);
