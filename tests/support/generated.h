/* Generated inputs for tests. */
#pragma once

#include <criterion/criterion.h>
#include <stdlib.h>

#include "experiments/inputs/input.h"
#include "tests/support/oracle.h"

/* The array that a specification gives; the caller frees its data. */
static inline struct array generated(const char *specification, enum format f, size_t n,
                                     uint64_t seed, double cond)
{
    struct problem p = {0};
    struct input in;
    struct array a = {f, n, malloc(array_bytes(f, n) + 1)};
    cr_assert(a.data, "no memory");
    enum status status = input_parse(&in, specification, &p);
    if (status == STATUS_OK)
        status = input_generate(&in, &a, seed, cond, &p);
    cr_assert_eq(status, STATUS_OK, "%s, n=%zu, %s: %s", specification, n, format_facts[f].name,
                 p.text);
    return a;
}

/* The exact sum, which must be a double. */
static inline double exact_sum(const struct array *a)
{
    mpfr_t sum;
    mpfr_init2(sum, 53);
    oracle_sum(sum, a, false);
    double x = mpfr_get_d(sum, MPFR_RNDN);
    cr_assert(mpfr_nan_p(sum) || mpfr_cmp_d(sum, x) == 0, "the exact sum is no double");
    mpfr_clear(sum);
    return x;
}

/* A running sum in the storage format. */
static inline double serial_sum(const struct array *a)
{
    double sum = array_get(a, 0);
    for (size_t i = 1; i < a->n; i++)
        sum = format_add(a->format, sum, array_get(a, i));
    return sum;
}
