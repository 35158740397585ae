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
    bool constant; /* all updates are equal, once rounded to the accumulator */
    /* After the last step. */
    struct figure weight, exact, err_abs, err_ulp, over_bound;
    double signed_error; /* weight - exact */
    double sum_abs;
    uint64_t still_from, predicted; /* 0: not known, or none */
    bool broken, mispredicted;      /* beyond the bound at some step; not as predicted */
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

void steps_says(struct text *to, const struct steps_study *s, const char *out);
