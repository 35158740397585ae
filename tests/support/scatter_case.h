/* A case of a scatter-add that is run on the CPU, for the checks of scatters.h. */
#pragma once

#include "tests/support/scatters.h"

enum { SCATTER_MOST = 5000, SCATTER_BINS = 1 << 20 };

struct scatter {
    const struct method *method;
    struct array in; /* data of SCATTER_MOST doubles */
    enum format accumulator;
    size_t bins;
    uint32_t key[SCATTER_MOST];
    struct shape shape;
    struct array out; /* data of SCATTER_BINS doubles */
};

struct scatter *scatter_new(const struct method *m);
/* Returns `fine`. */
bool scatter_free(struct scatter *s, bool fine);

/* Takes the shape that a run has where none is asked for. */
void scatter_shape(struct scatter *s);

/* false, and `why` says what is wrong with this bin. */
bool scatter_failed(const struct scatter *s, char why[WHY], size_t bin, const char *what);

/* Runs the method once; false where it cannot be run. */
bool scatter_run(struct scatter *s, char why[WHY]);

/* Calls visit for each bin with elements, once, with these and their places, and holds all others
 * to +0. */
bool scatter_each_bin(struct scatter *s, char why[WHY],
                      bool (*visit)(struct scatter *s, size_t bin, const double *x,
                                    const size_t *index, size_t count, char why[WHY]));

/* Does the bin hold what is due, which may be a NaN? */
bool scatter_is(const struct scatter *s, size_t bin, double due, char why[WHY]);
