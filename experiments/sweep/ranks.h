/* A study that ranks share: each takes cases whenever it is done with some, costliest first, and
 * writes their rows to a results directory of its own. */
#pragma once

#include "experiments/sweep/sweep.h"

/* The part of one rank. Rank 0 readies the directory, tells the others what is left to do, works
 * like them, and waits until they are gone, however they went; sweep_run is due then, in it alone,
 * with `joins`, which takes over the ranks' rows and runs what is missing. *meeting, rank 0's, is
 * open until meeting_close. The other ranks have nothing left to do: what failed there rank 0 tries
 * again, and tells. STATUS_INTERRUPTED too where rank 0 is gone. */
enum status ranks_sweep(struct meeting **meeting, struct rank rank, struct plan *plan,
                        const struct sweep_options *options, struct problem *p);
