/* Shared by the methods of transposition. */
#pragma once

/* Rows and columns of a tile: a launch shape's threads have no part in it. */
enum { TRANSPOSE_TILE = 64 };

#ifndef __cplusplus
#include "kernels/method/method.h"

/* Elements move as encodings, so that storage and accumulator are one. */
#define TRANSPOSE_PAIRS FORMAT_PAIRS_SAME

/* Tile by tile, each through a buffer whose rows are `pitch` >= TRANSPOSE_TILE elements apart. */
enum status transpose_tiles(const struct task *t, unsigned pitch, struct problem *p);
#endif
