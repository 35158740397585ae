/* A method as JSON: what `list methods --json` and `serve --describe` print. */
#ifndef ULPSCOPE_PROGRAM_METHOD_JSON_H
#define ULPSCOPE_PROGRAM_METHOD_JSON_H

#include <jansson.h>

#include "kernels/method/method.h"

/* NULL when memory is short. */
json_t *method_json(const struct method *m);

#endif
