#include "experiments/inputs/cache.h"

#include <stdlib.h>
#include <string.h>

enum { ENTRIES = 512 };

struct entry {
    struct input input;
    uint64_t seed;
    bool pair;
    struct array array; /* data NULL: free */
    uint64_t used;      /* the cache's clock when it was read last */
};

struct input_cache {
    size_t most, bytes;
    uint64_t clock;
    struct entry entry[ENTRIES];
};

struct input_cache *input_cache_new(size_t bytes)
{
    struct input_cache *cache = calloc(1, sizeof *cache);
    if (cache)
        cache->most = bytes;
    return cache;
}

void input_cache_free(struct input_cache *cache)
{
    for (size_t i = 0; cache && i < ENTRIES; i++)
        free(cache->entry[i].array.data);
    free(cache);
}

static bool same_input(const struct input *a, const struct input *b)
{
    bool same = a->family == b->family && a->arrangement == b->arrangement;
    for (size_t i = 0; same && i < INPUT_PARAMETERS; i++)
        same = a->parameter[i] == b->parameter[i];
    return same;
}

static struct entry *found(struct input_cache *cache, const struct entry *key)
{
    for (struct entry *e = cache->entry; e < cache->entry + ENTRIES; e++)
        if (e->array.data && e->seed == key->seed && e->array.n == key->array.n &&
            e->array.format == key->array.format && e->pair == key->pair &&
            same_input(&e->input, &key->input))
            return e;
    return NULL;
}

static struct entry *least_recent(struct input_cache *cache)
{
    struct entry *oldest = NULL;
    for (struct entry *e = cache->entry; e < cache->entry + ENTRIES; e++)
        if (e->array.data && (!oldest || e->used < oldest->used))
            oldest = e;
    return oldest;
}

static void drop(struct input_cache *cache, struct entry *e)
{
    cache->bytes -= array_bytes(e->array.format, e->array.n);
    free(e->array.data);
    *e = (struct entry){0};
}

static struct entry *unused(struct input_cache *cache)
{
    for (struct entry *e = cache->entry; e < cache->entry + ENTRIES; e++)
        if (!e->array.data)
            return e;
    struct entry *oldest = least_recent(cache);
    drop(cache, oldest);
    return oldest;
}

static void keep(struct input_cache *cache, const struct entry *key, const struct array *from)
{
    size_t bytes = array_bytes(from->format, from->n);
    if (bytes == 0 || bytes > cache->most / 4)
        return;
    while (cache->bytes + bytes > cache->most)
        drop(cache, least_recent(cache));
    void *data = malloc(bytes);
    if (!data)
        return;
    struct entry *e = unused(cache);
    *e = *key;
    e->array.data = data;
    e->used = ++cache->clock;
    memcpy(data, from->data, bytes);
    cache->bytes += bytes;
}

enum status input_cached(struct input_cache *cache, const struct input *in, const struct array *to,
                         uint64_t seed, bool pair, struct problem *p)
{
    struct entry key = {*in, seed, pair, {to->format, to->n, NULL}, 0};
    struct entry *e = cache ? found(cache, &key) : NULL;
    if (e) {
        e->used = ++cache->clock;
        memcpy(to->data, e->array.data, array_bytes(to->format, to->n));
        return STATUS_OK;
    }
    enum status status =
        pair ? input_generate_pair(in, to, seed, 0, p) : input_generate(in, to, seed, 0, p);
    if (cache && status == STATUS_OK)
        keep(cache, &key, to);
    return status;
}
