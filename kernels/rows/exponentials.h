/* Sums of exponentials exp(x - m), m = max x, in the accumulator's format: the denominator of
 * softmax. Each element is rounded to the format first; exp is correctly rounded to it
 * (reference/exact/elementary.h), and so is every other operation.
 *
 * An element of -inf, a masked one, has the exponential +0. Of a row of -inf alone, or with +inf or
 * NaN, m - m is NaN, and so is the sum. */
#pragma once

/* They are the order: a block of the one, the parts of the other. Included by CUDA, too. */
enum { EXPONENTIALS_BLOCK = 128, EXPONENTIALS_PARTS = 8 };

#ifndef __cplusplus
#include "kernels/method/method.h"
#include "kernels/rows/rows.h"
#include "kernels/scatter/bins.h"

struct exponentials {
    double max, sum; /* -inf and +0 of nothing */
};

/* The orders in which a row is summed; values of f. A row of no elements has none. */
typedef enum status exponentials_order(const double *x, size_t n, enum format f,
                                       struct exponentials *e, struct problem *p);

/* Two passes: the greatest element, then the exponentials one after the other; or in the order of
 * sum/tiled. */
exponentials_order exponentials_serial, exponentials_tiled;

/* One pass, element by element: a larger one, x > m, makes the sum s exp(m - x) + exp(0), others
 * add exp(x - m) to it. */
exponentials_order exponentials_online;

/* One pass, block by block, as FlashAttention does it: of every BLOCK elements, the greatest of
 * them and of those before is m'; their exponentials exp(x - m') are added one after the other,
 * from the left, and that to s exp(m - m'). */
exponentials_order exponentials_flash;

/* In PARTS parts of ceil(n / PARTS) elements, as decoding over split keys does it: each as
 * exponentials_serial; then s_1 exp(m_1 - m) + s_2 exp(m_2 - m) + ..., from the left. */
exponentials_order exponentials_split;

/* exp(x - m) of an element, rounded three times. */
double exponentials_of(enum format f, double x, double max);

/* Members of a descriptor: how many roundings, at most, are on the way from an exponential to the
 * sum, for a row of so many elements; and the same as `height` of an array of so many. */
#define EXPONENTIALS_HEIGHTS(order)                                                                \
    size_t exponentials_##order##_bin(const size_t *element, size_t terms, size_t n, size_t bins); \
    size_t exponentials_##order##_height(size_t n, struct shape shape)
EXPONENTIALS_HEIGHTS(serial);
EXPONENTIALS_HEIGHTS(tiled);
EXPONENTIALS_HEIGHTS(online);
EXPONENTIALS_HEIGHTS(flash);
EXPONENTIALS_HEIGHTS(split);

/* The five methods of an operation, OPERATION/serial and so on, from what it makes of a row:
 * row(order, x, n, f, y, p). */
#define EXPONENTIALS_METHOD(its_operation, its_order, its_summary, theorem)                        \
    static enum status row_##its_order(const double *x, size_t n, enum format f, double *y,        \
                                       struct problem *p)                                          \
    {                                                                                              \
        return row(exponentials_##its_order, x, n, f, y, p);                                       \
    }                                                                                              \
    ROWS_METHOD(its_operation, its_order, its_summary, theorem, exponentials_##its_order##_height, \
                exponentials_##its_order##_bin)
#define EXPONENTIALS_METHODS(its_operation)                                                        \
    EXPONENTIALS_METHOD(its_operation, serial,                                                     \
                        "the greatest first, then exponentials one after the other: two passes",   \
                        THEOREM_EXPONENTIALS)                                                      \
    EXPONENTIALS_METHOD(its_operation, tiled,                                                      \
                        "the greatest first, then exponentials in sum/tiled's order: two passes",  \
                        THEOREM_EXPONENTIALS)                                                      \
    EXPONENTIALS_METHOD(its_operation, online,                                                     \
                        "one pass, the sum rescaled at each greater element", THEOREM_RESCALED)    \
    EXPONENTIALS_METHOD(its_operation, flash,                                                      \
                        "one pass, the sum rescaled at each block of 128, as FlashAttention does", \
                        THEOREM_RESCALED)                                                          \
    EXPONENTIALS_METHOD(its_operation, split,                                                      \
                        "8 parts of each row in two passes each, then put together",               \
                        THEOREM_RESCALED)
#endif
