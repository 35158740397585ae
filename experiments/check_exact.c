/* correctly_rounded: the exact sum, by MPFR, rounded once. */
#include <math.h>
#include <stdlib.h>

#include "experiments/check_private.h"
#include "experiments/memory.h"

/* They hold the sum of any doubles, 2^-1074 .. 2^1087, or of products of two, 2^-2148 .. 2^2111. */
enum { EXACT_BITS = 2200, EXACT_BITS_OF_PRODUCTS = 4300, PRODUCT_BITS = 106 };

/* x rounded once to f, its range and its subnormals included. */
static double rounded(const mpfr_t x, enum format f)
{
    const struct format_facts *facts = &format_facts[f];
    mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
    mpfr_t narrow;
    mpfr_init2(narrow, facts->precision);
    int rest = mpfr_set(narrow, x, MPFR_RNDN);
    mpfr_set_emin(facts->emin - facts->precision + 2); /* MPFR's significands are below 1 */
    mpfr_set_emax(facts->emax + 1);
    rest = mpfr_check_range(narrow, rest, MPFR_RNDN);
    mpfr_subnormalize(narrow, rest, MPFR_RNDN);
    double value = mpfr_get_d(narrow, MPFR_RNDN);
    mpfr_set_emin(emin);
    mpfr_set_emax(emax);
    mpfr_clear(narrow);
    return value;
}

/* What element i adds to the sum: itself, or its product with that of the second array. */
static void set_term(mpfr_t term, const struct check *c, size_t i)
{
    struct array x = check_array(&c->in, c->at.n, 0), y = check_array(&c->in, c->at.n, 1);
    mpfr_set_d(term, array_get(&x, i), MPFR_RNDN);
    if (c->request->method->operation->inputs == 2)
        mpfr_mul_d(term, term, array_get(&y, i), MPFR_RNDN);
}

/* The outputs that are due, of a scan every prefix: rounded to the accumulator, then as they are
 * written. */
static void due(const struct check *c, const struct array *out)
{
    bool scan = c->request->method->operation->array,
         two = c->request->method->operation->inputs == 2;
    enum format f = c->at.pair.accumulator;
    mpfr_t sum, term;
    mpfr_init2(sum, two ? EXACT_BITS_OF_PRODUCTS : EXACT_BITS);
    mpfr_init2(term, PRODUCT_BITS);
    mpfr_set_zero(sum, 1);
    for (size_t i = 0; i < c->at.n; i++) {
        double before = scan && c->at.exclusive ? rounded(sum, f) : 0;
        set_term(term, c, i);
        if (i == 0)
            mpfr_set(sum, term, MPFR_RNDN);
        else
            mpfr_add(sum, sum, term, MPFR_RNDN);
        double now = scan && !c->at.exclusive ? rounded(sum, f) : 0;
        if (scan)
            array_encode(out, i, 1, c->at.exclusive ? &before : &now);
    }
    if (!scan)
        array_encode(out, 0, 1, &(double){rounded(sum, f)});
    mpfr_clears(sum, term, (mpfr_ptr)0);
}

enum status check_exact(struct check *c, struct check_outcome *o, struct problem *p)
{
    struct array out;
    struct check_setting plain = check_plain(c, &c->at);
    size_t outputs = c->request->method->operation->outputs(c->at.n);
    enum status status = STATUS_OK;
    if (!o->first.data) {
        status = memory_array(&out, c->at.output, outputs, "exact sums", p);
        if (status != STATUS_OK)
            return status;
        due(c, &out);
        status = check_take(c, o, &out, 0, p, "the exact sum, rounded once");
    }
    if (status == STATUS_OK)
        status = check_once(c, &plain, &out, p);
    return status == STATUS_OK ? check_take(c, o, &out, 0, p, "the result") : status;
}
