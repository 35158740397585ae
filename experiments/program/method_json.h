/* A method as JSON: what `list methods --json` and `serve --describe` print. */
#pragma once

#include <jansson.h>

#include "kernels/method/method.h"

/* NULL when memory is short. */
json_t *method_json(const struct method *m);
