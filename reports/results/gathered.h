/* A results directory, read whole and gathered by case. */
#pragma once

#include <jansson.h>

#include "kernels/method/method.h"
#include "reference/base/hash.h"
#include "reports/csv/file.h"

struct gathered_run {
    uint64_t number; /* from 1 */
    size_t line;
};

/* A case, with all its runs. */
struct gathered_case {
    char *field[CASE_ALL]; /* as results.csv has them; "" for those that it does not have */
    enum promise promise;
    double n;
    struct figure cond_log2;
    uint64_t runs;            /* that gave a result */
    struct gathered_run *run; /* of each result, `runs` of them: which run, on which line */
    struct hash128 *bits;     /* of the results: sorted, none twice, `distinct` of them */
    size_t distinct;
    double *offset; /* of each run: its err_ulp, of sums negative below the exact sum; NULL: not
                     * known */
    char *result, *first; /* `result` and `result_bits` of the first run that has one; or NULL */
    struct figure first_result, first_exact; /* of that run; of arrays, of their first output */
    /* The largest of the runs, once there is a NaN that. */
    struct figure err_ulp, err_rel, err_backward, err_over_bound;
    struct figure worst_index; /* of scans: the output that err_ulp is of */
    bool right_infinity;       /* of sums: an infinity is what the exact sum rounds to */
    struct figure bound;       /* over sum|x|; not known of arrays */
    struct figure first_bound; /* of matrix products: of their first element, over its own sum|x| */
    struct figure time_ns;     /* the least */
    char status[16];           /* of the last run without a result, or "" */
    const char *key_seed;      /* of keys and masks of data, if drawn; NULL: not known */
    bool joined;               /* for who compares */
};

struct gathered {
    const char *path; /* the directory */
    json_t *study;
    enum columns_of of;
    struct gathered_case *item; /* in the order of the file */
    size_t count;
    void *by_id; /* a tree of tsearch, for gathered_named */
};

/* Reads study.json and results.csv. STATUS_DATA where they are not whole or not such files,
 * STATUS_MEMORY when memory is short. gathered_free is due either way. */
enum status gathered_read(struct gathered *g, const char *path, struct problem *p);
void gathered_free(struct gathered *g);

/* The parts of that: study.json alone, before either file of rows; and summary.csv in place of
 * results.csv, which has no bits, results, times and relative errors. */
enum status gathered_study(struct gathered *g, const char *path, struct problem *p);
enum status gathered_results(struct gathered *g, struct problem *p);
enum status gathered_summary(struct gathered *g, struct problem *p);

/* NULL where there is none. */
struct gathered_case *gathered_named(struct gathered *g, const char *id);

/* *most becomes the larger of both, and NaN once one is. */
void gathered_raise(struct figure *most, struct figure f);

/* The GPU that it ran on, or its CPU. */
const char *gathered_machine(const struct gathered *g);

/* The string `name` of study.json, or of an object in it; "" where there is none. */
const char *gathered_word(const struct gathered *g, const char *object, const char *name);
