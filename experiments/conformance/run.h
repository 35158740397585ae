/* A subject on all special inputs, and what came of it. */
#pragma once

#include <signal.h>

#include "experiments/options/pairs.h"
#include "experiments/conformance/class.h"
#include "experiments/conformance/judge.h"

enum { SPECIAL_PREFIX = 48 };
struct conformance_request {
    const struct method *method;
    struct device device;
    struct pairs pairs; /* what the method does not support is skipped */
    struct shape shape; /* as asked for */
    uint64_t seed;
    unsigned every;    /* 1: all inputs; 16: one in sixteen, others for each length */
    bool scan[2];      /* of scans: inclusive, exclusive; none: both */
    size_t segment;    /* of scans that heed heads; 0: one segment, and segments of three */
    unsigned products; /* of dot products: flags 1 << PRODUCT_...; 0: all that it has */
    const char *chip;  /* of models of matrix instructions; NULL: MMA_CHIP */
    const struct special_input *data; /* one input, in place of all; or NULL */
    size_t rows;                      /* of a matrix so many rows of it; else 1 */
    const char *program;              /* as commands name it; NULL: ulpscope */
    char prefix[SPECIAL_PREFIX]; /* of files with inputs that were found: one for each subject */
    double seconds;              /* for all of it, about; 0: as long as it takes */
    const volatile sig_atomic_t *stop; /* not 0: what was found so far is reported; or NULL */
    /* Hears what is run, once for each length; or NULL. */
    void (*show)(const struct conformance_subject *subject, size_t n);
};

/* An input and what was said of the result. */
struct conformance_finding {
    struct conformance_subject subject;
    struct special_input in; /* its own; shrunk */
    struct judgement judgement;
    size_t n; /* before it was shrunk */
};

/* Of one class, or one class in one format pair. */
struct conformance_tally {
    size_t cases, impossible, noted, failed;
    size_t left;      /* not tried: time was over, or it was interrupted */
    const char *note; /* the first */
    struct conformance_finding *first;
};

/* Lengths of which a subject refused the first input that it was given, and ones too. */
struct conformance_refusals {
    size_t length[SPECIAL_LENGTHS], count;
    struct problem first;
};

struct conformance_report {
    struct conformance_request request;
    struct conformance_tally tally[FORMATS * FORMATS][SPECIAL_CLASSES]; /* by pairs.item's place */
    struct conformance_tally all[SPECIAL_CLASSES];
    struct pairs left_out;     /* that a program does not answer */
    uint64_t begin_ns, end_ns; /* by clock_ns(); UINT64_MAX: whenever it ends */
    bool tried, found;         /* an input; one that is impossible */
    struct conformance_refusals refused;
    size_t failed;
    struct problem failure; /* of the first run that failed; or why no pair is answered */
};

/* Runs and judges all, then shrinks the first finding of each class. Runs that fail are counted;
 * after the second in a pair of formats the next pair follows, after the twelfth none. A length
 * that a foreign subject refuses is left out; it is a failure where it refuses all in a pair. Where
 * time is short, it is shared among the pairs, and among the lengths in each; the classes take
 * turns. A quarter of it is kept for shrinking once there is something to shrink.
 * STATUS_INTERRUPTED where it was stopped; the report is valid then too.
 * conformance_report_free is due, also after failure. */
enum status conformance_run(struct conformance_report *r, const struct conformance_request *request,
                            struct problem *p);
void conformance_report_free(struct conformance_report *r);

/* Has the subject, and its chip, this pair of formats? */
bool conformance_runs(const struct conformance_request *q, const struct format_pair *pair);
