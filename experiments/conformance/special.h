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
    "--special runs the subject on special inputs instead: signed zeros, infinities, NaN, "        \
    "subnormals, overflow at the end or on the way, each power of two alone and cancelled, "       \
    "sparse and short inputs, edges of tiles, factors of products; for statistics of rows "        \
    "also masked and equal elements, large means and scores, squares that overflow. A result "     \
    "that no order of rounded additions can give is an error (a method that does more than "       \
    "add must meet its theorem, an extremum must be exact, a statistic of a row must treat "       \
    "NaN and infinities as documented and meet its theorem). It is printed with the smallest "     \
    "input found that shows it, and with the command that reproduces it; exit status 1. For "      \
    "a matrix product all elements of D are sums of the same products and C, which is the "        \
    "last term; --chip names a model's. --data tries one input of yours; --seconds bounds "        \
    "the time, and the report says how many inputs were left out; --out keeps the inputs "         \
    "found, and special.csv."
