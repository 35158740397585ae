/* What the cases share that scan one source alike. */
#ifndef ULPSCOPE_SCANS_H
#define ULPSCOPE_SCANS_H

#include "experiments/plan.h"
#include "experiments/truth.h"
#include "reference/measure_scan.h"

struct scans {
    const struct trial *like; /* one of them; NULL: nothing is here */
    struct array in;
    uint8_t *heads;    /* as a task's; NULL: one segment */
    bool outputs;      /* there are any: the input has elements */
    struct truth last; /* of the elements that the last output covers; where there are outputs */
    struct array twin; /* the fixed-order twin's output; data NULL until scans_twin */
};

/* Are they of one source, accumulator, output format, scan and segment? */
bool scans_alike(const struct trial *a, const struct trial *b);

/* Readies *s, zero or of other cases before, for a case of this source; keeps what is there where
 * that is of cases alike. STATUS_DEVICE when memory is short, STATUS_FAILED as truth_make; nothing
 * is here then. */
enum status scans_begin(struct scans *s, const struct trial *t, const struct source *source,
                        enum reference_kind kind, struct problem *p);

/* Sees to it that the twin's output is there: scan/tiled's on the CPU, or scan/segmented's where
 * there are segments. */
enum status scans_twin(struct scans *s, struct problem *p);

/* Measures an output of such a case, beside the twin's and, where it is not NULL, run 1's. */
enum status scans_measure(struct scan_measure *m, struct scans *s, const struct trial *t,
                          const struct array *out, const struct array *run_1, struct problem *p);

void scans_end(struct scans *s);

#endif
