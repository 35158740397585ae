#include "experiments/tally.h"

#include <stdlib.h>

/* Finalizer of MurmurHash3: results differ in few bits. */
static size_t hash(uint64_t bits)
{
    bits ^= bits >> 33;
    bits *= UINT64_C(0xff51afd7ed558ccd);
    bits ^= bits >> 33;
    bits *= UINT64_C(0xc4ceb9fe1a85ec53);
    return (size_t)(bits ^ bits >> 33);
}

static uint32_t *slot_of(const struct tally *t, uint64_t bits)
{
    size_t at = hash(bits) & (t->slots - 1);
    while (t->slot[at] && t->item[t->slot[at] - 1].bits != bits)
        at = (at + 1) & (t->slots - 1);
    return &t->slot[at];
}

/* Room for one more entry, with at least half of the slots empty. */
static bool grow(struct tally *t)
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
        *slot_of(t, t->item[i].bits) = (uint32_t)i + 1;
    return true;
}

struct distinct *tally_add(struct tally *t, enum format accumulator, uint64_t bits)
{
    if (!grow(t))
        return NULL;
    uint32_t *slot = slot_of(t, bits);
    if (!*slot) {
        t->item[t->count] =
            (struct distinct){.bits = bits, .value = format_decode(accumulator, bits)};
        *slot = (uint32_t)++t->count;
    }
    struct distinct *d = &t->item[*slot - 1];
    d->count++;
    t->runs++;
    return d;
}

bool tally_time(struct tally *t, uint64_t time_ns)
{
    if (t->times == t->times_capacity) {
        size_t capacity = t->times_capacity ? 2 * t->times_capacity : 64;
        double *grown = realloc(t->time_ns, capacity * sizeof *grown);
        if (!grown)
            return false;
        t->time_ns = grown;
        t->times_capacity = capacity;
    }
    t->time_ns[t->times++] = (double)time_ns;
    return true;
}

static void free_items(struct tally *t)
{
    for (size_t i = 0; i < t->count; i++) {
        text_free(&t->item[i].value_text);
        text_free(&t->item[i].errors_text);
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
