/* The numbers of rows that --batch asks for, and which bits each of them gave. */
#pragma once

#include "experiments/check/attempts.h"

enum { BATCH_ROWS_MOST = 1 << 20, BATCH_COUNTS_MOST = 1 << 16 };

/* What numbers of rows that gave the same bits have in common. */
struct batch_kind {
    struct hash128 digest; /* of all outputs that were followed */
    bool some;             /* copies of one row differ within one batch */
    size_t differing;      /* outputs that differ from those of the least number of rows; */
    size_t row, column;    /* the first of them; */
    uint64_t bits[2];      /* its bits in that, and in these */
};

/* BATCH_CANNOT: rows cannot lie so, as an odd number of them in `batch:2`. */
enum { BATCH_UNTRIED = 0, BATCH_CANNOT = UINT32_MAX };

/* What came of one product, or one length of rows, in one pair of formats; of several inputs the
 * one that tells most. */
struct batch_table {
    struct check_case at;
    size_t columns, terms, row, rows; /* followed: so many rows of the case, from `row` on */
    size_t cases;                     /* tried, each with other data or in another launch shape */
    size_t asked, tried;              /* numbers of rows; those that cannot be are not asked */
    uint32_t *kind;                   /* of each: 1 + the index of its kind; or the above */
    struct batch_kind *is;
    size_t kinds;
    size_t least[2]; /* numbers of rows: the smallest two that differ; or one, in itself; 0: none */
    size_t unsteady; /* a number of rows that gave other bits when it was run again; 0: none */
    double needed_s; /* what those not tried would take, about */
};

struct check_batches {
    struct numbers rows; /* ascending, each once */
    struct pairs pairs;  /* that are tried; where they were asked for, in each of them */
    bool pairs_asked;
    struct batch_table *table;
    size_t tables;
};

struct request; /* experiments/cases/axes.h */
/* Reads --batch. check_batches_free is due, also after failure. */
enum status check_read_batches(struct check_request *r, const struct request *q, struct problem *p);
void check_batches_free(struct check_request *r);

/* Tries the numbers of rows on the case at hand. */
enum status check_batches_try(const struct check *c, struct check_outcome *o, struct problem *p);
/* Are attempts of this kind at numbers of rows that were asked for? */
bool check_is_counted(const struct check_request *r, enum check_kind kind);
/* Forgets what came of them with another subject. */
void check_batches_begin(struct check_batches *b, const struct pairs *pairs);
/* Keeps what came of a case, and takes it over. */
enum status check_batches_keep(struct check_batches *all, struct batch_table *now,
                               struct problem *p);
void batch_table_free(struct batch_table *t);
/* In how many rounds all rows of a case are followed. */
size_t check_batches_rounds(const struct check *c, const struct check_case *k);

/* --- what is said of them --- */

/* Neighbours in the list of numbers of rows that gave the same bits. */
struct batch_range {
    size_t first, last, asked, tried; /* last: the last one, not its index */
    uint32_t kind;                    /* BATCH_UNTRIED: none of them was tried */
};
/* Appends those of a table, which the caller frees; NULL when memory is short. A range has gaps
 * only where what lies on both sides of them agrees; what is tried without gaps is a range of its
 * own. */
struct batch_range *check_batch_ranges(const struct check_batches *b, const struct batch_table *t,
                                       size_t *count);
/* A, B, ...: the kind of a range, by the least number of rows that gave it. */
enum { BATCH_LETTERS = 8 };
void check_batch_letters(char letters[BATCH_LETTERS], const struct batch_range *range,
                         size_t which);
