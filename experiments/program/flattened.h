/* A matrix of which an operation on arrays takes all elements as one array. */
#pragma once

#include "experiments/operations/operation.h"

/* Says so on standard error, where the operation heeds no rows and there are several; else nothing.
 */
void flattened_say(const char *verb, const struct operation *o, const char *name, size_t rows,
                   size_t n);
