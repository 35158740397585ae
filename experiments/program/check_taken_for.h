/* What `check` takes a subject for that does not say which operation it is. */
#pragma once

#include "experiments/operations/operation.h"
#include "experiments/options/options.h"

/* The operation that --operation names or, where it is not given, that reads the options that are;
 * NULL: neither tells. A function of Python may be called as an operation (layernorm): it is that
 * one where it reads all of these options. */
const struct operation *check_taken_for(const struct arguments *a, const struct setting_axes *s,
                                        const char *subject);
