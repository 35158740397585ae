/* What additions are done in, in words for people. */
#pragma once

#include "experiments/cases/plan.h"
#include "reports/text/text.h"

/* "added in fp32"; where that is not what the result has, "added in fp32, result in fp16", "added
 * exactly, result in fp32". */
void added_in_words(struct text *to, const struct method *m, enum format accumulator,
                    enum format result);

/* A line on those of a plan's methods that do not add plainly in the accumulator asked for; nothing
 * where there are none. */
void added_in_note(struct text *to, const struct plan *plan);
