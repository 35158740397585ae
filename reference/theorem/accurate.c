/* The theorems of sums that carry their errors along, with their proofs.
 *
 * u is the unit roundoff, h the tree's height, S the sum of the elements and A = sum|x|. An
 * addition that underflows is exact, and TwoSum finds its error then too, so that none of them asks
 * for more than that nothing overflows, within TwoSum either: see theorem_lost_errors. In a tree of
 * rounded additions, the sum of a subtree of height k is at most (1+u)^k times its magnitudes, and
 * one addition errs by at most u times its exact result. So all errors together are at most
 * ((1+u)^h - 1) A <= gamma_h A: an element counts at the additions on its way up, u (1+u)^(k-1) at
 * a height of k. */
#include "reference/theorem/factors.h"

/* x becomes (1+u) x. */
static void enlarge(mpfr_t x, double u)
{
    mpfr_t part;
    mpfr_init2(part, THEOREM_PRECISION);
    mpfr_mul_d(part, x, u, MPFR_RNDU);
    mpfr_add(x, x, part, MPFR_RNDU);
    mpfr_clear(part);
}

/* (1+u) gamma_2h gamma_h. The errors, gamma_h A at most together, are added up on paths of at most
 * 2h additions, which loses gamma_2h of that. The last addition rounds what they leave of S, and S:
 * by u. */
static bool pairs_of_height(mpfr_t to, size_t height, double u)
{
    mpfr_t gamma;
    mpfr_init2(gamma, THEOREM_PRECISION);
    bool says = theorem_gamma(to, 2 * height, u) && theorem_gamma(gamma, height, u);
    if (says) {
        mpfr_mul(to, to, gamma, MPFR_RNDU);
        enlarge(to, u);
    }
    mpfr_clear(gamma);
    return says;
}

/* A product kept as p + e brings an error with it, at most u of it, which is joined in as the
 * errors of additions are: as if a first addition had made it. */
bool theorem_compensated(struct theorem_factors *to, const struct theorem *t,
                         const struct reference *r, enum format f)
{
    (void)r;
    double u = format_facts[f].unit_roundoff;
    mpfr_set_d(to->of_sum, u, MPFR_RNDU);
    return pairs_of_height(to->of_abs, t->height + (t->product == PRODUCT_EXACT), u);
}

/* (1+u) gamma_b + (1+u) gamma_2k gamma_k (1 + gamma_b), b the height of the blocks, k = h - b. The
 * blocks' sums add up to S but for gamma_b A, their magnitudes to at most (1 + gamma_b) A; to them
 * THEOREM_COMPENSATED applies. */
bool theorem_blocked(struct theorem_factors *to, const struct theorem *t, const struct reference *r,
                     enum format f)
{
    (void)r;
    double u = format_facts[f].unit_roundoff;
    size_t plain = t->height < t->plain_height ? t->height : t->plain_height;
    mpfr_t above, gamma;
    mpfr_init2(above, THEOREM_PRECISION);
    mpfr_init2(gamma, THEOREM_PRECISION);
    bool says = theorem_gamma(gamma, plain, u) && pairs_of_height(above, t->height - plain, u);
    if (says) {
        mpfr_fma(above, above, gamma, above, MPFR_RNDU);
        enlarge(gamma, u);
        mpfr_add(to->of_abs, gamma, above, MPFR_RNDU);
        mpfr_set_d(to->of_sum, u, MPFR_RNDU);
    }
    mpfr_clears(above, gamma, (mpfr_ptr)0);
    return says;
}

