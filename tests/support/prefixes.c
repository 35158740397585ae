#include "tests/support/prefixes.h"

#include <math.h>

#include "tests/support/oracle.h"

struct oracle {
    mpfr_t sum, rest;
    bool empty;
};

static void start(struct oracle *o, mpfr_prec_t bits)
{
    mpfr_inits2(bits, o->sum, o->rest, (mpfr_ptr)0);
    o->empty = true;
}

static void stop(struct oracle *o)
{
    mpfr_clears(o->sum, o->rest, (mpfr_ptr)0);
}

static void take(struct oracle *o, double x, bool head)
{
    MPFR_DECL_INIT(term, 53);
    mpfr_set_d(term, x, MPFR_RNDN);
    if (o->empty || head) /* +0 + -0 is not -0 */
        mpfr_set(o->sum, term, MPFR_RNDN);
    else
        mpfr_add(o->sum, o->sum, term, MPFR_RNDN);
    o->empty = false;
}

static bool agrees(struct oracle *o, double hi, double lo, bool exact)
{
    double due = mpfr_get_d(o->sum, MPFR_RNDN), rest = 0;
    if (isfinite(due)) {
        mpfr_sub_d(o->rest, o->sum, due, MPFR_RNDN);
        rest = mpfr_get_d(o->rest, MPFR_RNDN);
        if (exact && mpfr_cmp_d(o->rest, rest) != 0)
            return false;
    }
    return same_double(due, hi) && same_double(rest, lo);
}

size_t pairs_wrong(const struct array *a, const uint8_t *heads, size_t begin, size_t end,
                   const struct prefix_pairs *p, const uint8_t *exact)
{
    struct oracle sum, size;
    mpfr_prec_t bits = oracle_precision(&(struct array){a->format, end, a->data});
    start(&sum, bits);
    start(&size, bits);
    size_t i = 0;
    for (bool good = true; i < end; i++) {
        double x = array_get(a, i);
        take(&sum, x, heads && heads[i]);
        take(&size, fabs(x), heads && heads[i]);
        if (i < begin)
            continue;
        size_t k = i - begin;
        good = agrees(&sum, p->hi[k], p->lo[k], exact && exact[k]);
        if (p->abs_hi)
            good &= agrees(&size, p->abs_hi[k], p->abs_lo[k], exact && exact[k]);
        if (!good)
            break;
    }
    stop(&sum);
    stop(&size);
    return i;
}
