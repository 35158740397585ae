/* Tolerances: what an error is measured in, and how much of it is allowed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "experiments/studies/recommend/recommend.h"
#include "reference/format/number.h"

const char *const recommend_quantity_name[RECOMMEND_QUANTITIES] = {"rel", "backward", "ulp"};

static enum status find_quantity(enum recommend_quantity *found, const char *name,
                                 struct problem *p)
{
    for (*found = 0; *found < RECOMMEND_QUANTITIES; (*found)++)
        if (strcmp(name, recommend_quantity_name[*found]) == 0)
            return STATUS_OK;
    return problem(p, STATUS_USAGE, "option --quantity: found '%s', expected rel, backward or ulp",
                   name);
}

/* Does a text end so? Then its length is that of what stands before. */
static bool has_unit(const char *text, const char *unit, size_t *length)
{
    size_t own = strlen(unit);
    if (*length < own || strcmp(text + *length - own, unit) != 0)
        return false;
    *length -= own;
    return true;
}

enum status recommend_tolerance_parse(struct recommend_tolerance *t, const char *text,
                                      const char *quantity, struct problem *p)
{
    size_t length = strlen(text);
    bool ulp = has_unit(text, "ulp", &length), bits = !ulp && has_unit(text, "bits", &length);
    *t = (struct recommend_tolerance){.quantity = RECOMMEND_REL};
    snprintf(t->text, sizeof t->text, "%s", text);
    if (!real_read(&t->limit, text, length))
        return problem(p, STATUS_USAGE,
                       "option --tolerance: found '%s', expected a number from 0 on, as 1e-3, "
                       "4ulp or 0.5bits",
                       text);
    enum status status = quantity ? find_quantity(&t->quantity, quantity, p) : STATUS_OK;
    if (status == STATUS_OK && (ulp || bits) && quantity && t->quantity != RECOMMEND_ULP)
        status = problem(p, STATUS_USAGE,
                         "option --tolerance: found '%s' with --quantity %s, expected a plain "
                         "number, or --quantity ulp",
                         text, quantity);
    if (ulp || bits)
        t->quantity = RECOMMEND_ULP;
    /* Rounding once costs half an ulp at most; b bits less are 2^b times that. */
    if (bits)
        t->limit = 0.5 * exp2(t->limit);
    return status;
}

/* Sets `unit` to what an error of 1 is. */
static void unit_of(mpfr_t unit, const struct recommend_tolerance *t, const struct reference *r,
                    enum format storage)
{
    if (t->quantity == RECOMMEND_ULP)
        mpfr_set_d(unit, format_ulp(storage, mpfr_get_d(r->sum, MPFR_RNDZ)), MPFR_RNDN);
    else
        mpfr_abs(unit, t->quantity == RECOMMEND_REL ? r->sum : r->sum_abs, MPFR_RNDN);
}

double recommend_error(const struct recommend_tolerance *t, const struct measure *m,
                       const struct reference *r, enum format storage)
{
    if (!m->err_abs.known || isnan(m->err_abs.value))
        return NAN;
    if (m->err_abs.value == 0)
        return 0;
    if (t->quantity == RECOMMEND_ULP)
        return m->err_abs.value / format_ulp(storage, mpfr_get_d(r->sum, MPFR_RNDZ));
    const struct figure *f = t->quantity == RECOMMEND_REL ? &m->err_rel : &m->err_backward;
    return f->known ? f->value : INFINITY;
}

struct figure recommend_bound(const struct recommend_tolerance *t, const struct theorem *theorem,
                              const struct reference *r, enum format storage,
                              enum format accumulator)
{
    mpfr_t bound, unit;
    mpfr_init2(bound, 64);
    mpfr_init2(unit, 64);
    struct figure f = {theorem_bound(bound, theorem, r, storage, accumulator), 0};
    unit_of(unit, t, r, storage);
    if (f.known && mpfr_zero_p(bound)) {
        f.value = 0;
    } else if (f.known) {
        mpfr_div(bound, bound, unit, MPFR_RNDU);
        f.value = mpfr_get_d(bound, MPFR_RNDU);
    }
    mpfr_clears(bound, unit, (mpfr_ptr)0);
    return f;
}
