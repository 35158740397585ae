/* Where each output is the sum of elements of its own: the exact sum of each. */
#include "experiments/check/attempts.h"
#include "experiments/system/machine.h"
#include "reference/measure/row_values.h"

struct array check_keys_array(uint32_t *keys, size_t n)
{
    return (struct array){FP32, n, keys}; /* bits of one width, never taken for numbers */
}

/* What rows have other values than sums for, each rounded once. */
static enum status set_values(const struct check *c, const struct by_bin *rows,
                              const struct array *out, struct problem *p)
{
    const struct operation *o = c->request->method->operation;
    struct row_values values;
    struct array in = check_array(&c->in, c->at.n, 0);
    enum status status = row_values_make(&values, o->of, operation_of_each(o), &in, rows, c->place,
                                         machine_processors(), p);
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < values.outputs; i++) {
        double rounded = check_rounded_once(values.value[i].sum, c->at.pair.accumulator);
        array_encode(out, i, 1, &rounded);
    }
    row_values_free(&values);
    return STATUS_OK;
}

enum status check_set_bins(const struct check *c, const struct array *out, struct problem *p)
{
    struct by_bin by_bin;
    enum status status = by_bin_make(&by_bin, c->place, c->at.n, c->at.setting.bins, p);
    if (status != STATUS_OK)
        return status;
    if (operation_of_rows(c->request->method->operation)) {
        status = set_values(c, &by_bin, out, p);
        by_bin_free(&by_bin);
        return status;
    }
    mpfr_t sum;
    mpfr_init2(sum, CHECK_EXACT_BITS);
    for (size_t b = 0; b < c->at.setting.bins; b++) {
        size_t begin = by_bin.start[b], end = by_bin.start[b + 1];
        mpfr_set_zero(sum, 1);
        for (size_t i = begin; i < end; i++) {
            double x = array_get(&c->in, by_bin.element[i]);
            if (i == begin)
                mpfr_set_d(sum, x, MPFR_RNDN);
            else
                mpfr_add_d(sum, sum, x, MPFR_RNDN);
        }
        double rounded = check_rounded_once(sum, c->at.pair.accumulator);
        array_encode(out, b, 1, &rounded);
    }
    mpfr_clear(sum);
    by_bin_free(&by_bin);
    return STATUS_OK;
}
