/* `check METHOD --special`: conformance on special inputs. */
#ifndef ULPSCOPE_SPECIAL_H
#define ULPSCOPE_SPECIAL_H

#include "experiments/options.h"

/* The operand is the method; options --device --storage --accumulator --threads --blocks --seed,
 * --scan --segment, --data FILE for one input of the user's, --json, --out DIR. Prints what it
 * found; STATUS_FAILED where a result is impossible. */
enum status special_check(const struct arguments *a, struct problem *p);

/* A paragraph for --help. */
extern const char special_details[];

#endif
