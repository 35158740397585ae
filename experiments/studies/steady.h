/* Methods that gave one result in every case: where there are many cases, a line says it. */
#pragma once

#include "experiments/cases/plan.h"
#include "reports/text/text.h"

/* Does a line stand for all of the method's cases? */
bool steady_left_out(const struct plan *plan, const struct method *m);

/* Appends those lines. */
void steady_lines(struct text *to, const struct plan *plan);
