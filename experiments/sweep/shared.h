/* What cases of one source share that scan it alike, or add it up into the same bins or rows, or
 * move it alike, or multiply the same matrices: input, keys, heads, exact values, the twin. */
#pragma once

#include "experiments/cases/plan.h"
#include "experiments/runs/truth.h"
#include "reference/measure/scan.h"

struct shared {
    const struct study_case *like; /* one of them; NULL: nothing is here */
    struct setting_operands made;  /* what the runs read */
    bool outputs;                  /* there are any: the input has elements, or there are bins */
    struct truth last; /* of the elements that output `shown` covers; where there are outputs */
    size_t shown;    /* the output whose value rows have: the last; of bins the fullest; of a matrix
                        product the first */
    uint32_t *place; /* see setting_places; NULL: outputs cover prefixes, and by_bin is nothing */
    struct by_bin by_bin;
    struct row_values values; /* of rows, where they are no sums; value NULL: they are, or none */
    struct matrices_packed packed; /* of a matrix product; a NULL: it is none */
    struct array twin;             /* the fixed-order twin's output; data NULL until shared_twin */
    const struct method *twin_method;
};

/* Are they of one source, accumulator, output format, scan and segment; or keys and bins; or layout
 * and rows; or mask? */
bool shared_alike(const struct study_case *a, const struct study_case *b);

/* Keeps what is there for a case that is alike, or whose rows have the same exact values: then all
 * but the twin. Else returns false and leaves it. */
bool shared_keep(struct shared *s, const struct study_case *t);

/* Readies *s, zero or of other cases before, for a case of this source; keeps what
 * shared_keep does. STATUS_MEMORY when memory is short, STATUS_FAILED as truth_make; nothing
 * is here then. */
enum status shared_begin(struct shared *s, const struct study_case *t, const struct source *source,
                         enum reference_kind kind, struct problem *p);

/* How many outputs there are. */
size_t shared_outputs(const struct shared *s);

/* Sees to it that the output of this case's twin is there: of a library's all-reduce that of the
 * model that has its bits, where one is known to; else scan/tiled's on the CPU, or scan/segmented's
 * where there are segments; of scatter-adds scatter/sort's; of sums of rows rows/tiled's; and so
 * on. */
enum status shared_twin(struct shared *s, const struct study_case *t, struct problem *p);

/* Measures an output of such a case, beside the twin's and, where it is not NULL, run 1's. */
enum status shared_measure(struct scan_measure *m, struct shared *s, const struct study_case *t,
                           const struct array *out, const struct array *run_1, struct problem *p);

/* Are outputs sums of their own terms, not of prefixes? */
bool shared_own(const struct shared *s);
/* Are they elements of a matrix product? */
bool shared_multiplies(const struct shared *s);

/* What the bound of the shown output is, where outputs have their own terms, if it is `result`. */
struct figure shared_shown_bound(const struct shared *s, const struct study_case *t, double result);

void shared_end(struct shared *s);
