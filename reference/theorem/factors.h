/* The factors of each theorem, for theorem.c's table.
 *
 * For elements that are added without being rounded first, with sum S and A = sum|x|, each theorem
 * says |error| <= of_sum |S| + of_abs A + constant. */
#pragma once

#include "reference/theorem/theorem.h"

/* Room for a product of sum|x| (2176 bits), n and u without rounding. */
enum { THEOREM_PRECISION = 2560 };

struct theorem_factors {
    enum format storage;
    mpfr_t of_sum, of_abs, constant; /* 0 unless set; rounded up */
};

/* Sets the factors for additions in `f`. Returns false where the theorem says nothing. */
typedef bool theorem_says(struct theorem_factors *to, const struct theorem *t,
                          const struct reference *r, enum format f);

/* As theorem_bound, of what is no sum. */
typedef bool theorem_of_value(mpfr_t bound, const struct theorem *t, const struct reference *r,
                              enum format storage, enum format accumulator);

/* Adds what rounding the value v may change, of a result that errs by `error` before: u (|v| +
 * error) or, if that is more, eta/2; of a 0 without error nothing. */
void theorem_last_rounding(mpfr_t error, const struct reference *r, enum format accumulator);

/* Sets `to` to (1+v)^k - 1, rounded up, v >= 0. */
void theorem_growth(mpfr_t to, size_t k, const mpfr_t v);

/* Sets `to` to eta/2, half the smallest subnormal of f. */
void theorem_half_smallest(mpfr_t to, enum format f);

/* Sets `change` to what rounding elements to the accumulator may change, of one as large as x or of
 * the mean of many whose mean magnitude x is: u x + eta/2, each where it may be
 * (format_conversion). */
void theorem_element(mpfr_t change, const mpfr_t x, enum format storage, enum format accumulator);

/* Sets `to` to what a running mean of n numbers of f may err by: see theorem/mean.c. */
void theorem_running(mpfr_t to, size_t n, const mpfr_t mean_abs, const mpfr_t largest,
                     enum format f);

/* Sets `error` to what THEOREM_MEAN says of n terms whose mean and mean magnitude are these:
 * elements of `storage`, or products of two. r->n and r's figures are those of the terms. */
bool theorem_mean_error(mpfr_t error, const struct theorem *t, const struct reference *r,
                        const mpfr_t mean, const mpfr_t mean_abs, enum product_kind product,
                        enum format storage, enum format accumulator);

/* Sets `to` to what Chan's mean of n elements may err by; r is the reference of their variance. */
void theorem_chan_mean(mpfr_t to, const struct theorem *t, const struct reference *r,
                       enum format storage, enum format accumulator);

/* Sets `to` to gamma_k = ku/(1-ku), rounded up. Returns false where that says nothing, ku >= 1. */
bool theorem_gamma(mpfr_t to, size_t k, double u);

/* Raises of_abs if a sum may come near the largest number, where the errors of additions may be
 * lost: see theorem/accurate.c. `perturbed`: a bound on the error of rounding elements. */
void theorem_lost_errors(struct theorem_factors *to, const struct theorem *t,
                         const struct reference *r, const mpfr_t perturbed, enum format f);

/* Rows of which a memo keeps what their elements' bounds share. Where rows take turns in memory,
 * each element in a row of its own, these are as many as there may be without setting all anew. */
enum { THEOREM_MEMO_ROWS = 64 };

/* What the bounds of sums of exponentials keep of these rows, beside what a memo has of norms. */
struct exponentials_memo *exponentials_memo_new(void); /* NULL when memory is short */
void exponentials_memo_free(struct exponentials_memo *m);
struct exponentials_memo **theorem_memo_exponentials(struct theorem_memo *m);

theorem_says theorem_any_order, theorem_tree, theorem_split, theorem_compensated, theorem_kahan,
    theorem_k_fold, theorem_double_word, theorem_blocked;
theorem_of_value theorem_norm, theorem_scaled_norm, theorem_mean, theorem_running_mean,
    theorem_textbook, theorem_two_pass, theorem_welford, theorem_chan, theorem_exponentials,
    theorem_rescaled;
theorem_of_value theorem_product, theorem_extremum;
/* Of what a method computes on the way: how large that can become. See theorem/range.c. */
theorem_of_value theorem_reach_sum, theorem_reach_value, theorem_reach_norm, theorem_reach_mean,
    theorem_reach_exponentials;
theorem_of_value theorem_rmsnorm, theorem_layernorm_textbook, theorem_layernorm_two_pass,
    theorem_layernorm_welford, theorem_layernorm_chan;
