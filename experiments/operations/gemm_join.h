/* Matrix products of A and B from files of their own. */
#pragma once

#include "experiments/data/data.h"
#include "experiments/operations/setting.h"

/* operation_use's `join`. One file, of A, B and C in the only shape asked for, may have scales too.
 */
enum status gemm_join(struct data *to, const struct data *part, size_t parts,
                      struct setting_axes *axes, struct problem *p);
