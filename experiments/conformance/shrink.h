/* The smallest input that shows the same: elements are left out, then values made simpler, as long
 * as the subject's result stays impossible for the same reason. Of two arrays, elements are left
 * out of both, values made simpler in either. */
#pragma once

#include "experiments/conformance/judge.h"

/* Whoever says whether an input still shows it. */
struct special_shows {
    /* STATUS_OK and *shows; what else ends the search, which leaves the smallest input so far. */
    enum status (*shows)(void *context, const struct special_input *in, bool *shows,
                         struct problem *p);
    void *context;
    size_t tries;      /* at most so many */
    uint64_t until_ns; /* none later than this, by clock_ns() */
};

/* Shrinks *in in place, which shows it; n becomes smaller, data stays. After Zeller and Hildebrandt
 * 2002 (ddmin): no single element can be left out then (if the tries suffice), nor any value be
 * replaced by something simpler: +0, -0, 1, -1, the power of two below it, its negative. Nothing is
 * drawn by chance. */
enum status conformance_shrink(struct special_input *in, struct special_shows *by,
                               struct problem *p);

/* Shrinks an input for which `first` was said. On return *first is what is said of what is left.
 * Subjects of no promise are run a few times each. */
enum status conformance_shrink_subject(struct special_input *in,
                                       const struct conformance_subject *subject,
                                       struct judgement *first, size_t tries, uint64_t until_ns,
                                       struct problem *p);
