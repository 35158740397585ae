/* The theorems of means, with their proofs. A = sum|x| / n, X = max|x|; n and k are whole numbers,
 * not rounded to any format.
 *
 * By division: |T - sum x| <= d of the computed sum T by THEOREM_TREE, so T / n errs by d / n; then
 * it is rounded.
 *
 * As it runs: m_1 = x_1; from a = x_k - m the next one is m' = m + fl(fl(a) / k), rounded. M is the
 * exact mean of the first k elements, e = m' - M.
 *
 * - |m'| <= X. fl(a) / k is at most fl(a) / 2 in magnitude, and so is, rounded, no more than a:
 * fl(a)
 *   <= (1+u) |a|, where half of it is a normal number; below that, a is a multiple of eta so small
 *   that it was not rounded, and rounding a / 2 does not lead beyond it. So m + fl(fl(a) / k) lies
 *   between m and x_k, which are numbers of the format, and rounding leaves it there.
 * - The quotient is a / k but for (2u + u^2) |a| / k + eta/2, and the addition rounds what lies
 *   between m and x_k: by u X at most. Without these errors, k M' = (k-1) M + x_k says
 *   k e_k = (k-1) e_(k-1); so k |e_k| <= (k-1) |e_(k-1)| + (2u + u^2) |a| + k (eta/2 + u X).
 * - |a| <= |x_k| + X. Added up for k = 2 .. n and divided by n:
 *   |e_n| <= (2u + u^2) (A + X) + (n+1)/2 (u X + eta/2), for every n u.
 *
 * Elements that the accumulator does not hold are rounded first, by c = u |x| + eta/2: the mean
 * changes by u A + eta/2, and A and X are no more than that larger. */
#include "reference/theorem/factors.h"

bool theorem_mean(mpfr_t bound, const struct theorem *t, const struct reference *r,
                  enum format storage, enum format accumulator)
{
    struct reference sums = *r; /* nothing is freed of it */
    struct theorem tree = *t;
    mpfr_t error;
    sums.of = EXACT_SUM;
    sums.sum[0] = r->moment.sum[0];
    sums.sum_abs[0] = r->moment.sum_abs[0];
    tree.kind = THEOREM_TREE;
    tree.product = PRODUCT_NONE;
    mpfr_init2(error, THEOREM_PRECISION);
    bool says = theorem_bound(error, &tree, &sums, storage, accumulator);
    if (says) {
        mpfr_div_ui(error, error, r->n, MPFR_RNDU);
        theorem_last_rounding(error, r, accumulator);
        mpfr_set(bound, error, MPFR_RNDU);
    }
    mpfr_clear(error);
    return says;
}

/* Sets `to` to (2u + u^2) (mean_abs + largest) + (n+1)/2 (u largest + eta/2). */
void theorem_running(mpfr_t to, size_t n, const mpfr_t mean_abs, const mpfr_t largest,
                     enum format f)
{
    mpfr_t step, u;
    mpfr_inits2(THEOREM_PRECISION, step, u, (mpfr_ptr)0);
    mpfr_set_d(u, format_facts[f].unit_roundoff, MPFR_RNDU);
    theorem_half_smallest(to, f);
    mpfr_mul(step, largest, u, MPFR_RNDU);
    mpfr_add(to, to, step, MPFR_RNDU);
    mpfr_mul_ui(to, to, n, MPFR_RNDU);
    mpfr_add(to, to, step, MPFR_RNDU);
    theorem_half_smallest(step, f);
    mpfr_add(to, to, step, MPFR_RNDU);
    mpfr_div_2ui(to, to, 1, MPFR_RNDU);
    mpfr_add(step, mean_abs, largest, MPFR_RNDU);
    theorem_growth(u, 2, u); /* 2u + u^2, which is no double where u is fp64's */
    mpfr_fma(to, step, u, to, MPFR_RNDU);
    mpfr_clears(step, u, (mpfr_ptr)0);
}

bool theorem_running_mean(mpfr_t bound, const struct theorem *t, const struct reference *r,
                          enum format storage, enum format accumulator)
{
    (void)t;
    mpfr_t error, change, mean_abs, largest;
    mpfr_inits2(THEOREM_PRECISION, error, change, mean_abs, largest, (mpfr_ptr)0);
    mpfr_set_d(largest, r->largest, MPFR_RNDU);
    theorem_element(change, largest, storage, accumulator);
    mpfr_add(largest, largest, change, MPFR_RNDU);
    theorem_element(change, r->sum_abs, storage, accumulator);
    mpfr_add(mean_abs, r->sum_abs, change, MPFR_RNDU);
    theorem_running(error, r->n, mean_abs, largest, accumulator);
    mpfr_add(bound, error, change, MPFR_RNDU);
    mpfr_clears(error, change, mean_abs, largest, (mpfr_ptr)0);
    return true;
}
