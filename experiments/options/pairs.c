#include "experiments/options/pairs.h"

#include <stdio.h>

enum status formats_parse(struct formats *formats, const char *option, const struct list *names,
                          struct problem *p)
{
    formats->count = 0;
    for (size_t i = 0; i < names->count; i++) {
        enum format f;
        enum status status = format_parse(&f, option, names->item[i], p);
        if (status != STATUS_OK)
            return status;
        size_t k = 0;
        while (k < formats->count && formats->item[k] != f)
            k++;
        formats->item[k] = f;
        formats->count += k == formats->count;
    }
    return STATUS_OK;
}

static void add(struct pairs *pairs, enum format storage, enum format accumulator)
{
    for (size_t i = 0; i < pairs->count; i++)
        if (pairs->item[i].storage == storage && pairs->item[i].accumulator == accumulator)
            return;
    pairs->item[pairs->count++] = (struct format_pair){storage, accumulator};
}

enum status pairs_parse(struct pairs *pairs, const char *text, struct problem *p)
{
    char storage[8] = "";
    const char *slash = strchr(text, '/');
    if (slash && slash - text < (ptrdiff_t)sizeof storage)
        memcpy(storage, text, (size_t)(slash - text));
    enum format s = format_named(storage), a = slash ? format_named(slash + 1) : FORMATS;
    bool all = strcmp(text, "all") == 0;
    if (!all && (s == FORMATS || a == FORMATS))
        return problem(p, STATUS_DATA, "axis 'formats': found '%s', expected STORAGE/ACCUMULATOR",
                       text);
    if (!all)
        add(pairs, s, a);
    for (s = 0; all && s < FORMATS; s++)
        for (a = 0; a < ACCUMULATORS; a++)
            add(pairs, s, a);
    return STATUS_OK;
}

void pairs_with(struct formats *accumulator, const struct pairs *pairs, enum format storage)
{
    bool paired[FORMATS] = {0}, any[FORMATS] = {0}, found = false;
    for (size_t i = 0; i < pairs->count; i++) {
        const struct format_pair *pair = &pairs->item[i];
        any[pair->accumulator] = true;
        paired[pair->accumulator] |= pair->storage == storage;
        found |= pair->storage == storage;
    }
    accumulator->count = 0;
    for (enum format f = 0; f < FORMATS; f++)
        if (found ? paired[f] : any[f])
            accumulator->item[accumulator->count++] = f;
}

/* The storage formats asked for, or else all that are in a pair. */
static struct formats storages(const struct pairs *pairs, const struct formats *asked)
{
    struct formats storage = *asked;
    for (enum format f = 0; asked->count == 0 && f < FORMATS; f++) {
        bool found = false;
        for (size_t i = 0; i < pairs->count; i++)
            found |= pairs->item[i].storage == f;
        if (found)
            storage.item[storage.count++] = f;
    }
    return storage;
}

void pairs_narrow(struct pairs *pairs, const struct formats *storage,
                  const struct formats *accumulator)
{
    if (storage->count == 0 && accumulator->count == 0)
        return;
    struct pairs was = *pairs;
    struct formats first = storages(&was, storage);
    pairs->count = 0;
    for (size_t i = 0; i < first.count; i++) {
        struct formats partner = *accumulator;
        if (accumulator->count == 0)
            pairs_with(&partner, &was, first.item[i]);
        for (size_t k = 0; k < partner.count; k++)
            add(pairs, first.item[i], partner.item[k]);
    }
}

void pairs_text(char text[PAIRS_TEXT], const struct pairs *pairs)
{
    size_t used = 0;
    *text = 0;
    for (size_t i = 0; i < pairs->count; i++)
        used += (size_t)snprintf(text + used, PAIRS_TEXT - used, "%s%s/%s", i ? ", " : "",
                                 format_facts[pairs->item[i].storage].name,
                                 format_facts[pairs->item[i].accumulator].name);
}

void method_pairs_text(char text[PAIRS_TEXT], const struct method *m, enum device_kind device)
{
    struct pairs taken = {.count = 0};
    const struct format_pairs *pairs = method_pairs(m, device);
    for (enum format s = 0; s < FORMATS; s++)
        for (enum format a = 0; a < FORMATS; a++)
            if (pairs->accumulators[s] & IN(a))
                taken.item[taken.count++] = (struct format_pair){s, a};
    pairs_text(text, &taken);
}
