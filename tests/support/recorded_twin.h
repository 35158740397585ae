/* What the CPU twin gives for the case that a row of a recorded file belongs to. */
#pragma once

#include "experiments/inputs/input.h"
#include "kernels/method/method.h"
#include "reference/base/hash.h"
#include "reports/csv/file.h"

/* Zero but for `profile`; recorded_twin_free is due. */
struct recorded_twin {
    bool profile; /* the file is a profile.csv, else a results.csv */
    enum twin_answer {
        TWIN_FOUND,
        TWIN_NO_PROMISE, /* or no CPU side */
        TWIN_TOO_LARGE   /* or long, and like others that are tried */
    } answer;            /* for the case at hand */
    char id[64];         /* which that is */
    const struct method *method;
    struct array out;      /* its outputs, where found */
    struct hash128 digest; /* of these, as a run's (kernels/gpu/gpu.h) */

    size_t added;               /* elements */
    char input[INPUT_TEXT];     /* the input at hand: specification or data, storage, n, seed */
    struct array array, second; /* of dot products behind the first, in one piece of memory */
};

/* Makes the row's case the one at hand. Rows of one case, and cases of one input, follow each
 * other. *fresh: it is another case than before. */
enum status recorded_twin(struct recorded_twin *t, const struct csv_row *row, bool *fresh,
                          struct problem *p);
void recorded_twin_free(struct recorded_twin *t);

/* A column of the case. */
const char *recorded_field(const struct recorded_twin *t, const struct csv_row *row,
                           enum case_column column);
