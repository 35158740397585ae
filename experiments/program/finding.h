/* What there is to say of one array: its exact sum, and what a natural order makes of it in each
 * accumulator. */
#pragma once

#include <jansson.h>

#include "kernels/method/method.h"
#include "reference/measure/measure.h"

struct finding {
    const char *name; /* of the file, tensor or input */
    struct array array;
    struct reference reference;
    const struct method *method; /* sum/serial */
    double result[ACCUMULATORS]; /* by accumulator */
    struct measure measure[ACCUMULATORS];
    bool broken;   /* one of them broke its bound */
    bool streamed; /* read block by block: no accumulator was tried */
};

/* name and the array's data are kept, not copied. finding_free is due on success. */
enum status finding_make(struct finding *f, const char *name, const struct array *array,
                         enum reference_kind kind, struct problem *p);
/* Of an array that came block by block: takes the reference, which finding_free frees. */
void finding_streamed(struct finding *f, const char *name, enum format storage,
                      const struct reference *reference);
void finding_free(struct finding *f);

/* An aligned text on standard output. STATUS_MEMORY when memory is short. */
enum status finding_print(const struct finding *f, struct problem *p);

/* As `sum --json` prints it. What JSON has no number for stands as a string ("inf", "nan"; the
 * exact values and all hexadecimal ones), what does not apply as null. NULL when memory is short.
 */
json_t *finding_json(const struct finding *f);
