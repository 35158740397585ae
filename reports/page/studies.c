/* What each kind of study asks, in the words of its page, and the pictures that answer it. */
#include "reports/page/report.h"

static const struct page_study studies[] = {
    {"accuracy",
     "How wrong is each method?",
     page_error_findings,
     {page_growth, page_heat, page_trees}},
    {"variance",
     "How many different results does the same sum have?",
     page_distinct_findings,
     {page_distinct}},
    {"cond", "How ill-conditioned may a sum be?", page_cliff_findings, {page_cond}},
    {"ladder",
     "What does each promise cost?",
     page_cost_findings,
     {page_prices, page_pareto, page_distinct}},
    {"atomics",
     "How do results that depend on timing spread?",
     page_atomics_findings,
     {page_spread, page_distinct_growth, page_distinct}},
    {"dot",
     "How wrong is a dot product?",
     page_error_findings,
     {page_growth, page_cond, page_heat}},
    {"norm",
     "How wrong are norms, means and variances?",
     page_error_findings,
     {page_growth, page_heat}},
    {"extrema",
     "What do products, minima and maxima come to?",
     page_error_findings,
     {page_growth, page_heat}},
    {"scatter",
     "How wrong are sums by bin, and do they vary?",
     page_distinct_findings,
     {page_distinct, page_growth, page_heat}},
    {"rows",
     "How wrong are sums of rows, and do they vary?",
     page_distinct_findings,
     {page_distinct, page_growth, page_heat}},
    {"rowstats",
     "How wrong are softmax, LayerNorm and other statistics of rows?",
     page_statistic_findings,
     {page_ulps, page_reach, page_growth, page_distinct}},
    {"gemm",
     "How wrong are matrix products?",
     page_error_findings,
     {page_ulps, page_growth, page_distinct}},
    {"allreduce",
     "How wrong are sums over ranks, and do they vary?",
     page_error_findings,
     {page_ulps, page_growth, page_distinct}},
    {"drift", "How do errors grow along a scan?", page_error_findings, {page_drift}},
    {"scan-variance",
     "How many different outputs does the same scan have?",
     page_distinct_findings,
     {page_drift}},
    {"trial", "Which promises are kept?", page_trial_findings, {page_trial}},
    {"steps", "When does a weight stand still?", page_steps_findings, {page_steps}},
    {"recommend",
     "Which accumulator and method are enough?",
     page_recommended_findings,
     {page_frontier, page_candidates_by_cost}},
};

const struct page_study *page_study(const char *experiment)
{
    static const struct page_study other = {
        .question = "What was found",
        .picture = {page_growth, page_cond, page_heat, page_distinct, page_pareto, page_drift}};
    for (size_t i = 0; i < sizeof studies / sizeof *studies; i++)
        if (strcmp(studies[i].experiment, experiment) == 0)
            return &studies[i];
    return &other;
}
