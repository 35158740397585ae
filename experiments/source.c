#include "experiments/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>

#include "experiments/memory.h"

/* Which parameter holds the target condition number; INPUT_PARAMETERS for none. */
static size_t target_parameter(const struct input *in)
{
    for (size_t i = 0; in->family->uses_cond && in->family->parameter[i].name; i++)
        if (strcmp(in->family->parameter[i].name, "target") == 0)
            return i;
    return INPUT_PARAMETERS;
}

bool source_takes_cond(const struct input *in)
{
    size_t target = target_parameter(in);
    return target < INPUT_PARAMETERS &&
           in->parameter[target] == in->family->parameter[target].value;
}

static enum status no_memory(const char *name, struct problem *p)
{
    return problem(p, STATUS_DEVICE, "%s: out of memory", name);
}

enum status source_generated(struct source *s, const struct input *in, enum format storage,
                             size_t n, uint64_t seed, double cond, struct problem *p)
{
    char name[INPUT_TEXT];
    *s =
        (struct source){.generated = true, .input = *in, .seed = seed, .array = {storage, n, NULL}};
    if (cond != 0 && source_takes_cond(in))
        s->input.parameter[target_parameter(in)] = cond;
    input_name(&s->input, name);
    s->name = strdup(name);
    return s->name ? STATUS_OK : no_memory(name, p);
}

static void hash_array(struct source *s)
{
    XXH128_canonical_t bytes;
    XXH128_canonicalFromHash(&bytes,
                             XXH3_128bits(s->array.data, array_bytes(s->array.format, s->array.n)));
    for (size_t i = 0; i < sizeof bytes.digest; i++)
        snprintf(s->hash + 2 * i, 3, "%02x", bytes.digest[i]);
}

enum status source_data(struct source *s, const struct data *data, size_t n, struct problem *p)
{
    if (n > data->array.n)
        return problem(p, STATUS_USAGE, "option --n: found %zu, but %s has %zu elements", n,
                       data->name, data->array.n);
    *s = (struct source){.array = {data->array.format, n, data->array.data}};
    s->name = strdup(data->name);
    hash_array(s);
    return s->name ? STATUS_OK : no_memory(data->name, p);
}

enum status source_load(struct source *s, struct problem *p)
{
    if (!s->generated || s->array.data)
        return STATUS_OK;
    enum status status = memory_array(&s->array, s->array.format, s->array.n, s->name, p);
    if (status != STATUS_OK)
        return status;
    status = input_generate(&s->input, &s->array, s->seed, 0, p);
    if (status == STATUS_OK)
        hash_array(s);
    else
        source_unload(s);
    return status;
}

void source_unload(struct source *s)
{
    if (!s->generated)
        return;
    free(s->array.data);
    s->array.data = NULL;
}

void source_free(struct source *s)
{
    source_unload(s);
    free(s->name);
    *s = (struct source){0};
}

char *source_key(const struct source *s)
{
    char *key;
    const char *format = format_facts[s->array.format].name;
    int length = s->generated ? asprintf(&key, "%s %s n=%zu seed=%llu", s->name, format, s->array.n,
                                         (unsigned long long)s->seed)
                              : asprintf(&key, "%s %s n=%zu", s->name, format, s->array.n);
    return length < 0 ? NULL : key;
}
