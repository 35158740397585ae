/* Exact prefix sums at speed: at every index the exact sum so far, as a pair of doubles.
 *
 * hi is the exact prefix rounded to nearest double, lo what is left, exact - hi, rounded to nearest
 * double: together they resolve errors far below an ulp of fp64. A prefix that is no plain number
 * is what exact.h says of sums (NaN, an infinity, a zero with its sign); it stands in hi, and lo is
 * +0. Where the exact prefix rounds to an infinity, lo is +0 too.
 *
 * Prefixes are inclusive: the one at index i covers elements up to i. Exclusive ones are the same
 * shifted by one, with +0 for the sum of nothing. Where there are heads, heads[i] != 0 begins a
 * segment at element i: its prefixes cover no element before it.
 *
 * The pairs do not depend on block sizes, threads or where a stream begins. */
#pragma once

#include "reference/exact/exact.h"
#include "reference/exact/line.h"
#include "reference/base/problem.h"

/* A stream of prefixes. The layout is private to prefix.c. */
struct prefix {
    struct line sum, sum_abs;
    bool nan, inf[2];  /* by sign */
    bool empty, plain; /* as in struct exact */
    bool rounded;      /* of the last call */
};

/* Begins a stream after elements whose exact sum is `before` (exact_init: at the beginning). */
void prefix_begin(struct prefix *p, const struct exact *before);

/* Destination of the pairs: n doubles each. */
struct prefix_pairs {
    double *hi, *lo;
    double *abs_hi, *abs_lo; /* of sum|x| so far. NULL, in all calls of a stream: not wanted */
};

/* The destination of the pairs from i on. */
struct prefix_pairs prefix_pairs_from(const struct prefix_pairs *to, size_t i);

/* The pairs of the next elements, begin .. begin+count-1 of an array, into to->hi[0 .. count-1] and
 * so on. `heads` (NULL: none) is indexed as the array is. Calls of 2^14 elements are fastest.
 * Returns whether each pair is known to be exact: hi + lo is the prefix where hi is finite. Then so
 * is the pair before them, unless a head at `begin` leaves it behind: blocks that begin with more
 * than two words are not known to be exact. */
bool prefix_next(struct prefix *p, const struct array *a, const uint8_t *heads, size_t begin,
                 size_t count, const struct prefix_pairs *to);

/* The pairs of a whole array, on up to `threads` >= 1 threads. STATUS_MEMORY when memory is short.
 */
enum status prefix_all(const struct array *a, const uint8_t *heads, unsigned threads,
                       const struct prefix_pairs *to, struct problem *p);

/* Shares of an array, and what the prefixes of each cover of earlier ones. */
struct prefix_share {
    size_t first;        /* the first element that the share's first prefix covers */
    struct exact before; /* the exact sum from there to the share */
};

struct prefix_shares {
    size_t n, size, count; /* share k: elements k * size .. the smaller of (k+1) * size and n */
    struct prefix_share *share; /* size is a multiple of LINE_MOST */
};

/* Cuts an array into shares for `threads` threads, which sum them; one share and no work for one.
 * STATUS_MEMORY when memory is short; on success prefix_shares_free is due. */
enum status prefix_shares_make(struct prefix_shares *s, const struct array *a, const uint8_t *heads,
                               unsigned threads, struct problem *p);
void prefix_shares_free(struct prefix_shares *s);
