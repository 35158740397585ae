#include "experiments/runs/tally.h"

#include <stdlib.h>

#include "reference/base/grow.h"

static bool same(struct hash128 a, struct hash128 b)
{
    return a.word[0] == b.word[0] && a.word[1] == b.word[1];
}

static uint32_t *slot_of(const struct tally *t, struct hash128 digest)
{
    size_t at = (size_t)hash_mix(digest.word[0]) & (t->slots - 1); /* sums differ in few bits */
    while (t->slot[at] && !same(t->item[t->slot[at] - 1].digest, digest))
        at = (at + 1) & (t->slots - 1);
    return &t->slot[at];
}

/* Room for one more entry, with at least half of the slots empty. */
static bool make_room(struct tally *t)
{
    if (t->count < t->capacity)
        return true;
    size_t capacity = t->capacity ? 2 * t->capacity : 16;
    struct distinct *item = realloc(t->item, capacity * sizeof *item);
    if (item)
        t->item = item;
    uint32_t *slot = capacity < UINT32_MAX / 2 ? calloc(2 * capacity, sizeof *slot) : NULL;
    if (!item || !slot) {
        free(slot);
        return false;
    }
    free(t->slot);
    t->slot = slot;
    t->slots = 2 * capacity;
    t->capacity = capacity;
    for (size_t i = 0; i < t->count; i++)
        *slot_of(t, t->item[i].digest) = (uint32_t)i + 1;
    return true;
}

struct distinct *tally_add(struct tally *t, struct hash128 digest)
{
    if (!make_room(t))
        return NULL;
    uint32_t *slot = slot_of(t, digest);
    if (!*slot) {
        t->item[t->count] = (struct distinct){.digest = digest};
        *slot = (uint32_t)++t->count;
    }
    struct distinct *d = &t->item[*slot - 1];
    d->count++;
    t->runs++;
    return d;
}

bool tally_time(struct tally *t, uint64_t time_ns)
{
    if (!grow(&t->time_ns, t->times, sizeof *t->time_ns))
        return false;
    t->time_ns[t->times++] = (double)time_ns;
    return true;
}

static void free_items(struct tally *t)
{
    for (size_t i = 0; i < t->count; i++) {
        text_free(&t->item[i].value_text);
        text_free(&t->item[i].errors_text);
        text_free(&t->item[i].scan_text);
    }
}

void tally_clear(struct tally *t)
{
    free_items(t);
    if (t->slots > 0)
        memset(t->slot, 0, t->slots * sizeof *t->slot);
    t->count = t->times = t->runs = 0;
    if (t->slots > 1 << 16)
        tally_free(t);
}

void tally_free(struct tally *t)
{
    free_items(t);
    free(t->item);
    free(t->slot);
    free(t->time_ns);
    *t = (struct tally){0};
}
