/* An exact sum under way: a state that merges with others, of other threads, devices, machines or
 * days, in any tree over any partition. It is a superaccumulator (reference/exact/exact.h) and a
 * count.
 *
 *     struct exact_state s;
 *     exact_state_init(&s);
 *     exact_state_add(&s, &array, 0, array.n);
 *     double sum = exact_state_finish(&s, FP32);
 *
 * It is a function of the multiset of elements, whatever their formats: equal multisets give equal
 * bytes. */
#pragma once

#include "reference/exact/exact.h"
#include "reference/base/problem.h"

struct exact_state {
    struct exact sum;
    uint64_t terms; /* elements added; below 2^63 */
};

/* A state of no elements. */
void exact_state_init(struct exact_state *s);

/* Adds elements begin .. begin+count-1 of an array of any format. */
void exact_state_add(struct exact_state *s, const struct array *a, size_t begin, size_t count);

/* Adds all that `from` holds. STATUS_DATA where there would be 2^63 elements; `to` is as it was
 * then. */
enum status exact_state_merge(struct exact_state *to, const struct exact_state *from,
                              struct problem *p);

/* The exact sum rounded once to f; NaN, infinities and zeros as exact.h says. */
double exact_state_finish(const struct exact_state *s, enum format f);

/* --- as bytes ---
 *
 * The same on every machine; integers are little-endian.
 *
 *     offset  bytes
 *          0      4  75 6c 70 65 ("ulpe")
 *          4      1  the layout's version, 1
 *          5      1  flags: 1 NaN, 2 +inf, 4 -inf, 8 an element other than -0
 *          6      2  0
 *          8      8  elements
 *         16    272  the sum of the positive finite elements, in units of 2^-1074
 *        288    272  minus the sum of the negative ones, in the same units
 */
enum { EXACT_STATE_BYTES = 16 + 2 * 8 * FIXED_LIMBS };

void exact_state_write(const struct exact_state *s, unsigned char bytes[EXACT_STATE_BYTES]);

/* STATUS_DATA, with the byte and what was expected there, where these are no state that elements
 * could have led to as far as that can be seen; *s is undefined then. */
enum status exact_state_read(struct exact_state *s, const void *bytes, size_t size,
                             struct problem *p);
