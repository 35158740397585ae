/* What the files of a plan share. */
#pragma once

#include "experiments/cases/plan.h"

enum status plan_no_memory(struct problem *p);

/* Makes the hash table of ids anew, after cases were removed. */
void plan_index(struct plan *plan);

/* Appends a source and its cases; drops it where it has none of its own. The plan owns
 * it. */
enum status plan_add_source(struct plan *plan, const struct source *source, struct problem *p);
