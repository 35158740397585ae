/* Where each output is the sum of elements of its own: the exact sum of each. */
#include "experiments/check/attempts.h"
#include "reference/exact/by_bin.h"

struct array check_keys_array(uint32_t *keys, size_t n)
{
    return (struct array){FP32, n, keys}; /* bits of one width, never taken for numbers */
}

enum status check_set_bins(const struct check *c, const struct array *out, struct problem *p)
{
    struct by_bin by_bin;
    enum status status = by_bin_make(&by_bin, c->place, c->at.n, c->at.setting.bins, p);
    if (status != STATUS_OK)
        return status;
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
