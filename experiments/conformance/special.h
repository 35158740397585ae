/* `check METHOD --special`: conformance on special inputs. */
#pragma once

#include "experiments/options/options.h"

/* The operands are methods, or --all; options --device --storage --accumulator --threads --blocks
 * --seed, --scan --segment --product, --data FILE for one input of the user's (of a dot product x
 * first, then y), --seconds for each subject,
 * --json, --out DIR. Prints what it found; STATUS_FAILED where a result is impossible. Interrupted,
 * it prints what it found so far: STATUS_INTERRUPTED. */
enum status conformance_check(const struct arguments *a, struct problem *p);

/* A paragraph for --help. */
#define SPECIAL_DETAILS                                                                            \
    "--special runs the subject on special inputs instead: signed zeros, infinities, NaN,\n"       \
    "subnormals, what overflows at the end or on the way, each power of two alone and "            \
    "cancelled,\n"                                                                                 \
    "sparse and short inputs, edges of tiles; of products of all elements, factors too. A "        \
    "result\n"                                                                                     \
    "that no order of rounded additions gives (of a method that does more than add: that its\n"    \
    "theorem excludes; of an extremum: another) is told with the smallest input found that\n"      \
    "shows it, and the command that shows it again; exit status 1. --data tries one input of\n"    \
    "yours; --seconds bounds the time, and says how many inputs it left out; --out keeps the\n"    \
    "inputs found, and special.csv."
