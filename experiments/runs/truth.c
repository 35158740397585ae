#include "experiments/runs/truth.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "experiments/runs/runner.h"
#include "reference/format/number.h"
#include "reports/results/results.h"

static enum status check(const struct truth *t, const char *name, const struct array *a,
                         const struct array *b, struct problem *p)
{
    struct reference slow;
    enum status status = reference_compute_of(&slow, t->of, a, b, REFERENCE_MPFR, p);
    if (status != STATUS_OK)
        return status;
    if (!reference_equal(&t->reference, &slow))
        status = problem(p, STATUS_FAILED,
                         "%s: the superaccumulator and MPFR disagree on the exact %s of %s, "
                         "n = %zu: trust no figure of this build",
                         name, exact_facts[t->of].name, format_facts[a->format].name, a->n);
    reference_free(&slow);
    return status;
}

enum status truth_check(const struct truth *t, const char *name, const struct array *a,
                        struct problem *p)
{
    return check(t, name, a, NULL, p);
}

static enum status write_exact(struct truth *t, const char *name, struct problem *p)
{
    char decimal[NUMBER_TEXT];
    mpfr_t shown; /* all bits of what has an end; of what has none true ones, not the last two */
    mpfr_prec_t bits = mpfr_get_prec(t->reference.sum);
    if (t->reference.cut)
        bits = bits - 2 < REFERENCE_HEX_DIGITS ? bits - 2 : REFERENCE_HEX_DIGITS;
    mpfr_init2(shown, bits);
    mpfr_set(shown, t->reference.sum, MPFR_RNDZ);
    char *hex = number_hex_mpfr(shown);
    mpfr_clear(shown);
    number_decimal_mpfr(decimal, t->reference.sum);
    t->exact = (struct text){.failed = !hex};
    if (hex)
        results_exact(&t->exact, decimal, hex);
    free(hex);
    return t->exact.failed ? problem(p, STATUS_MEMORY, "%s: out of memory", name) : STATUS_OK;
}

enum status truth_make(struct truth *t, const char *name, const struct array *a,
                       enum reference_kind kind, struct problem *p)
{
    return truth_make_of(t, name, EXACT_SUM, a, NULL, kind, p);
}

enum status truth_make_of(struct truth *t, const char *name, enum exact_value of,
                          const struct array *a, const struct array *b, enum reference_kind kind,
                          struct problem *p)
{
    *t = (struct truth){.of = of};
    enum status status = reference_compute_of(&t->reference, of, a, b, kind, p);
    if (status != STATUS_OK)
        return status;
    if (kind == REFERENCE_FAST && a->n <= TRUTH_ALWAYS_CHECKED)
        status = check(t, name, a, b, p);
    if (status == STATUS_OK)
        status = write_exact(t, name, p);
    double cond = reference_cond_log2(&t->reference);
    t->cond_log2 = (struct figure){!isnan(cond), cond};
    if (status != STATUS_OK)
        truth_free(t);
    return status;
}

void truth_free(struct truth *t)
{
    reference_free(&t->reference);
    text_free(&t->exact);
}

struct figure truth_fixed(struct truth *t, const struct operation *operation, const struct array *a,
                          const struct array *b, enum format accumulator)
{
    struct figure *fixed = &t->fixed[accumulator];
    const struct method *m = method_named(operation->fixed);
    if (!t->tried[accumulator] && m && method_supports(m, DEVICE_CPU, a->format, accumulator)) {
        uint64_t bits = 0;
        struct array out = {accumulator, 1, &bits};
        struct operands of = {.in = *a, .product = m->product};
        if (b)
            of.in2 = *b;
        struct runner r = {.method = m,
                           .of = &of,
                           .accumulator = accumulator,
                           .output = accumulator,
                           .shape = method_shape(m, DEVICE_CPU, a->n, (struct shape){0})};
        fixed->known = runner_once(&r, &out, NULL) == STATUS_OK;
        fixed->value = array_get(&out, 0);
    }
    t->tried[accumulator] = true;
    return *fixed;
}
