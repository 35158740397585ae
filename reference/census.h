/* What an array holds: zeros, subnormals, infinities, NaNs, and the range of the rest. */
#ifndef ULPSCOPE_CENSUS_H
#define ULPSCOPE_CENSUS_H

#include "reference/array.h"

struct census {
    size_t zeros, subnormals, infs, nans; /* subnormal in the array's own format */
    double smallest, largest; /* magnitudes of the finite elements; zeros do not count for
                                 smallest; 0 where there is none */
};

/* Adds elements begin .. begin+count-1 to a census that began as {0}. */
typedef void census_adder(struct census *c, const struct array *a, size_t begin, size_t count);
census_adder census_add;

/* The same compiled for several instruction sets. The first is the fastest that is available
 * somewhere, the last is available everywhere. */
struct census_variant {
    const char *name;
    bool (*available)(void); /* on this machine */
    census_adder *add;
};
extern const struct census_variant census_variant[];
extern const size_t census_variants;

#endif
