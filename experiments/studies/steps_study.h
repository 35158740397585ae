/* A study of `run steps`: weights, and what became of them. */
#pragma once

#include "experiments/cases/experiment.h"
#include "experiments/studies/steps_weight.h"

struct steps_case {
    const struct source *source;
    enum format accumulator;
    enum steps_method method;
    double start;
    uint64_t seed;
    bool constant, zero; /* all updates are equal, are 0, once rounded to the accumulator */
    /* After the last step. */
    struct figure weight, exact, err_abs, err_ulp, over_bound;
    double signed_error; /* weight - exact */
    double sum_abs;
    uint64_t still_from;        /* 0: not known, or none */
    struct steps_end predicted; /* of plain weights with equal updates */
    uint64_t rows_end;          /* of its rows in steps.csv: bytes */
    bool broken, mispredicted;  /* beyond the bound at some step; not as predicted */
};

struct steps_study {
    const struct axes *axes;
    struct steps_case *item;
    size_t count;
    bool biased; /* some mean of stochastic weights is beyond its bound */
};

/* Do they differ in the seed alone? */
bool steps_alike(const struct steps_case *a, const struct steps_case *b);

/* Mean error of the stochastic weights like item i, how many there are, and what bounds it. */
struct steps_mean {
    size_t weights;
    double error, bound;
};
struct steps_mean steps_mean_of(const struct steps_study *s, size_t i);

/* Is it the first of those like it? */
bool steps_first(const struct steps_study *s, size_t i);

/* How many weights are finished, as `path` has them: what became of those is set, and *bytes are
 * those of `rows`, steps.csv, that they take. */
size_t steps_done_read(struct steps_study *s, const char *path, const char *rows, uint64_t *bytes);
/* Notes that so many weights are finished, whose rows_end is set: the last of them, or `anew` all,
 * and nothing else. */
enum status steps_done_write(const struct steps_study *s, const char *path, size_t done, bool anew,
                             struct problem *p);

void steps_says(struct text *to, const struct steps_study *s, const char *out);
