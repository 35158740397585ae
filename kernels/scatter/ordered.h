/* The order of scatter/ordered. */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* They are the order: another value is another method. */
enum { ORDERED_ROW = 32, ORDERED_ROWS = 32, ORDERED_PIECES = 4096, ORDERED_BINS = 4096 };

/* Elements of a piece of an array of n: a multiple of ORDERED_ROW * ORDERED_ROWS. */
size_t ordered_piece(size_t n);

#ifdef __cplusplus
}
#endif
