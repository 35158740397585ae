#include "experiments/inputs/keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "experiments/inputs/heads.h"
#include "experiments/inputs/mask.h"
#include "experiments/inputs/philox.h"
#include "experiments/inputs/portable.h"
#include "reference/format/number.h"
#include "reference/base/visible.h"
#include "reports/text/near.h"

enum status heads_make(uint8_t **heads, size_t n, size_t segment, struct problem *p)
{
    *heads = NULL;
    if (n == 0 || segment == 0)
        return STATUS_OK;
    *heads = calloc(n, sizeof **heads);
    if (!*heads)
        return problem(p, STATUS_MEMORY, "no memory for the head flags of %zu elements", n);
    for (size_t k = 0; k <= (n - 1) / segment; k++)
        (*heads)[k * segment] = 1;
    return STATUS_OK;
}

enum status mask_make(uint8_t **mask, size_t *kept, size_t n, size_t percent, uint64_t seed,
                      struct problem *p)
{
    *kept = 0;
    *mask = malloc(n + 1);
    if (!*mask)
        return problem(p, STATUS_MEMORY, "no memory for a mask of %zu elements", n);
    for (size_t i = 0; i < n; i++) {
        uint64_t word = random_draw(seed, RANDOM_MASK, i).word[0];
        (*mask)[i] = random_below(word, MASK_ALL) < percent;
        *kept += (*mask)[i];
    }
    return STATUS_OK;
}

#define ZIPF_LEAST   0
#define ZIPF_MOST    16
#define ZIPF_DEFAULT "1.1"

static const char *const plain[] = {
    [KEYS_UNIFORM] = "uniform", [KEYS_ONE] = "one", [KEYS_SORTED] = "sorted"};

static enum status no_memory(struct problem *p)
{
    return problem(p, STATUS_MEMORY, "out of memory for keys");
}

static enum status unknown(const char *text, struct problem *p)
{
    return near_unknown_option(p, "keys", text,
                               "uniform, zipf:s=S (0 to 16), one, sorted or file:PATH");
}

static enum status parse_zipf(struct keys *k, const char *text, struct problem *p)
{
    char digits[400];
    int precision = 1;
    const char *value = *text ? text + strlen(":s=") : ZIPF_DEFAULT;
    k->kind = KEYS_ZIPF;
    if ((*text && strncmp(text, ":s=", 3) != 0) || !real_read(&k->s, value, strlen(value)) ||
        !(k->s >= ZIPF_LEAST && k->s <= ZIPF_MOST))
        return problem(p, STATUS_USAGE,
                       "option --keys: found 'zipf%s', expected zipf:s=S, S from 0 to 16", text);
    do /* the shortest that reads back */
        snprintf(digits, sizeof digits, "%.*g", precision++, k->s);
    while (strtod(digits, NULL) != k->s);
    return asprintf(&k->asked, "zipf:s=%s", digits) < 0 ? no_memory(p) : STATUS_OK;
}

static enum status parse_file(struct keys *k, const char *path, struct problem *p)
{
    const char *slash = strrchr(path, '/');
    k->kind = KEYS_FILE;
    if (asprintf(&k->asked, "file:%s", path) < 0)
        return no_memory(p);
    char *base = visible_escape(slash ? slash + 1 : path);
    int length = base ? asprintf(&k->name, "file:%s", base) : -1;
    free(base);
    if (length < 0) {
        k->name = NULL;
        return no_memory(p);
    }
    enum status status = keys_read(k, path, p);
    if (status == STATUS_OK)
        snprintf(k->hash, sizeof k->hash, "%016llx",
                 (unsigned long long)XXH64(k->given, k->count * sizeof *k->given, 0));
    return status;
}

static enum status parse(struct keys *k, const char *text, struct problem *p)
{
    if (strncmp(text, "file:", 5) == 0 && text[5])
        return parse_file(k, text + 5, p);
    if (strncmp(text, "zipf", 4) == 0 && (text[4] == ':' || !text[4]))
        return parse_zipf(k, text + 4, p);
    for (enum keys_kind kind = 0; kind < sizeof plain / sizeof *plain; kind++)
        if (plain[kind] && strcmp(text, plain[kind]) == 0) {
            k->kind = kind;
            k->asked = strdup(text);
            return k->asked ? STATUS_OK : no_memory(p);
        }
    return unknown(text, p);
}

