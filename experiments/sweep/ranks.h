/* A study that ranks share: each takes cases whenever it is done with some, costliest first, and
 * writes their rows to a results directory of its own. */
#pragma once

#include "experiments/sweep/sweep.h"
#include "reference/base/hash.h"

/* What rank 0 tells the others when a job begins. */
struct ranks_word {
    struct rank rank;
    const char *out;
    const volatile sig_atomic_t *stop;
    struct hash128 hash; /* of the cases: all ranks shall have the same */
    size_t count;        /* of them */
    char *taken;         /* a byte for each: not 0, it is not dealt. The caller frees it */
    void (*note)(void *context, const char *line);
    void *context;
};

/* Rank 0 says the word, the others hear it: `taken` is then rank 0's. meeting_close is due, also
 * after failure. STATUS_USAGE where the cases are others. */
enum status ranks_agree(struct meeting **m, struct ranks_word *word, struct problem *p);

/* Tells why the part of a rank failed; and, where ranks had met and the command need not change,
 * that it can be resumed. `m` may be NULL. Returns `status`. */
enum status ranks_failed(const struct meeting *m, enum status status, const struct problem *why,
                         struct problem *p);

/* The part of one rank. Rank 0 readies the directory, tells the others what is left to do, works
 * like them, and waits until they are gone, however they went; sweep_run is due then, in it alone,
 * with `joins`, which takes over the ranks' rows and runs what is missing. *meeting, rank 0's, is
 * open until meeting_close. The other ranks have nothing left to do: what failed there rank 0 tries
 * again, and tells. STATUS_INTERRUPTED too where rank 0 is gone. */
enum status ranks_sweep(struct meeting **meeting, struct rank rank, struct plan *plan,
                        const struct sweep_options *options, struct problem *p);
