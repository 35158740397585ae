/* Subjects of the names that flawed_object.c has, which keep every promise: results by MPFR,
 * rounded once. */
#include <mpfr.h>

#include "ulpscope_subject.h"

/* Writes each prefix of n elements or, with a second array, of their products; or the last alone.
 */
static int run(const struct ulpscope_task *t, double *prefix, double *last)
{
    const double *x = t->in, *y = t->in2;
    mpfr_t total, product;
    mpfr_init2(total, 4400);
    mpfr_init2(product, 106);
    mpfr_set_zero(total, 1);
    for (size_t i = 0; i < t->n; i++) {
        if (prefix && t->exclusive)
            prefix[i] = mpfr_get_d(total, MPFR_RNDN);
        mpfr_set_d(product, x[i], MPFR_RNDN);
        if (y)
            mpfr_mul_d(product, product, y[i], MPFR_RNDN);
        mpfr_add(total, total, product, MPFR_RNDN);
        if (prefix && !t->exclusive)
            prefix[i] = mpfr_get_d(total, MPFR_RNDN);
    }
    if (last)
        *last = mpfr_get_d(total, MPFR_RNDN);
    mpfr_clear(total);
    mpfr_clear(product);
    return 0;
}

static int sum(const struct ulpscope_task *t)
{
    return run(t, NULL, t->out);
}

static int scan(const struct ulpscope_task *t)
{
    return run(t, t->out, NULL);
}

#define SUBJECT(name, operation, run)                                                              \
    {                                                                                              \
        name, "rounded once", operation, ULPSCOPE_HOST, ULPSCOPE_CORRECTLY_ROUNDED,                \
            ULPSCOPE_PAIR(ULPSCOPE_FP64, ULPSCOPE_FP64), ULPSCOPE_READS_THREADS, run               \
    }

static const struct ulpscope_subject subject[] = {
    SUBJECT("greedy", ULPSCOPE_SUM, sum),        SUBJECT("fickle", ULPSCOPE_SUM, sum),
    SUBJECT("shares", ULPSCOPE_SUM, sum),        SUBJECT("any_order", ULPSCOPE_SUM, sum),
    SUBJECT("rounded", ULPSCOPE_SUM, sum),       SUBJECT("fickle_dot", ULPSCOPE_DOT, sum),
    SUBJECT("fickle_scan", ULPSCOPE_SCAN, scan), SUBJECT("zeros", ULPSCOPE_SUM, sum),
    SUBJECT("placed", ULPSCOPE_SUM, sum),
};
const struct ulpscope_subjects ulpscope_subjects = {ULPSCOPE_SUBJECT_VERSION,
                                                    sizeof subject / sizeof *subject, subject};