enum status keys_parse(struct keys *k, const char *text, struct problem *p)
{
    *k = (struct keys){0};
    enum status status = parse(k, text, p);
    if (status == STATUS_OK && !k->name)
        k->name = strdup(k->asked);
    if (status == STATUS_OK && !k->name)
        status = no_memory(p);
    if (status != STATUS_OK)
        keys_free(k);
    return status;
}

void keys_free(struct keys *k)
{
    free(k->asked);
    free(k->name);
    free(k->given);
    *k = (struct keys){0};
}

enum status keys_fit(const struct keys *k, size_t n, size_t bins, struct problem *p)
{
    if (k->kind != KEYS_FILE)
        return STATUS_OK;
    if (n > k->count)
        return problem(p, STATUS_USAGE, "%s: found %zu keys, expected one for each of %zu elements",
                       k->asked + strlen("file:"), k->count, n);
    for (size_t i = 0; i < n; i++)
        if (k->given[i] >= bins)
            return problem(p, STATUS_DATA, "%s: key %zu: found %u, expected less than %zu (--bins)",
                           k->asked + strlen("file:"), i, k->given[i], bins);
    return STATUS_OK;
}

static void fill_uniform(uint32_t *to, size_t n, size_t bins, uint64_t seed)
{
    for (size_t i = 0; i < n; i++)
        to[i] = (uint32_t)random_below(random_draw(seed, RANDOM_KEYS, i).word[0], bins);
}

/* Those of fill_uniform, counted and written out. */
static enum status fill_sorted(uint32_t *to, size_t n, size_t bins, uint64_t seed,
                               struct problem *p)
{
    size_t *count = calloc(bins, sizeof *count), at = 0;
    if (!count)
        return no_memory(p);
    fill_uniform(to, n, bins, seed);
    for (size_t i = 0; i < n; i++)
        count[to[i]]++;
    for (size_t b = 0; b < bins; b++)
        for (size_t i = 0; i < count[b]; i++)
            to[at++] = (uint32_t)b;
    free(count);
    return STATUS_OK;
}

/* By the inverse of the distribution, whose sums are taken in the order of the bins: the same on
 * every machine. */
static enum status fill_zipf(uint32_t *to, size_t n, size_t bins, double s, uint64_t seed,
                             struct problem *p)
{
    double *upto = malloc(bins * sizeof *upto), sum = 0;
    if (!upto)
        return no_memory(p);
    for (size_t b = 0; b < bins; b++)
        upto[b] = sum += portable_exp(-s * portable_log((double)(b + 1)));
    for (size_t i = 0; i < n; i++) {
        double x = random_unit(random_draw(seed, RANDOM_KEYS, i).word[0]) * sum;
        size_t low = 0, high = bins - 1; /* the first bin with upto[] > x */
        while (low < high) {
            size_t middle = (low + high) / 2;
            if (upto[middle] > x)
                high = middle;
            else
                low = middle + 1;
        }
        to[i] = (uint32_t)low;
    }
    free(upto);
    return STATUS_OK;
}

enum status keys_fill(const struct keys *k, uint32_t *to, size_t n, size_t bins, uint64_t seed,
                      struct problem *p)
{
    switch (k->kind) {
    case KEYS_UNIFORM:
        fill_uniform(to, n, bins, seed);
        return STATUS_OK;
    case KEYS_ZIPF:
        return fill_zipf(to, n, bins, k->s, seed, p);
    case KEYS_SORTED:
        return fill_sorted(to, n, bins, seed, p);
    case KEYS_FILE:
        memcpy(to, k->given, n * sizeof *to);
        return STATUS_OK;
    case KEYS_ONE:
    case KEYS_KINDS:
        break;
    }
    memset(to, 0, n * sizeof *to);
    return STATUS_OK;
}
