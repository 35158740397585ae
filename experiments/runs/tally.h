/* The distinct results of a case, with how often each came, and the times of its runs. */
#pragma once

#include <mpfr.h>

#include "reports/results/results.h"
#include "reports/results/summary.h"

/* Results are the same when their digests are. */
struct distinct {
    struct hash128 digest; /* of a sum its canonical encoding, and 0; of a scan the outputs' hash */
    uint64_t count;
    struct figure value; /* of a scan the last output, not known where there is none */
    struct figure err_rel, err_ulp, err_backward, err_over_bound;
    struct scan_facts scan; /* not known of sums */
    enum outcome outcome;
    bool broken;
    size_t first_broken;                            /* of a scan: the first output that is */
    struct text value_text, errors_text, scan_text; /* its parts of a row, once it was measured */
};

struct tally {
    struct distinct *item;
    size_t count, capacity;
    uint32_t *slot; /* hash table over digests: 1 + index, 0 for none */
    size_t slots;
    double *time_ns; /* of the runs that were timed, in no order */
    size_t times;
    uint64_t runs;
};

/* Counts a run. Returns its result's entry, whose count is 1 if it is new: digest and count are set
 * then, the rest is the caller's. NULL when memory is short. The entry is valid until the next
 * call.
 */
struct distinct *tally_add(struct tally *t, struct hash128 digest);

/* false when memory is short. */
bool tally_time(struct tally *t, uint64_t time_ns);

void tally_clear(struct tally *t); /* empty, memory kept where it is cheap */
void tally_free(struct tally *t);

/* The summary of the runs so far, as the column dictionary defines it. `ulp` is that of the exact
 * sum in the format of the results, `fixed` s_fixed; what needs one that is not known, is not
 * known. Sums and squares are exact (4,480 bits), quotients and roots have 256 bits; each figure is
 * then rounded once. The order of times changes. */
void tally_summary(struct summary *s, struct tally *t, struct figure ulp, struct figure fixed);

/* The largest err_rel and err_backward of a run; NaN where any is, not known where none is known.
 */
struct figure tally_err_rel_max(const struct tally *t);
struct figure tally_err_backward_max(const struct tally *t);

/* ulp(exact) in a format; not known where the sum is not finite. */
struct figure tally_ulp(const mpfr_t exact, enum format f);
