/* Two results directories, case by case: of two devices, drivers, versions or days.
 *
 * Cases are joined by case_id; what is left by all columns of the case but device and condition
 * number, one to one in their order; and what is left of that without the launch shape too: then a
 * case may stand against several. Not so where run_to_run is promised, for those bits hang on the
 * shape. */
#ifndef ULPSCOPE_COMPARE_H
#define ULPSCOPE_COMPARE_H

#include <jansson.h>

#include "kernels/method.h"
#include "reference/hash.h"
#include "reports/columns.h"
#include "reports/text.h"

/* A case of a side, with all its runs. */
struct compare_case {
    char *field[CASE_ALL]; /* as results.csv has them; "" for those that it does not have */
    enum promise promise;
    uint64_t runs; /* that gave a result */
    size_t capacity;
    struct hash128 *bits; /* of the results: sorted, none twice, `distinct` of them */
    size_t distinct;
    char *result, *first; /* `result` and `result_bits` of the first run that has one; or NULL */
    struct figure err_ulp_max, err_over_bound_max;
    char status[16]; /* of the last run without a result, or "" */
    bool joined;
};

struct compare_side {
    const char *path; /* the directory */
    json_t *study;
    enum columns_of of;
    struct compare_case *item; /* in the order of the file */
    size_t count, capacity;
    void *by_id; /* a tree of tsearch, for compare_case_named */
};

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
    const struct compare_case *of[2]; /* NULL: there is none */
    enum verdict verdict;
    enum promise promise; /* the lesser of both sides */
    bool broken;          /* what they promise does not let them differ so */
    size_t shared;        /* results that both have */
};

struct compare {
    struct compare_side side[2];
    struct compare_pair *pair; /* in the order of A's cases, then those of B alone */
    size_t pairs;
    size_t count[VERDICTS];
    size_t broken;
};

/* Reads both directories, joins and judges. STATUS_DATA where one is not a whole results directory,
 * STATUS_DEVICE when memory is short. compare_free is due either way. */
enum status compare_read(struct compare *c, const char *const path[2], struct problem *p);
void compare_free(struct compare *c);

/* Steps of compare_read. */
enum status compare_side_read(struct compare_side *side, const char *path, struct problem *p);
void compare_side_free(struct compare_side *side);
/* NULL where there is none. */
struct compare_case *compare_case_named(struct compare_side *side, const char *id);
/* *most becomes the larger of both, and NaN once one is. */
void compare_raise(struct figure *most, struct figure f);
enum status compare_join(struct compare *c, struct problem *p);
void compare_judge(struct compare *c);

/* STATUS_FAILED where a promise or a bound is broken, else STATUS_DATA where inputs differ or there
 * is not one case to compare. */
enum status compare_status(const struct compare *c, struct problem *p);

/* For people: a row for each method, and the first cases that break something. */
void compare_text(struct text *to, const struct compare *c);
/* As `--out` writes it: a row for each pair of cases, without the header. */
void compare_rows(struct text *to, const struct compare *c);
/* NULL when memory is short. */
json_t *compare_json(const struct compare *c);

#endif
