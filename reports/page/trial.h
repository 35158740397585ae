/* What the files on `run trial` share: its subjects, and how many keep what. */
#pragma once

#include "reports/page/report.h"

enum { RUNGS = PROMISES - 1, ROWS = PROMISES_ALL - 1 };

/* A subject: its rows stand together, a rung each. */
struct trial_subject {
    const char *method, *device, *promise, *kept;
    size_t rung;          /* that it promises: 0 none */
    size_t row[ROWS + 1]; /* of each rung, and beside the ladder, one behind its place; 0: none */
};

/* Has the row this verdict? */
bool trial_verdict_is(const struct page *r, size_t row, const char *verdict);
/* The subject whose first row is at *row, which becomes that of the next. */
struct trial_subject trial_next(const struct page *r, size_t *row);
/* Does it promise this? A column that older files do not have says so beside the ladder. */
bool trial_promises(const struct page *r, const struct trial_subject *s, size_t rung);

struct trial_tally {
    size_t subjects, broken, failed, above;
    size_t promises, failed_promises; /* that promise anything; of these, that failed */
    size_t nothing, in_part; /* that promise nothing; of whose promise a part is not tried */
    size_t loose, steady;    /* of these: whose bits differed run after run, or were the same */
    size_t untried;          /* that promise nothing, and of which no rung was tried */
    const char *first_untried, *untried_for;
    const char *first_in_part, *part, *first_failed, *note;
    double attempts, part_attempts; /* of promised rungs that are kept; of `part` */
    const char *promise_above;      /* of the first subject that keeps more */
    /* Rows that are kept: of promised rungs the least tried, what the first keeps above its
     * promise, and of such and of steady ones the least tried; 0: none, else one behind its place.
     */
    size_t least, first_above, least_above, least_steady;
};

void trial_count(struct trial_tally *t, const struct page *r, const struct trial_subject *s);
/* Promises that were kept, all of their rungs, of how many. */
size_t trial_promises_of(const struct trial_tally *t);
size_t trial_kept_of(const struct trial_tally *t);

/* The module of functions that are calls of a library's methods. */
extern const char trial_calls[];
/* What study.json says of a function of Python's; NULL: nothing, or it is not one that a library of
 * arrays has. */
const json_t *trial_library_of(const struct page *r, const char *method);
/* A word of it; "": none. */
const char *trial_fact(const json_t *facts, const char *name);
