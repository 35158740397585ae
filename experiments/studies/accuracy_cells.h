/* Cells of tables that say how accurate results are. */
#pragma once

#include "experiments/cases/plan.h"
#include "reports/text/table.h"
#include "reports/text/text.h"

/* What a cell is of: cases with these formats, and with this input and length or this method. */
struct accuracy_view {
    const struct plan *plan;
    struct format_pair pair; /* FORMATS: any */
    const char *input;       /* NULL: any */
    size_t n;
    const struct method *method; /* NULL: any */
};

/* Is it of this case, and is the case finished? */
bool accuracy_sees(const struct accuracy_view *v, const struct study_case *t);

/* Correct decimal digits: inf where the result is exact, 0 where none is right, NaN for NaN. */
double accuracy_case_digits(const struct study_case *t);

/* A cell with the correct decimal digits of the worst case and of the best; empty where there is
 * none. */
void accuracy_digits(struct table *table, const struct accuracy_view *v);

/* |error| / (u sum|x|), the worst of the cases in view, or both their median and that: it does not
 * depend on how ill the input is conditioned, and a perfect method has less than 1. */
void accuracy_backward(struct table *table, const struct accuracy_view *v, bool both);

/* Has an earlier source the same name and length? */
bool accuracy_seen_before(const struct plan *plan, size_t source);

/* The formats in the plan: data may have others than the axes say. */
void accuracy_pairs(struct pairs *pairs, const struct plan *plan);

/* A table with accuracy_backward of each method and format pair, methods with equal cells in one
 * row; or one for each storage format. */
void accuracy_by_method(struct text *to, const struct plan *plan);
