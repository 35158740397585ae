/* Scatter-adds: where the keys of elements come from, and how many bins there are. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/operations/operation.h"

static void columns(struct setting_columns *to, const struct setting *s)
{
    snprintf(to->number[0], sizeof to->number[0], "%zu", s->bins);
    to->column[CASE_KEYS] = s->keys->name;
    to->column[CASE_BINS] = to->number[0];
}

static size_t words(struct setting_word *word, const struct setting *s)
{
    word[0] = (struct setting_word){SETTING_KEYS, s->keys->name, s->keys->asked, 0, ""};
    word[1] = (struct setting_word){SETTING_BINS, NULL, NULL, s->bins, ""};
    return 2;
}

static void says(struct text *to, const struct setting *s)
{
    text_format(to, "%s keys, %zu bin%s", s->keys->name, s->bins, text_s(s->bins));
}

static enum status each(const struct setting_asked *asked, struct setting s, setting_visit *visit,
                        void *context, struct problem *p)
{
    const struct setting_axes *axes = asked->axes;
    enum status status = STATUS_OK;
    for (size_t k = 0; k < axes->keys; k++)
        for (size_t b = 0; status == STATUS_OK && b < axes->bins.count; b++) {
            s.keys = &axes->key[k];
            s.key_seed = s.keys->kind == KEYS_FILE ? 0 : asked->key_seed;
            s.bins = axes->bins.item[b];
            status = keys_fit(s.keys, asked->n, s.bins, p);
            if (status == STATUS_OK)
                status = visit(context, &s, p);
        }
    return status;
}

static enum status make(struct setting_operands *to, const struct setting *s, uint64_t seed,
                        struct problem *p)
{
    (void)seed;
    size_t n = to->of.in.n;
    enum status status = keys_fit(s->keys, n, s->bins, p);
    if (status != STATUS_OK)
        return status;
    to->of.keys = to->keys = malloc((n + 1) * sizeof *to->keys);
    return to->keys ? keys_fill(s->keys, to->keys, n, s->bins, s->key_seed, p)
                    : problem(p, STATUS_MEMORY, "out of memory for %zu keys", n);
}

static void places(uint32_t *place, const struct operands *of)
{
    memcpy(place, of->keys, of->in.n * sizeof *place);
}

/* Bins that many elements meet in, that few do, and all in one. */
static const struct keys telling[] = {
    {.kind = KEYS_UNIFORM, .asked = "uniform", .name = "uniform"},
    {.kind = KEYS_ZIPF, .s = 1.1, .asked = "zipf:s=1.1", .name = "zipf:s=1.1"},
    {.kind = KEYS_ONE, .asked = "one", .name = "one"},
    {.kind = KEYS_SORTED, .asked = "sorted", .name = "sorted"}};
/* In a cache or not. */
static const uint64_t some_bins[] = {10, 1000, 1, 257, 20000};

/* With each kind of keys in turn each number of bins. */
static void vary(struct setting *s, const struct setting_axes *axes, size_t n, size_t u)
{
    const struct keys *key = axes->keys ? axes->key : telling;
    size_t keys = axes->keys ? axes->keys : sizeof telling / sizeof *telling;
    const uint64_t *bins = axes->bins.count ? axes->bins.item : some_bins;
    size_t count = axes->bins.count ? axes->bins.count : sizeof some_bins / sizeof *some_bins;
    (void)n;
    s->keys = &key[u % keys];
    s->bins = (size_t)bins[(u % keys + u / keys) % count];
}

static double bytes(const struct setting *s, size_t n)
{
    (void)s;
    return (double)n * sizeof(uint32_t);
}

static void tell(char to[REQUEST_TEXT], const struct wire_request *r)
{
    snprintf(to, REQUEST_TEXT, " %zu", r->bins);
}

static bool told(struct wire_request *r, char *const word[])
{
    return request_number(&r->bins, word[0]) && r->bins > 0 && r->bins <= KEYS_BINS_MAX;
}

const struct operation_use use_scatter = {
    .operation = &operation_scatter,
    .columns_of = COLUMNS_OF_SCATTERS,
    .reads = 1 << SETTING_KEYS | 1 << SETTING_BINS,
    .columns = columns,
    .words = words,
    .says = says,
    .each = each,
    .make = make,
    .places = places,
    .vary = vary,
    .bytes = bytes,
    .request = "BINS",
    .tell = tell,
    .told = told,
};
