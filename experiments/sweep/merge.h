/* Joining the shards of a study into one results directory. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reference/base/problem.h"

struct merge {
    const char *const *dir; /* results directories, one a shard, in any order */
    size_t count;
    const char *out; /* the directory made; NULL: results-EXPERIMENT */
    bool force;      /* start over where it holds results */
    int argc;        /* of the command, for the record */
    char **argv;
};

/* Writes the study.json and all rows of the shards into `out`; what summarises or derives from rows
 * is left to a run of the study there. *shards says how many were joined, *out names the directory,
 * which the caller frees. The shards themselves are read only. STATUS_USAGE where they are not the
 * shards of one study, each once; STATUS_DATA where a file cannot be read, inputs differ, or `out`
 * holds results. Until merge_finish, study.json says that the merge goes on: one that was
 * interrupted begins anew. */
enum status merge_shards(const struct merge *m, uint32_t *shards, char **out, struct problem *p);

/* Says so when all that derives from the rows is written, too. */
enum status merge_finish(const char *out, struct problem *p);
