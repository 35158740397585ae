/* ulpscope reveal of a matrix product: what any subject computes, from its outputs alone. */
#pragma once

#include <jansson.h>

#include "experiments/program/verbs.h"
#include "kernels/method/method.h"

/* STATUS_USAGE where an option is one of matrix products alone, and the method, "reveal" or that of
 * an option, is none. */
enum status reveal_no_product(const struct arguments *a, const struct method *m, struct problem *p);

/* STATUS_FAILED where there is no order, it is not that of the model, or not that of --against. */
enum status reveal_products(const struct arguments *a, const struct method *m, struct problem *p);

/* Prints what is found on one line, and frees it. STATUS_DATA where it cannot be written. */
enum status reveal_print_json(json_t *json, struct problem *p);
