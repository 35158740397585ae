/* correctly_rounded: the exact sum, by MPFR, rounded once. */
#include <math.h>
#include <stdlib.h>

#include "experiments/check/attempts.h"
#include "experiments/system/memory.h"
#include "reference/exact/reference.h"

double check_rounded_once(const mpfr_t x, enum format f)
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

/* The prefixes of a scan, each rounded to the accumulator, then as it is written. */
static void set_prefixes(const struct check *c, const struct array *out)
{
    enum format f = c->at.pair.accumulator;
    struct array x = check_array(&c->in, c->at.n, 0);
    mpfr_t sum;
    mpfr_init2(sum, CHECK_EXACT_BITS);
    mpfr_set_zero(sum, 1);
    for (size_t i = 0; i < c->at.n; i++) {
        double before = check_rounded_once(sum, f);
        if (i == 0)
            mpfr_set_d(sum, array_get(&x, i), MPFR_RNDN);
        else
            mpfr_add_d(sum, sum, array_get(&x, i), MPFR_RNDN);
        double now = check_rounded_once(sum, f);
        array_encode(out, i, 1, c->at.setting.exclusive ? &before : &now);
    }
    mpfr_clear(sum);
}

enum status check_set_product(const struct check *c, const struct matrices *of,
                              const struct array *out, struct problem *p)
{
    struct matrices_packed packed;
    mpfr_t sum, sum_abs;
    enum status status = matrices_pack(&packed, of, p);
    if (status != STATUS_OK)
        return status;
    mpfr_inits2(MPFR_PREC_MIN, sum, sum_abs, (mpfr_ptr)0);
    for (size_t i = 0; i < matrices_outputs(&packed); i++) {
        matrices_mpfr(&packed, i, sum, sum_abs);
        double rounded = check_rounded_once(sum, c->at.setting.output);
        array_encode(out, i, 1, &rounded);
    }
    mpfr_clears(sum, sum_abs, (mpfr_ptr)0);
    matrices_free(&packed);
    return STATUS_OK;
}

/* The outputs that are due. */
static enum status set_due(const struct check *c, const struct array *out, struct problem *p)
{
    const struct operation *operation = c->request->method->operation;
    struct array x = check_array(&c->in, c->at.n, 0), y = check_array(&c->in, c->at.n, 1);
    struct reference r;
    struct matrices matrices;
    if (setting_matrices(&matrices, operation, &c->made.of))
        return check_set_product(c, &matrices, out, p);
    if (c->place)
        return check_set_bins(c, out, p);
    if (check_is_scan(c)) {
        set_prefixes(c, out);
        return STATUS_OK;
    }
    enum status status =
        reference_compute_of(&r, operation->of, &x,
                             operation_has(operation, OPERAND_IN2) ? &y : NULL, REFERENCE_MPFR, p);
    if (status != STATUS_OK)
        return status;
    array_encode(out, 0, 1, &(double){check_rounded_once(r.sum, c->at.pair.accumulator)});
    reference_free(&r);
    return STATUS_OK;
}

enum status check_exact(struct check *c, struct check_outcome *o, struct problem *p)
{
    struct array out;
    struct check_setting plain = check_plain(c, &c->at);
    enum status status = STATUS_OK;
    if (!o->first.data) {
        status = memory_array(&out, c->at.setting.output, check_outputs(c), "exact results", p);
        if (status != STATUS_OK)
            return status;
        status = set_due(c, &out, p);
        if (status == STATUS_OK)
            status = check_take(c, o, &out, 0, p, "the exact result, rounded once");
    }
    if (status == STATUS_OK)
        status = check_once(c, &plain, &out, p);
    if (status != STATUS_OK)
        return status;
    bool exceeds = false;
    struct hash128 due = check_digest(c, &o->first), had = check_digest(c, &out);
    if (due.word[0] != had.word[0] || due.word[1] != had.word[1])
        status = check_exceeds(c, &out, &exceeds, p);
    if (status != STATUS_OK) {
        free(out.data);
        return status;
    }
    status = check_take(c, o, &out, 0, p, "the result");
    o->found.exceeds |= exceeds;
    return status;
}
