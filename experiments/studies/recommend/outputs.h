/* Candidates with several results each: elements of a matrix product, or statistics of rows. */
#pragma once

#include "experiments/studies/recommend/candidates.h"
#include "experiments/sweep/engine.h"

/* The exact results, and what an error of 1 is for each. */
struct recommend_product {
    struct study_case like; /* that `shared` is of */
    struct shared shared;
    size_t outputs;
    mpfr_t *exact, *unit;
    size_t
        *largest; /* of rows whose elements have values: the output of each row that is largest */
};

/* A sample of them, whose array `fill` makes, with the report as its context. */
enum status recommend_sample_outputs(const struct recommend_report *r, struct recommend_sample *s,
                                     enum recommend_kind kind, uint64_t draw, size_t n,
                                     struct device device, recommend_fill *fill, struct problem *p);
/* Runs a candidate on them. */
enum status recommend_run_outputs(const struct recommend_report *r,
                                  const struct recommend_candidate *c, struct recommend_sample *s,
                                  struct recommend_outcome *o, struct problem *p);

/* Of rows whose elements have values: finds the largest of each row; before recommend_row_value. */
enum status recommend_row_largest(struct recommend_product *product, struct problem *p);
/* Of rows: the exact value of an output, and what it is large beside: its A (exact/values.def) or,
 * where each element has a value, the largest of its row. */
void recommend_row_value(struct recommend_product *product, size_t output, mpfr_t exact,
                         mpfr_t magnitude);
/* Where the output lies, in the whole matrix. */
void recommend_row_place(const struct recommend_report *r, struct recommend_outcome *o,
                         const struct recommend_product *product);