/* (1+u) w (1 + u (1+5u)^h h(h+5)/2), w = 2u + 4u^2; u <= 1/6.
 *
 * A step adds x to (s, c): y = x + c + n, s' = s + y - d, z = s' - s + m and c' = y - z, where n, d
 * and m are what is rounded and y - z is exact. For where |s| >= |y|, so is z: m = 0 (Dekker). And
 * where |s| < |y|, |d| <= 2u |y| and |m| <= u |s' - s| <= u (1+2u) |y|, so that y and z are too
 * near each other for their difference to be rounded (Sterbenz).
 *
 * So c' = d - m and s' + c' = s + c + x + n - m. With |n| <= u (|x| + |c|) and
 * |y| <= (1+u) (|x| + |c|), the step loses at most |n| + |m| <= w (|x| + |c|).
 *
 * A join of (s1, c1) and (s2, c2), whose sum loses d, |d| <= u (|s1| + |s2|), loses what
 * c1 + (c2 + d) rounds: at most (2u + u^2) (|c1| + |c2| + |d|).
 *
 * How large is c? At a height of k, with M the magnitudes below, |s| + |c| <= (1+5u)^k M: a step
 * gives |s'| + |c'| <= (1 + 4u + 6u^2) (|s| + |c| + |x|), and a join less. After a step
 * |c'| <= |d| + |m| <= (2u + 5u^2) (|s| + |c| + |x|) <= 3u (1+5u)^(k-1) M; after a join
 * |c| <= (1+u)^2 (|c1| + |c2| + |d|); by induction |c| <= (k+2) u (1+5u)^k M.
 *
 * So an element loses at most w |x|, and all c and d that arrive at a height of k lose at most
 * w (k+2) u (1+5u)^(k-1) A: all in all w A (1 + u (1+5u)^h h(h+5)/2). The last addition rounds
 * that, and S. */
bool theorem_kahan(struct theorem_factors *to, const struct theorem *t, const struct reference *r,
                   enum format f)
{
    (void)r;
    double u = format_facts[f].unit_roundoff;
    mpfr_t part;
    mpfr_init2(part, THEOREM_PRECISION);
    mpfr_set_d(part, 5 * u, MPFR_RNDU);
    mpfr_add_ui(part, part, 1, MPFR_RNDU);
    mpfr_pow_ui(part, part, t->height, MPFR_RNDU);
    mpfr_mul_ui(part, part, t->height, MPFR_RNDU);
    mpfr_mul_ui(part, part, t->height + 5, MPFR_RNDU);
    mpfr_mul_d(part, part, u / 2, MPFR_RNDU);
    mpfr_add_ui(part, part, 1, MPFR_RNDU);
    enlarge(part, 2 * u); /* 2u (1 + 2u) = w */
    mpfr_mul_d(part, part, 2 * u, MPFR_RNDU);
    enlarge(part, u);
    mpfr_set(to->of_abs, part, MPFR_RNDU);
    mpfr_set_d(to->of_sum, u, MPFR_RNDU);
    mpfr_clear(part);
    return true;
}

/* (1+u) ((1+v)^h - 1), v = 3u^2 + 13u^3: each addition of double words errs by at most v times its
 * exact result (Joldes, Muller and Popescu: 2u^2 with an element, 3u^2/(1-4u) of two), and what
 * counts of the last piece is its high word, off by u. */
bool theorem_double_word(struct theorem_factors *to, const struct theorem *t,
                         const struct reference *r, enum format f)
{
    (void)r;
    double u = format_facts[f].unit_roundoff;
    mpfr_t v;
    mpfr_init2(v, THEOREM_PRECISION);
    mpfr_set_d(v, u, MPFR_RNDU);
    mpfr_mul_ui(v, v, 13, MPFR_RNDU);
    mpfr_add_ui(v, v, 3, MPFR_RNDU);
    mpfr_mul_d(v, v, u, MPFR_RNDU);
    mpfr_mul_d(v, v, u, MPFR_RNDU);
    theorem_growth(to->of_abs, t->height, v);
    enlarge(to->of_abs, u);
    mpfr_set_d(to->of_sum, u, MPFR_RNDU);
    mpfr_clear(v);
    return true;
}

/* With g_k = (1+u)^kh - 1 and q = u + u gamma_K: q of |S|, and of A
 *
 * (1+q) g_1 .. g_K + gamma_K^K ((1+g_2) g_1 + (1+g_3) g_1 g_2 + .. + (1+g_K) g_1 .. g_(K-1)).
 *
 * Word k sums what comes to it in a tree in which each join adds at most k times on a path: the
 * partner, and k - 1 errors from above. So that tree is at most kh high, and the errors that it
 * hands down are at most g_k times the magnitudes that come to it. To word 1 come the elements, A;
 * to word k at most g_1 .. g_(k-1) A. All is exact but the additions of the last word, which lose
 * g_K of what comes to it. So the words' sum P is S but for g_1 .. g_K A.
 *
 * What is left is to take P from the words. Let t be the first of them and R the magnitudes of the
 * others, at first at most the bracket above times A. A sweep adds the others, with errors of at
 * most gamma_(K-2) R, and t, with an error of at most u |t'|; t', the new t, is at most |P| + R'.
 * So R' (1-u) <= gamma_(K-2) R + u |P|. After K - 1 sweeps, with v = gamma_(K-2)/(1-u), the others
 * are at most Q = v^(K-1) R + u |P|/((1-u)(1-v)). Adding them up errs by gamma_(K-2) Q, and adding
 * t by u |P + that error|. Both together, u |P| + (1+u) gamma_(K-2) Q, are at most
 * u |P| + gamma_K^K R + gamma_K u |P| for K of 2 to 5 and u <= 2^-8. */
