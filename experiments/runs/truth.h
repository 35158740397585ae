/* What the cases of one source share: its reference, as rows have it, and fixed-order results. */
#pragma once

#include "kernels/method/method.h"
#include "reference/measure/measure.h"
#include "reports/text/text.h"

/* Elements up to which references are held to MPFR's unasked. */
enum { TRUTH_ALWAYS_CHECKED = 1 << 16 };

struct truth {
    enum exact_value of;
    struct reference reference;
    struct text exact;       /* the columns exact and exact_hex */
    struct figure cond_log2; /* not known where the sum is not finite or there is none */
    bool tried[FORMATS];
    struct figure fixed[FORMATS]; /* s_fixed, by accumulator */
};

/* Computes the reference. Up to 2^16 elements, the fast one is held to MPFR: a difference is
 * STATUS_FAILED, and no figure of this build may be trusted. truth_free is due on success. */
enum status truth_make(struct truth *t, const char *name, const struct array *a,
                       enum reference_kind kind, struct problem *p);
/* The same of an exact value of another kind, and of two arrays (b else NULL). */
enum status truth_make_of(struct truth *t, const char *name, enum exact_value of,
                          const struct array *a, const struct array *b, enum reference_kind kind,
                          struct problem *p);
void truth_free(struct truth *t);

/* Holds the reference to MPFR's: STATUS_FAILED where they differ. */
enum status truth_check(const struct truth *t, const char *name, const struct array *a,
                        struct problem *p);

/* s_fixed of an operation with one result: that of its method of a fixed order (`fixed`) on the
 * CPU, computed when first asked for; not known where it cannot be had. b: NULL, or the second
 * array. */
struct figure truth_fixed(struct truth *t, const struct operation *operation, const struct array *a,
                          const struct array *b, enum format accumulator);
