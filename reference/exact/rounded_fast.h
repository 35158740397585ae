/* The loops of rounded_sum, each compiled for several instruction sets. */
#pragma once

#include "reference/format/array.h"

/* The most elements that one call takes. */
enum { ROUNDED_MOST = 1 << 18 };

/* sum + the errors of all additions is exact; they were added to `errors`, their magnitudes to
 * `sizes`, each through at most ROUNDED_DEPTH roundings. Where an element is not finite or an
 * addition overflowed, sizes is NaN. */
struct estimate {
    double sum, errors, sizes;
};
enum { ROUNDED_LANES = 32, ROUNDED_DEPTH = ROUNDED_MOST / ROUNDED_LANES + 2 * ROUNDED_LANES + 1 };

/* Adds x, and what it lost. */
static inline void estimate_add(struct estimate *e, double x)
{
    double sum = e->sum + x, part = sum - e->sum, lost = (e->sum - (sum - part)) + (x - part);
    e->sum = sum;
    e->errors += lost;
    e->sizes += __builtin_fabs(lost);
}

struct rounded_variant {
    const char *name;
    bool (*available)(void); /* on this machine */

    /* Estimates the sum of elements begin .. begin+count-1, in formats other than fp16. The sum of
     * negative zeros is -0. */
    void (*estimate)(const struct array *a, size_t begin, size_t count, struct estimate *e);

    /* The sum of elements of fp16 in units of 2^-24; *plain: one of them is not -0. Returns false
     * where one is inf or NaN: the sum is undefined then. NULL where the superaccumulator is
     * faster. */
    bool (*units)(const struct array *a, size_t begin, size_t count, int64_t *sum, bool *plain);
};

/* The first is the fastest that is available somewhere, the last is available everywhere. */
extern const struct rounded_variant rounded_variant[];
extern const size_t rounded_variants;
const struct rounded_variant *rounded_fastest(void); /* that of this machine */

/* rounded_sum by that variant. */
double rounded_sum_by(const struct rounded_variant *v, const struct array *a, enum format f,
                      unsigned threads);