bool theorem_k_fold(struct theorem_factors *to, const struct theorem *t, const struct reference *r,
                    enum format f)
{
    (void)r;
    double u = format_facts[f].unit_roundoff;
    mpfr_t unit, grown, product, others, power;
    mpfr_inits2(THEOREM_PRECISION, unit, grown, product, others, power, (mpfr_ptr)0);
    mpfr_set_d(unit, u, MPFR_RNDU);
    mpfr_set_ui(product, 1, MPFR_RNDU);
    mpfr_set_zero(others, 1);
    for (unsigned k = 1; k <= t->folds; k++) {
        theorem_growth(grown, k * t->height, unit);
        if (k > 1) {
            mpfr_fma(others, product, grown, others, MPFR_RNDU);
            mpfr_add(others, others, product, MPFR_RNDU);
        }
        mpfr_mul(product, product, grown, MPFR_RNDU);
    }
    theorem_gamma(power, t->folds, u);
    mpfr_add_ui(to->of_sum, power, 1, MPFR_RNDU);
    mpfr_mul_d(to->of_sum, to->of_sum, u, MPFR_RNDU);
    mpfr_pow_ui(power, power, t->folds, MPFR_RNDU);
    mpfr_mul(to->of_abs, to->of_sum, product, MPFR_RNDU);
    mpfr_add(to->of_abs, to->of_abs, product, MPFR_RNDU);
    mpfr_fma(to->of_abs, power, others, to->of_abs, MPFR_RNDU);
    mpfr_clears(unit, grown, product, others, power, (mpfr_ptr)0);
    return true;
}

/* Is there a k with (1+u)^k > 2? */
static bool doubles(size_t k, const mpfr_t u)
{
    mpfr_t grown;
    mpfr_init2(grown, THEOREM_PRECISION);
    theorem_growth(grown, k, u);
    bool more = mpfr_cmp_ui(grown, 1) > 0;
    mpfr_clear(grown);
    return more;
}

/* (1+5u)^h - 1 or, where 5hu < 1, 5hu/(1-5hu), if that is more. Where a sum does not overflow,
 * something within its TwoSum does only if an operand is the largest number (Boldo, Graillat and
 * Muller 2017), which takes (1+u)^h A as large, h one more for a rounded product; with
 * (1+u)^h <= 2, 2A. The error is NaN then, and the methods go on without. Sums of pairs and of K
 * words are then the plain sums of the first words, off by (1+u)^h - 1 at most. An addition of
 * double words h + l becomes that of h1 and h2 alone, and loses u |h1 + h2| + |l1| + |l2|, less
 * than 3u times the magnitudes of both. Kahan's columns, off by about 2u of their magnitudes and by
 * what they have not added yet, 3u or so, are added plainly: a height of 8 more at least, as there
 * are 256. */
void theorem_lost_errors(struct theorem_factors *to, const struct theorem *t,
                         const struct reference *r, const mpfr_t perturbed, enum format f)
{
    const struct format_facts *facts = &format_facts[f];
    size_t height = t->height + (t->product == PRODUCT_EXACT), words = t->folds ? t->folds : 1;
    mpfr_t u, lost, reach;
    mpfr_inits2(THEOREM_PRECISION, u, lost, reach, (mpfr_ptr)0);
    mpfr_set_d(u, facts->unit_roundoff, MPFR_RNDU);
    mpfr_add(reach, r->sum_abs, perturbed, MPFR_RNDU);
    mpfr_mul_2ui(reach, reach, 1, MPFR_RNDU);
    if (mpfr_cmp_d(reach, facts->largest) >= 0 || doubles(words * height + 1, u)) {
        mpfr_mul_ui(u, u, 5, MPFR_RNDU);
        if (!theorem_gamma(lost, height, 5 * facts->unit_roundoff))
            theorem_growth(lost, height, u);
        mpfr_max(to->of_abs, to->of_abs, lost, MPFR_RNDU);
    }
    mpfr_clears(u, lost, reach, (mpfr_ptr)0);
}
