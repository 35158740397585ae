/* libulpscope: formats, exact sums, references. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "experiments/library/handles.h"
#include "experiments/system/machine.h"
#include "kernels/blocks/arrays.h"
#include "kernels/blocks/binned.h"
#include "reference/exact/exact.h"
#include "reference/measure/measure.h"
#include "reference/format/number.h"

_Static_assert((int)ULPSCOPE_DATA == (int)STATUS_DATA &&
                   (int)ULPSCOPE_UNAVAILABLE == (int)STATUS_DEVICE &&
                   (int)ULPSCOPE_MEMORY == (int)STATUS_MEMORY &&
                   sizeof((struct ulpscope_error *)0)->text == sizeof((struct problem *)0)->text,
               "an error is a problem");

enum ulpscope_status library_failed(struct ulpscope_error *error, const struct problem *p)
{
    if (error) {
        error->status = (int)p->status;
        memcpy(error->text, p->text, sizeof error->text);
    }
    return (enum ulpscope_status)p->status;
}

enum status library_give(void *to, size_t size, const void *from, size_t has, size_t least,
                         const char *what, struct problem *p)
{
    if (size < least)
        return problem(p, STATUS_USAGE, "%s: found a struct of %zu bytes, expected %zu or more",
                       what, size, least);
    memcpy(to, from, size < has ? size : has);
    if (size > has)
        memset((char *)to + has, 0, size - has);
    return STATUS_OK;
}

enum status library_format(enum ulpscope_format f, const char *what, struct problem *p)
{
    return (unsigned)f < FORMATS ? STATUS_OK
                                 : problem(p, STATUS_USAGE, "%s: found format %d, expected 0 to %d",
                                           what, (int)f, FORMATS - 1);
}

enum status library_accumulator(enum ulpscope_format f, const char *what, struct problem *p)
{
    return (unsigned)f < ACCUMULATORS
               ? STATUS_OK
               : problem(p, STATUS_USAGE, "%s: found format %d, expected 0 to %d", what, (int)f,
                         ACCUMULATORS - 1);
}

enum status library_array(struct array *to, const struct ulpscope_array *a, struct problem *p)
{
    enum status status = library_format(a->format, "array", p);
    if (status != STATUS_OK)
        return status;
    *to = (struct array){(enum format)a->format, a->n, (void *)a->data};
    if (a->n > 0 && !a->data)
        return problem(p, STATUS_USAGE, "array: found no data for %zu elements", a->n);
    if (array_bytes(to->format, a->n) > SIZE_MAX / 2)
        return problem(p, STATUS_USAGE, "array: found %zu elements, more than memory holds", a->n);
    return STATUS_OK;
}

const char *ulpscope_version(void)
{
    return build_version;
}

const char *ulpscope_format_name(enum ulpscope_format f)
{
    return (unsigned)f < FORMATS ? format_facts[f].name : NULL;
}

size_t ulpscope_format_bytes(enum ulpscope_format f)
{
    return (unsigned)f < FORMATS ? (size_t)format_facts[f].bytes : 0;
}

double ulpscope_decode(enum ulpscope_format f, uint64_t bits)
{
    return (unsigned)f < FORMATS ? format_decode((enum format)f, bits) : NAN;
}

uint64_t ulpscope_encode(enum ulpscope_format f, double x)
{
    return (unsigned)f < FORMATS ? format_encode((enum format)f, x) : 0;
}

enum ulpscope_status ulpscope_sum(double *sum, const struct ulpscope_array *a,
                                  enum ulpscope_format result, struct ulpscope_error *error)
{
    struct problem p = {0};
    struct array in;
    struct exact e;
    enum status status = library_array(&in, a, &p);
    if (status == STATUS_OK)
        status = library_format(result, "result", &p);
    if (status != STATUS_OK)
        return library_failed(error, &p);
    exact_init(&e);
    exact_add_array(&e, &in, 0, in.n);
    *sum = exact_round(&e, (enum format)result);
    return ULPSCOPE_OK;
}

enum ulpscope_status ulpscope_sum_arrays(void *out, const void *const *array, size_t arrays,
                                         size_t n, enum ulpscope_format f, unsigned folds,
                                         struct ulpscope_error *error)
{
    struct problem p = {0};
    if (library_format(f, "arrays", &p) != STATUS_OK)
        return library_failed(error, &p);
    if (folds != 0 && (folds < BINNED_FOLDS_LEAST || folds > BINNED_FOLDS_MOST))
        problem(&p, STATUS_USAGE, "arrays: found %u folds, expected 0 (exact), or %d to %d", folds,
                BINNED_FOLDS_LEAST, BINNED_FOLDS_MOST);
    for (size_t k = 0; n > 0 && k < arrays && p.status == STATUS_OK; k++)
        if (!array || !array[k])
            problem(&p, STATUS_USAGE, "arrays: found no data for array %zu of %zu", k, arrays);
    if (p.status != STATUS_OK)
        return library_failed(error, &p);
    if (n > 0)
        arrays_sum(array, arrays, out, n, (enum format)f, folds);
    return ULPSCOPE_OK;
}

struct ulpscope_reference {
    struct reference reference;
    enum format storage;
    char *hex;
};

enum ulpscope_status ulpscope_reference_new(struct ulpscope_reference **made,
                                            const struct ulpscope_array *a,
                                            struct ulpscope_error *error)
{
    struct problem p = {0};
    struct array in;
    *made = NULL;
    if (library_array(&in, a, &p) != STATUS_OK)
        return library_failed(error, &p);
    struct ulpscope_reference *r = calloc(1, sizeof *r);
    if (!r) {
        problem(&p, STATUS_MEMORY, "reference: out of memory (%zu bytes)", sizeof *r);
        return library_failed(error, &p);
    }
    r->storage = in.format;
    if (reference_compute(&r->reference, &in, REFERENCE_FAST, &p) != STATUS_OK) {
        free(r);
        return library_failed(error, &p);
    }
    r->hex = number_hex_mpfr(r->reference.sum);
    if (!r->hex) {
        ulpscope_reference_free(r);
        problem(&p, STATUS_MEMORY, "reference: out of memory");
        return library_failed(error, &p);
    }
    *made = r;
    return ULPSCOPE_OK;
}

void ulpscope_reference_free(struct ulpscope_reference *r)
{
    if (!r)
        return;
    reference_free(&r->reference);
    free(r->hex);
    free(r);
}

const char *ulpscope_reference_hex(const struct ulpscope_reference *r)
{
    return r->hex;
}

double ulpscope_reference_sum(const struct ulpscope_reference *r)
{
    return mpfr_get_d(r->reference.sum, MPFR_RNDN);
}

double ulpscope_reference_sum_abs(const struct ulpscope_reference *r)
{
    return mpfr_get_d(r->reference.sum_abs, MPFR_RNDN);
}

double ulpscope_reference_cond_log2(const struct ulpscope_reference *r)
{
    return reference_cond_log2(&r->reference);
}

static double value(struct figure f)
{
    return f.known ? f.value : NAN;
}

enum { FIGURES_0_2 = LIBRARY_0_2(struct ulpscope_figures, within, double) };

enum ulpscope_status(ulpscope_measure)(struct ulpscope_figures *figures,
                                       const struct ulpscope_reference *r,
                                       enum ulpscope_format accumulator, double result,
                                       struct ulpscope_error *error)
{
    return ulpscope_measure_sized(FIGURES_0_2, figures, r, accumulator, result, error);
}

enum ulpscope_status ulpscope_measure_sized(size_t size, struct ulpscope_figures *figures,
                                            const struct ulpscope_reference *r,
                                            enum ulpscope_format accumulator, double result,
                                            struct ulpscope_error *error)
{
    struct problem p = {0};
    struct measure m;
    const struct theorem any_order = {.kind = THEOREM_ANY_ORDER};
    if (library_accumulator(accumulator, "accumulator", &p) != STATUS_OK)
        return library_failed(error, &p);
    enum format f = (enum format)accumulator;
    if (!isnan(result) && format_decode(f, format_encode(f, result)) != result) {
        problem(&p, STATUS_USAGE, "result: found %a, which is no value of %s", result,
                format_facts[f].name);
        return library_failed(error, &p);
    }
    measure(&m, &r->reference, r->storage, f, result, &any_order);
    const struct ulpscope_figures all = {.err_abs = value(m.err_abs),
                                         .err_rel = value(m.err_rel),
                                         .err_ulp = value(m.err_ulp),
                                         .err_backward = value(m.err_backward),
                                         .bound = value(m.bound),
                                         .err_over_bound = value(m.err_over_bound),
                                         .within = m.bound.known && !m.broken};
    return library_give(figures, size, &all, sizeof all, FIGURES_0_2, "figures", &p) == STATUS_OK
               ? ULPSCOPE_OK
               : library_failed(error, &p);
}
