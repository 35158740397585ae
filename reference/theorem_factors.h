/* What each theorem says in numbers, for theorem.c's table. Private to reference/.
 *
 * Of elements that are added as they are, with S their sum and A = sum|x|, each theorem says
 * |error| <= of_sum |S| + of_abs A + constant. */
#ifndef ULPSCOPE_THEOREM_FACTORS_H
#define ULPSCOPE_THEOREM_FACTORS_H

#include "reference/theorem.h"

/* Room for a product of sum|x| (2176 bits), n and u without rounding. */
enum { THEOREM_PRECISION = 2560 };

struct theorem_factors {
    mpfr_t of_sum, of_abs, constant; /* 0 unless set; rounded up */
};

/* Sets the factors for additions in `f`. Returns false where the theorem says nothing. */
typedef bool theorem_says(struct theorem_factors *to, const struct theorem *t,
                          const struct reference *r, enum format f);

/* As theorem_bound, of what is no sum. */
typedef bool theorem_of_value(mpfr_t bound, const struct theorem *t, const struct reference *r,
                              enum format storage, enum format accumulator);

/* Adds what rounding the value v may change, of a result that errs by `error` before: u (|v| +
 * error) or, if that is more, eta/2. */
void theorem_last_rounding(mpfr_t error, const struct reference *r, enum format accumulator);

/* Sets `to` to gamma_k = ku/(1-ku), rounded up. Returns false where that says nothing, ku >= 1. */
bool theorem_gamma(mpfr_t to, size_t k, double u);

theorem_says theorem_any_order, theorem_tree, theorem_compensated, theorem_kahan, theorem_k_fold,
    theorem_double_word, theorem_blocked;
theorem_of_value theorem_norm;

#endif
