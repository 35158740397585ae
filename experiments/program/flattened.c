#include "experiments/program/flattened.h"

#include <stdio.h>

void flattened_say(const char *verb, const struct operation *o, const char *name, size_t rows,
                   size_t n)
{
    if (rows > 1 && n > rows && operation_flattens(o))
        fprintf(stderr,
                "ulpscope: %s: %s is a matrix of %zu x %zu: its %zu elements are taken as one "
                "array; run rows and run rowstats take its rows\n",
                verb, name, rows, n / rows, n);
}
