/* Conclusions in words that several experiments draw from a finished plan. Each appends whole
 * lines of at most TABLE_COLUMNS, but for words that are wider. */
#pragma once

#include "experiments/cases/plan.h"
#include "reports/text/text.h"

/* Appends a line of prose, wrapped, and takes the line. */
void says_line(struct text *to, struct text *line);
/* The same of a legend, which continues at the margin. */
void says_legend(struct text *to, const char *legend);

/* Did repeated runs of the same case give the same bits? Which methods did not, in how many of
 * their cases; how many runs that rests on. */
void says_repeats(struct text *to, const struct plan *plan);

/* For each operation, which methods err least and which most in their worst case, in ulps, and
 * whose results are not finite. Methods whose errors print alike are named together. */
void says_errors(struct text *to, const struct plan *plan);

/* Both; that nothing was repeated is no finding, and comes last. */
void says_repeats_and_errors(struct text *to, const struct plan *plan);

/* "0.5 ulp", "1900 ulp", "2.8e+42 ulp" */
void says_ulps(struct text *to, double error);

/* "fp32/fp32, uniform, n = 1000" */
void says_case(struct text *to, const struct plan *plan, const struct study_case *t);

/* Names in a list of which only the first few are shown: appends ", " before all but the first,
 * and true where this one is to be shown. says_rest ends it: " and 3 more". */
enum { SAYS_NAMES = 6 };
bool says_next(struct text *to, size_t *count, const char *before);
void says_rest(struct text *to, size_t count);
