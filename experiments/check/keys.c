/* What scatter-adds have beside elements: keys, bins, and the exact sum of each. */
#include <stdlib.h>

#include "experiments/check/attempts.h"
#include "experiments/system/memory.h"
#include "reference/exact/by_bin.h"

/* Bins that many elements meet in, that few do, and all in one. */
static struct keys telling[] = {
    {.kind = KEYS_UNIFORM, .asked = "uniform", .name = "uniform"},
    {.kind = KEYS_ZIPF, .s = 1.1, .asked = "zipf:s=1.1", .name = "zipf:s=1.1"},
    {.kind = KEYS_ONE, .asked = "one", .name = "one"},
    {.kind = KEYS_SORTED, .asked = "sorted", .name = "sorted"}};
/* In a cache or not. */
static const uint64_t some_bins[] = {10, 1000, 1, 257, 20000};

void check_keys_at(const struct check_request *r, size_t u, struct check_case *k)
{
    const struct keys *key = r->keys ? r->key : telling;
    size_t keys = r->keys ? r->keys : sizeof telling / sizeof *telling;
    const uint64_t *bins = r->bins.count ? r->bins.item : some_bins;
    size_t count = r->bins.count ? r->bins.count : sizeof some_bins / sizeof *some_bins;
    if (!r->method->operation->keys)
        return;
    k->setting.keys = &key[u % keys];
    k->setting.bins =
        (size_t)bins[(u % keys + u / keys) % count]; /* with each kind in turn each number */
}

struct array check_keys_array(uint32_t *keys, size_t n)
{
    return (struct array){FP32, n, keys}; /* bits of one width, never taken for numbers */
}

enum status check_load_keys(struct check *c, const struct check_case *k, struct problem *p)
{
    struct array keys;
    free(c->keys);
    c->keys = NULL;
    if (c->request->method->operation == &operation_rows)
        return check_row_keys(c, k, p);
    if (!k->setting.keys)
        return STATUS_OK;
    enum status status = keys_fit(k->setting.keys, k->n, k->setting.bins, p);
    if (status == STATUS_OK)
        status = memory_array(&keys, FP32, k->n, "keys", p);
    if (status != STATUS_OK)
        return status;
    c->keys = keys.data;
    return keys_fill(k->setting.keys, c->keys, k->n, k->setting.bins, k->seed, p);
}

enum status check_set_bins(const struct check *c, const struct array *out, struct problem *p)
{
    struct by_bin by_bin;
    enum status status = by_bin_make(&by_bin, c->keys, c->at.n, c->at.setting.bins, p);
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
