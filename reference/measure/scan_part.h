/* State of measure_scan after part of the outputs. */
#pragma once

#include "reference/exact/prefix.h"
#include "reference/measure/scan_rules.h"

struct scan_best {
    bool known;
    double value;
    size_t index;
};

/* Takes another figure, of a higher index, if it is larger; NaN is larger than any number. */
void scan_best_take(struct scan_best *best, const struct scan_best *other);

/* Against a twin. */
struct scan_contrast {
    size_t differing, first_diff;
    size_t compared; /* `relative` is the sum of their relative differences */
    struct exact relative;
};

struct scan_part {
    const struct scan *scan;
    const struct scan_output *out;
    struct scan_rules rules;
    struct scan_best best[SCAN_FIGURES];
    bool overflow, nan;
    size_t broken, first_broken, not_finite;
    /* The sum of the squares of err_ulp, where it is a number. The precision holds every sum of
     * block sums exactly, so that it does not depend on the order of parts. */
    mpfr_t squares;
    size_t squared;
    size_t decreases;
    struct scan_contrast contrast[SCAN_TWINS];
    /* The exact sum of elements up to `walked`, not included, of one segment; or of one bin. */
    struct exact walker;
    size_t walked;
    struct theorem_memo *memo; /* of values of rows; else NULL */
    struct scan_point *point; /* of the whole output; those with an index in this part are filled */
    size_t points;
};

/* STATUS_USAGE where an output has not the length that it is due, or a twin another length or
 * format. */
enum status scan_check(const struct scan_output *out, size_t outputs, const struct scan *scan,
                       struct problem *p);

/* A part that begins where the share does. scan_part_free is due. */
void scan_part_begin(struct scan_part *part, const struct scan *scan, const struct scan_output *out,
                     const struct prefix_share *share, size_t begin);
void scan_part_free(struct scan_part *part);

/* The exact sum of a bin. */
void scan_bin_sum(const struct scan *scan, size_t bin, struct exact *sum);
/* That of output i of a scatter-add or a matrix product: false where it has no room in *sum. And
 * how many terms it has. */
bool scan_own_sum(const struct scan *scan, size_t i, struct exact *sum);
size_t scan_own_terms(const struct scan *scan, size_t i);

/* Adds outputs begin .. begin+b->count-1; the caller sets all of b but result[], height[] and the
 * estimates. */
void scan_part_add(struct scan_part *part, struct scan_block *b, size_t begin);

/* Counts what differs from the twins and what decreases; b->result is known. */
void scan_part_compare(struct scan_part *part, const struct scan_block *b, size_t begin);

/* Adds the part that comes next. */
void scan_part_merge(struct scan_part *part, const struct scan_part *next);

/* Writes all but the points. `negative`: an element is below 0 or NaN. */
void scan_part_report(const struct scan_part *part, bool negative, struct scan_measure *m);
