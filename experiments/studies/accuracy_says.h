/* What `run accuracy` shows by default: one number a cell, and conclusions in words. */
#pragma once

#include "experiments/cases/plan.h"
#include "reports/text/text.h"

/* What the median method makes of an input: the worse of its lengths, where it has several. */
struct accuracy_row {
    const char *input;
    size_t n; /* 0: all of its lengths */
    struct figure cond_log2;
};

enum { ACCURACY_ROWS = 12, ACCURACY_PAIRS = 8 };

/* The inputs of a plan, each with its lengths one after the other; where these are more than
 * ACCURACY_ROWS, each once. The caller frees them; NULL when memory is short. */
struct accuracy_row *accuracy_rows(size_t *count, const struct plan *plan);

/* The pairs of formats to show: all, or where these are more than ACCURACY_PAIRS, those that add in
 * the storage format or the next wider one. */
void accuracy_shown(struct pairs *shown, const struct plan *plan);

/* Correct decimal digits of the median of all methods: INFINITY where it is exact, 0 where no digit
 * is right, below 0 where it overflows, NaN where there is no case. */
double accuracy_typical(const struct plan *plan, struct format_pair pair,
                        const struct accuracy_row *row);
void accuracy_typical_text(char text[16], double digits);

/* The most seeds that one input of one length was drawn with: a median is over these too. */
size_t accuracy_seeds(const struct plan *plan);

/* One line: on how many inputs each accumulator loses every digit. */
void accuracy_headline(struct text *to, const struct plan *plan);
/* A line for each accumulator, for methods that promise correct rounding, and for those that
 * promise nothing, where they were run more than once. */
void accuracy_conclusion(struct text *to, const struct plan *plan);
