/* `ulpscope sum FILE` by ranks: each reads its share of a file, and rank 0 joins the exact sums. */
#pragma once

#include "experiments/data/data.h"
#include "experiments/system/ranks.h"
#include "reference/exact/reference.h"

/* An array of the file. */
struct sum_part {
    char *name;
    enum format format;
    struct reference_blocks blocks;
};

struct sum_ranks {
    struct rank rank;
    char *folder; /* where they meet, in the working directory */
    struct meeting *meeting;
    struct sum_part *part;
    size_t parts;
};

/* sum_ranks_close is due, also after failure. */
enum status sum_ranks_open(struct sum_ranks *s, struct rank rank, const char *path,
                           struct problem *p);

/* Rank 0 says whether the file is read in shares, the others hear it. STATUS_DATA where they see
 * another file, or are of another build. */
enum status sum_ranks_agree(struct sum_ranks *s, bool *shares, const char *path, struct problem *p);

/* Reads a share. Of rank 0 `part` is then of the whole file: a share that is missing, as its rank
 * is gone, is read by rank 0. */
enum status sum_ranks_read(struct sum_ranks *s, const char *path,
                           const struct data_options *options, bool progress, struct problem *p);
void sum_ranks_close(struct sum_ranks *s);
