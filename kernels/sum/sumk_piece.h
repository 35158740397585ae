/* The rule of sum/sumk, sum/sumk4 and sum/sumk5: pieces of K words. */
#ifndef ULPSCOPE_SUMK_PIECE_H
#define ULPSCOPE_SUMK_PIECE_H

#include "kernels/sum/pieces.h"

/* The CPU side of each, with its K. */
enum status sumk_sum(unsigned folds, const struct task *t, struct problem *p);

#endif
