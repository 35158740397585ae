/* Checks of statistics of rows: those of holds.h, output by output. */
#pragma once

#include "tests/support/holds.h"

enum { STATISTIC_MOST = 9000 };

/* Rows of a matrix, in.n = rows * length elements. */
struct statistic_case {
    const struct method *method;
    struct array in;
    enum format accumulator;
    size_t rows, stride;
    struct shape shape;
    const char *sample;
};

size_t statistic_outputs(const struct statistic_case *c);
bool statistic_run(const struct statistic_case *c, const struct array *out, char why[WHY]);

/* Is every output within its theorem, and of what is correctly rounded the bits of the exact value?
 */
bool statistic_holds(const struct statistic_case *c, const struct array *out, char why[WHY]);

/* statistic_holds of methods of one operation, on every input family, and on random arrays, in many
 * shapes and all pairs. */
bool holds_statistic_bounds(const struct method *const *m, size_t count, char why[WHY]);

/* The same bits from any number of threads, in any layout, and of the row alone. */
bool holds_statistic_promise(const struct method *m, char why[WHY]);
