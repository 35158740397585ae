/* minimum/serial and so on: one element after the other.
 *
 * Order: left to right; an element takes the place of the one found so far where its rank is less
 * (kernels/extremum/extremum.h). */
#include "kernels/extremum/extremum.h"

#define METHOD(sought, promised, accumulators)                                                     \
    EXTREMUM_METHOD(sought, serial, promised, accumulators,                                        \
                    reduce_serial(&sought##_reduction, t, p),                                      \
                    "one element after the other; of equals the first stays", .resolve = NULL)
EXTREMA(METHOD)
