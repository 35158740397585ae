/* What theorem_bound has to say, in rational arithmetic, from what each theorem says: exact but for
 * roots, which are rounded at 2^-4000 of themselves; NULL where a theorem of rows says nothing. */
#pragma once

#include "reference/theorem/theorem.h"
#include "tests/support/rational.h"

rational due_bound(const struct theorem *t, const struct reference *r, enum format storage,
                   enum format accumulator);
