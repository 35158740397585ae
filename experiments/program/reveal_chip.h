/* ulpscope reveal CHIP/UNIT: what a model of a matrix instruction computes, from its outputs alone.
 */
#pragma once

#include "experiments/program/verbs.h"

/* Is it the name of a chip's unit, "h100/wgmma"? */
bool reveal_names_chip(const char *operand);

/* STATUS_USAGE where the operand is nearer to the name of a chip's unit than to any method's. */
enum status reveal_near_chip(const char *operand, struct problem *p);

/* STATUS_FAILED where the outputs do not show the rule of the table. */
enum status reveal_chip(const struct arguments *a, const char *operand, struct problem *p);
