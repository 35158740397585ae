/* Bounds on the absolute error of a sum, as theorems give them.
 *
 * A method names its theorem; the numbers that it needs come from the case. All
 * bounds presuppose that no sum overflows, and hold with gradual underflow
 * (an addition that underflows is exact). */
#pragma once

#include <mpfr.h>

#include "reference/exact/reference.h"
#include "reference/theorem/name.h"

/* Sets `bound` (initialised, its precision kept, rounded up) for an input in format `storage`
 * accumulated in `accumulator`. Each element is first rounded to the accumulator; where the
 * storage holds values that it does not, the bound carries that rounding too:
 * u A + n eta/2 for it, and A + that in place of A for the additions (eta = smallest subnormal).
 * THEOREM_WIDENED's elements are rounded to the wider format instead, by the same rule,
 * THEOREM_CORRECTLY_ROUNDED's and THEOREM_BINNED's are not.
 * A dot product's terms are products, which are rounded by t->product: u A + n eta/2 too, but
 * without u A where the accumulator has twice the storage's digits, and without n eta/2 where its
 * exponents reach twice as low. With n - 1 additions that is the gamma_n A of textbooks (Higham
 * 2002, 3.1; Jeannerod and Rump 2013: n u A), and with fused ones too. PRODUCT_EXACT's are kept in
 * two words, which is exact but for n eta/2 where the lower one may underflow. Returns false where
 * there is no bound: with THEOREM_NONE; the input holds an inf or NaN; or 2hu
 * >= 1 and it is THEOREM_COMPENSATED's (hu >= 1 with h = plain_height, or 2hu >= 1 with h = height
 * - plain_height, and it is THEOREM_BLOCKED's). */
/* What rounding a term, an element as it is stored or a product of two, to the accumulator may
 * change, in that range: `relative` times it, and `absolute` more (which is no less than eta/2). */
struct conversion theorem_conversion(enum product_kind product, enum format storage,
                                     enum format accumulator);

bool theorem_bound(mpfr_t bound, const struct theorem *t, const struct reference *r,
                   enum format storage, enum format accumulator);

/* Can nothing overflow, on the way or in the end, in whatever order the result is computed, where
 * numbers up to `most` are in range? False where that is not known: where the theorem has no bound,
 * or the input holds an inf or NaN, or where A and the bound together exceed `most`. */
bool theorem_in_range(const struct theorem *t, const struct reference *r, enum format storage,
                      enum format accumulator, double most);

/* What the bounds of one row's elements have in common, kept from the rows that were asked about
 * last, as computing it takes most of their time. For one thread. NULL when memory is short, which
 * is fine. */
struct theorem_memo *theorem_memo_new(void);
void theorem_memo_free(struct theorem_memo *m); /* NULL is fine */
