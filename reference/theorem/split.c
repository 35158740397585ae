/* The theorem of sums that are split: three roundings, one after the other.
 *
 * A chunk of b + 1 elements or fewer, in any order, errs by at most bu times its magnitudes
 * (Jeannerod and Rump 2013), all chunks together by g A, g = bu. So the magnitudes of their sums
 * are at most (1+g) A. Storing C of them in a format of unit roundoff s and smallest subnormal eta'
 * changes them by at most s (1+g) A + C eta'/2, and leaves magnitudes of at most
 * (1+s)(1+g) A + C eta'/2. Adding those, C = h - b + 1, loses k = (h-b) u of that. Together:
 *
 *     g A + s (1+g) A + C eta'/2 + k ((1+s)(1+g) A + C eta'/2)
 *         = ((1+g)(1+s)(1+k) - 1) A + (1+k) C eta'/2.
 *
 * s is 0 where the storage has as many digits as the accumulator, and eta' where it reaches as low.
 * Reading a stored sum rounds nothing: it has the digits of an accumulator's value, and lies on
 * its grid. */
#include "reference/theorem/factors.h"

/* Sets `to` to 1 + count u. */
static void one_and(mpfr_t to, size_t count, double u)
{
    mpfr_set_d(to, u, MPFR_RNDU);
    mpfr_mul_ui(to, to, count, MPFR_RNDU);
    mpfr_add_ui(to, to, 1, MPFR_RNDU);
}

bool theorem_split(struct theorem_factors *to, const struct theorem *t, const struct reference *r,
                   enum format f)
{
    (void)r;
    double u = format_facts[f].unit_roundoff;
    size_t chunk = t->plain_height < t->height ? t->plain_height : t->height;
    struct conversion stored = format_conversion(to->storage, f);
    mpfr_t chunks, across;
    mpfr_init2(chunks, THEOREM_PRECISION);
    mpfr_init2(across, THEOREM_PRECISION);
    one_and(chunks, chunk, u);
    one_and(across, t->height - chunk, u);
    one_and(to->of_abs, 1, stored.relative);
    mpfr_mul(to->of_abs, to->of_abs, chunks, MPFR_RNDU);
    mpfr_mul(to->of_abs, to->of_abs, across, MPFR_RNDU);
    mpfr_sub_ui(to->of_abs, to->of_abs, 1, MPFR_RNDU);
    if (stored.absolute > 0) {
        theorem_half_smallest(to->constant, to->storage);
        mpfr_mul_ui(to->constant, to->constant, t->height - chunk + 1, MPFR_RNDU);
        mpfr_mul(to->constant, to->constant, across, MPFR_RNDU);
    }
    mpfr_clears(chunks, across, (mpfr_ptr)0);
    return true;
}
