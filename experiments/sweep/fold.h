/* What ranks did, each in a results directory of its own, goes to the study's: OUT/ranks/0,
 * OUT/ranks/1, ... to OUT. */
#pragma once

#include "experiments/cases/plan.h"
#include "experiments/system/ranks.h"
#include "experiments/sweep/parts.h"
#include "reports/results/directory.h"

/* What is there of a study, when a job of ranks begins. */
struct fold_found {
    char *taken;              /* a byte for each case: 1 where any of its rows is anywhere */
    struct meeting_done done; /* cases that are finished, and runs */
};

/* Moves the rows of the ranks from number `from` on to the files of the directory, which are then
 * whole at any moment, and what their study.json says of inputs and machines to `study`, which is
 * written. Of each case the rows of one of them are taken, finished ones first; none where the
 * directory has rows of it. Rows of failed runs stay behind: the runs are to be tried again. found,
 * unless NULL, tells what there is, of the ranks that were left too; the caller frees `taken`.
 * STATUS_DATA where a rank's directory is not of this study, or inputs differ. */
enum status fold_ranks(const struct plan *plan, const struct directory *d, json_t *study,
                       uint32_t from, struct fold_found *found, struct problem *p);
