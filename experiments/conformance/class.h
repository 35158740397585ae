/* Special inputs, by class: what sums get wrong where they do. */
#pragma once

#include "experiments/options/options.h"
#include "reference/format/array.h"

/* What the inputs of a class depend on. */
struct conformance_setting {
    enum format storage, accumulator;
    size_t n;
    uint64_t seed;
    bool pairs;   /* of two arrays, for dot products */
    bool factors; /* for products of all elements */
    bool rows;    /* for statistics of a row */
};

struct special_class {
    const char *name;
    const char *summary;                                  /* one line */
    size_t (*cases)(const struct conformance_setting *s); /* may be 0 */
    /* Writes the n elements of case k. `to` holds +0 everywhere. */
    void (*fill)(const struct conformance_setting *s, size_t k, const struct array *to);
    /* Writes both arrays; NULL: special_fill_pair does, by `fill`. */
    void (*fill_pair)(const struct conformance_setting *s, size_t k, const struct array *x,
                      const struct array *y);
};
enum { SPECIAL_CLASSES = 19 };
extern const struct special_class *const special_class[SPECIAL_CLASSES];

/* Writes both arrays of case k, which hold +0 everywhere: what the class gives one array stands in
 * one of them, or is spread over both; which, differs from case to case. */
void special_fill_pair(const struct special_class *class, const struct conformance_setting *s,
                       size_t k, const struct array *x, const struct array *y);

/* The lengths that they are tried at, ascending: 0, 1, 2, 3, and around the edges of tiles. */
enum { SPECIAL_LENGTHS = 22 };
extern const size_t special_length[SPECIAL_LENGTHS];
/* Rows are no longer than this: their exact values take long. */
enum { SPECIAL_ROW_LENGTH = 1025 };

/* --- what the files class*.c share --- */

void special_put(const struct array *to, size_t i, double x);

/* Place k of `places` <= n, spread over the array from the first element to the last. */
size_t special_place(size_t n, size_t k, size_t places);

/* A draw of 64 bits for case k and element i of a class. */
uint64_t special_draw(const struct conformance_setting *s, size_t k, size_t i);

/* The largest number that both formats hold, and the smallest. */
double special_top(const struct conformance_setting *s);
double special_bottom(const struct conformance_setting *s);

extern const struct special_class special_zeros, special_inf, special_infs, special_nan,
    special_subnormal, special_overflow, special_way, special_power, special_pair, special_sparse,
    special_short, special_edge, special_product, special_factors, special_masked, special_equal,
    special_mean, special_squares, special_scores;
