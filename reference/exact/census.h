/* A census of an array: zeros, subnormals, infinities, NaNs, and the range of the other elements.
 */
#pragma once

#include "reference/format/array.h"

struct census {
    size_t zeros, subnormals, infs, nans; /* subnormal in the array's own format */
    double smallest, largest; /* magnitudes of the finite elements; zeros do not count for
                                 smallest; 0 where there is none */
};

/* Adds elements begin .. begin+count-1 to a census that began as {0}. */
void census_add(struct census *c, const struct array *a, size_t begin, size_t count);

/* The census of at most CENSUS_BLOCK elements, in whose counters of 16 bits it does not overflow.
 * Magnitudes are encodings: the smallest of all but zeros, at least that of inf where there is no
 * such number; the largest of finite ones. */
enum { CENSUS_BLOCK = 4096 };
struct census_tally {
    uint64_t zeros, subnormals, infs, nans;
    uint64_t smallest, largest;
};

/* The loops, compiled for several instruction sets. The first is the fastest that is available
 * somewhere, the last is available everywhere. */
struct census_variant {
    const char *name;
    bool (*available)(void); /* on this machine */
    struct census_tally (*tally)(const struct array *a, size_t begin, size_t count);
};
extern const struct census_variant census_variant[];
extern const size_t census_variants;

/* census_add by that variant. */
void census_add_by(const struct census_variant *v, struct census *c, const struct array *a,
                   size_t begin, size_t count);
