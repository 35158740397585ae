/* A subject on the special inputs of one pair of formats. */
#pragma once

#include "experiments/conformance/run.h"

struct conformance_walk {
    struct conformance_report *report;
    struct conformance_subject subject;
    size_t pair, failed;
    bool answered, refused; /* of the length at hand: an input; all */
    bool some;              /* of the pair: an input that has elements */
    struct problem first;   /* what was said of the first length that was refused */
};

/* Runs all that there is time for, until then by clock_ns(). What a subject fails with is counted
 * in the report. */
enum status conformance_walk_pair(struct conformance_walk *w, uint64_t until, struct problem *p);

bool conformance_stopped(const struct conformance_request *q);

/* An equal share of what is left of the time until then. */
uint64_t special_share(const struct conformance_report *r, uint64_t until, size_t shares);
