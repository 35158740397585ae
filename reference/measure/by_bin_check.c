#include "reference/measure/by_bin_check.h"

#include <math.h>
#include <mpfr.h>
#include <stdlib.h>

#include "reference/exact/mpfr.h"
#include "reference/measure/scan_part.h"

/* Bins in a pass, and digits of a sum of 2^64 doubles and fewer: from 2^-1074 to 2^1088. */
enum { WINDOW = 4096, DIGITS = 2176 };

struct window {
    size_t first, bins;
    struct {
        mpfr_t sum, sum_abs;
        size_t count;
    } bin[WINDOW];
};

static void add_all(struct window *w, const struct array *a, const uint32_t *keys)
{
    for (size_t i = 0; i < a->n; i++) {
        size_t k = keys[i] - w->first;
        if (keys[i] < w->first || k >= w->bins)
            continue;
        double x = array_get(a, i);
        if (w->bin[k].count++ == 0) {
            mpfr_inits2(DIGITS, w->bin[k].sum, w->bin[k].sum_abs, (mpfr_ptr)0);
            mpfr_set_d(w->bin[k].sum, x, MPFR_RNDN);
            mpfr_set_d(w->bin[k].sum_abs, fabs(x), MPFR_RNDN);
            continue;
        }
        mpfr_add_d(w->bin[k].sum, w->bin[k].sum, x, MPFR_RNDN);
        mpfr_add_d(w->bin[k].sum_abs, w->bin[k].sum_abs, fabs(x), MPFR_RNDN);
    }
}

static bool same(const mpfr_t a, const mpfr_t b)
{
    return mpfr_nan_p(a) || mpfr_nan_p(b) ? mpfr_nan_p(a) && mpfr_nan_p(b) : mpfr_equal_p(a, b);
}

/* Do the sums of bin w->first + k agree? Its own are freed. */
static bool agrees(struct window *w, size_t k, const struct scan *scan)
{
    struct exact sum;
    mpfr_t fast;
    if (w->bin[k].count != by_bin_count(scan->by_bin, w->first + k))
        return false;
    if (w->bin[k].count == 0)
        return true;
    scan_bin_sum(scan, w->first + k, &sum);
    mpfr_init2(fast, MPFR_PREC_MIN);
    exact_get(fast, &sum);
    bool agree = same(fast, w->bin[k].sum);
    exact_get_abs(fast, &sum);
    agree = agree && same(fast, w->bin[k].sum_abs);
    mpfr_clear(fast);
    return agree;
}

enum status by_bin_check(const struct by_bin *b, const struct array *a, const uint32_t *keys,
                         const char *name, struct problem *p)
{
    const struct scan scan = {.in = *a, .by_bin = b};
    struct window *w = malloc(sizeof *w);
    enum status status = STATUS_OK;
    if (!w)
        return problem(p, STATUS_MEMORY, "%s: out of memory for exact sums", name);
    for (w->first = 0; w->first < b->bins && status == STATUS_OK; w->first += w->bins) {
        w->bins = b->bins - w->first < WINDOW ? b->bins - w->first : WINDOW;
        for (size_t k = 0; k < w->bins; k++)
            w->bin[k].count = 0;
        add_all(w, a, keys);
        for (size_t k = 0; k < w->bins; k++) {
            if (!agrees(w, k, &scan))
                status = problem(p, STATUS_FAILED,
                                 "%s: the superaccumulator and MPFR disagree on the exact sum of "
                                 "bin %zu: trust no figure of this build",
                                 name, w->first + k);
            if (w->bin[k].count > 0)
                mpfr_clears(w->bin[k].sum, w->bin[k].sum_abs, (mpfr_ptr)0);
        }
    }
    free(w);
    return status;
}
