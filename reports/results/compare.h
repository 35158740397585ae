/* Two results directories, case by case: of two devices, drivers, versions or days.
 *
 * Cases are joined by case_id; what is left by all columns of the case but device and condition
 * number, one to one in their order; and what is left of that without the launch shape too: then a
 * case may stand against several. Not so where run_to_run is promised, for those bits hang on the
 * shape. */
#pragma once

#include "reports/results/gathered.h"

enum verdict {
    VERDICT_SAME,         /* the same set of results */
    VERDICT_WITHIN_BOUND, /* other results, none beyond its bound */
    VERDICT_NO_BOUND,     /* other results, for which no theorem has a bound */
    VERDICT_BROKEN_BOUND, /* on either side */
    VERDICT_OTHER_INPUT,  /* the studies' hashes of the input differ */
    VERDICT_MISSING_A,    /* no result there, but in the other */
    VERDICT_MISSING_B,
    VERDICT_NEITHER, /* no result in either: unsupported, say */
    VERDICTS
};
extern const char *const verdict_name[VERDICTS]; /* "same", "within_bound", ... */

struct compare_pair {
    const struct gathered_case *of[2]; /* NULL: there is none */
    enum verdict verdict;
    enum promise promise; /* the lesser of both sides */
    bool broken;          /* what they promise does not let them differ so */
    size_t shared;        /* results that both have */
};

struct compare {
    struct gathered side[2];
    struct compare_pair *pair; /* in the order of A's cases, then those of B alone */
    size_t pairs;
    size_t count[VERDICTS];
    size_t broken;
};

/* Reads both directories, joins and judges. STATUS_DATA where one is not a whole results directory,
 * STATUS_MEMORY when memory is short. compare_free is due either way. */
enum status compare_read(struct compare *c, const char *const path[2], struct problem *p);
void compare_free(struct compare *c);

/* STATUS_FAILED where a promise or a bound is broken, else STATUS_DATA where inputs differ or there
 * is not one case to compare. */
enum status compare_status(const struct compare *c, struct problem *p);

/* For people: a row for each method, and the first cases that break something. */
void compare_text(struct text *to, const struct compare *c);
/* As `--out` writes it: a row for each pair of cases, without the header. */
void compare_rows(struct text *to, const struct compare *c);
/* NULL when memory is short. */
json_t *compare_json(const struct compare *c);
