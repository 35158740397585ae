#include "reports/columns/columns.h"

static const struct column atomics_columns[ATOMICS_ADDED_IN - ATOMICS_LOAD] = {
    {"load", "", "idle, or busy: the device had other work while the sums ran"},
    {"runs", "", "executions of the case"},
    {"distinct", "", "different results, bit by bit"},
    {"spread", "", "the largest result minus the least; empty where any is not finite"},
    {"spread_ulp", "ulp", "spread / ulp(exact) in the accumulator's format"},
    {"vs_max", "", "as in summary.csv: the largest |1 - |result / s_fixed||"},
    {"vs_stddev", "", "as in summary.csv"},
    {"skewness", "",
     "g1 = m3 / m2^(3/2), m_k being the mean over the runs of (result - mean)^k; empty where all "
     "results are the same"},
    {"kurtosis", "", "excess kurtosis g2 = m4 / m2^2 - 3"},
    {"k2", "",
     "K^2 of D'Agostino and Pearson's omnibus test of normality, made of skewness and kurtosis"},
    {"p_normal", "",
     "probability of as large a K^2 of a normal distribution: exp(-K^2 / 2); below 0.05 it is not "
     "one, with 95% confidence"},
    {"note", "",
     "why there is no test: one result; too few different results (less than 10: the spacing of "
     "the format shows); too few runs (less than 20); results that are not finite"},
};

static const struct column growth_columns[GROWTH_ADDED_IN - GROWTH_LOAD] = {
    {"load", "", "idle, or busy: the device had other work while the sums ran"},
    {"figure", "",
     "what grows, at each n the largest of any launch shape and seed: spread or vs_max, as in "
     "atomics.csv"},
    {"n_min", "elements", "the least n that is fitted"},
    {"n_max", "elements", "the largest"},
    {"points", "", "lengths that are fitted"},
    {"left_out", "", "lengths where the figure is 0, not finite or not there"},
    {"exponent", "",
     "a of the power law figure = b n^a, by least squares of the logarithms; empty below two "
     "points"},
    {"standard_error", "", "of the exponent; empty below three points"},
    {"factor", "", "b"},
    {"r_squared", "",
     "share of the variance of log figure that the power law explains; empty where it does not "
     "vary, and below three points"},
};

const struct column *atomics_column(size_t i)
{
    if (i >= ATOMICS_ADDED_IN)
        return &case_columns[CASE_ADDED_IN + i - ATOMICS_ADDED_IN];
    return i < ATOMICS_LOAD ? &case_columns[i] : &atomics_columns[i - ATOMICS_LOAD];
}

const struct column *growth_column(size_t i)
{
    if (i >= GROWTH_ADDED_IN)
        return &case_columns[CASE_ADDED_IN + i - GROWTH_ADDED_IN];
    if (i >= GROWTH_LOAD)
        return &growth_columns[i - GROWTH_LOAD];
    return &case_columns[i == GROWTH_EXPERIMENT ? CASE_EXPERIMENT : i + CASE_METHOD - 1];
}
