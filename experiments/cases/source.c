#include "experiments/cases/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "experiments/system/memory.h"

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
    return problem(p, STATUS_MEMORY, "%s: out of memory", name);
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

/* `beside` is the hash of what goes with the elements of data; or "". */
static void hash_array(struct source *s, const char *beside)
{
    XXH128_canonical_t bytes, both[2];
    size_t size = array_bytes(s->array.format, s->array.n);
    XXH128_canonicalFromHash(&bytes, XXH3_128bits(s->array.data, size));
    const struct array *also = s->pair ? &s->second : s->wide.data ? &s->wide : NULL;
    if (also || *beside) {
        both[0] = bytes;
        XXH128_canonicalFromHash(&both[1],
                                 also ? XXH3_128bits(also->data, array_bytes(also->format, also->n))
                                      : XXH3_128bits(beside, strlen(beside)));
        XXH128_canonicalFromHash(&bytes, XXH3_128bits(both, sizeof both));
    }
    for (size_t i = 0; i < sizeof bytes.digest; i++)
        snprintf(s->hash + 2 * i, 3, "%02x", bytes.digest[i]);
}

enum status source_data(struct source *s, const struct data *data, size_t n, struct problem *p)
{
    if (n > data->array.n)
        return problem(p, STATUS_USAGE, "option --n: found %zu, but %s has %zu elements", n,
                       data->name, data->array.n);
    *s = (struct source){.array = {data->array.format, n, data->array.data},
                         .wide = {data->wide.format, n, data->wide.data},
                         .rows = n == data->array.n ? data->rows : 0,
                         .with = data->with};
    s->name = strdup(data->name);
    hash_array(s, data->beside);
    return s->name ? STATUS_OK : no_memory(data->name, p);
}

void source_pair(struct source *s)
{
    s->pair = true;
    s->second = (struct array){s->array.format, s->array.n, NULL};
}

enum status source_shift(struct source *s, uint64_t shift, struct problem *p)
{
    char *name;
    size_t n = s->array.n, width = (size_t)format_facts[s->array.format].bytes;
    size_t turn = n > 0 ? (size_t)(shift % n) : 0;
    enum status status = memory_array(&s->second, s->array.format, n, s->name, p);
    if (status != STATUS_OK)
        return status;
    s->pair = true;
    memcpy(s->second.data, (const char *)s->array.data + turn * width, (n - turn) * width);
    memcpy((char *)s->second.data + (n - turn) * width, s->array.data, turn * width);
    hash_array(s, "");
    if (asprintf(&name, "%s:shift=%llu", s->name, (unsigned long long)shift) < 0)
        return no_memory(s->name, p);
    free(s->name);
    s->name = name;
    return STATUS_OK;
}

enum status source_arrange(struct source *s, enum arrangement order, struct problem *p)
{
    char *name;
    if (asprintf(&name, "%s:order=%s", s->name, arrangement_name[order]) < 0)
        return no_memory(s->name, p);
    free(s->name);
    s->name = name;
    s->order = order;
    s->unordered = s->array;
    s->array.data = NULL;
    return STATUS_OK;
}

/* Of data, the elements as they were read. */
static const void *as_read(const struct source *s)
{
    return s->unordered.data ? s->unordered.data : s->array.data;
}

bool source_reordered(const struct source *a, const struct source *b)
{
    if (a->generated != b->generated || a->pair || b->pair || a->array.n != b->array.n ||
        a->array.format != b->array.format)
        return false;
    if (!a->generated)
        return a->order != b->order && as_read(a) == as_read(b);
    return a->seed == b->seed && a->input.family == b->input.family &&
           a->input.arrangement != b->input.arrangement &&
           memcmp(a->input.parameter, b->input.parameter, sizeof a->input.parameter) == 0;
}

enum status source_base(char **base, const struct source *s, struct problem *p)
{
    char name[INPUT_TEXT];
    struct input in = s->input;
    in.arrangement = ARRANGED_AS_GENERATED;
    if (s->generated)
        input_name(&in, name);
    *base = s->generated        ? strdup(name)
            : s->unordered.data ? strndup(s->name, strlen(s->name) - strlen(":order=") -
                                                       strlen(arrangement_name[s->order]))
                                : strdup(s->name);
    return *base ? STATUS_OK : no_memory(s->name, p);
}

/* A copy of the data, in its order. */
static enum status arrange(struct source *s, struct problem *p)
{
    enum { SEED = 1 };
    size_t n = s->array.n;
    enum status status = memory_array(&s->array, s->array.format, n, s->name, p);
    s->array.n = n;
    if (status != STATUS_OK)
        return status;
    memcpy(s->array.data, s->unordered.data, array_bytes(s->array.format, n));
    status = input_arrange(&s->array, s->order, SEED, p);
    if (status != STATUS_OK)
        source_unload(s);
    return status;
}

/* Both arrays lie in one piece of memory, the first's. */
static enum status generate(struct source *s, struct problem *p)
{
    if (!s->pair)
        return input_generate(&s->input, &s->array, s->seed, 0, p);
    struct array both = {s->array.format, 2 * s->array.n, s->array.data};
    s->second.data = (char *)both.data + array_bytes(s->array.format, s->array.n);
    return input_generate_pair(&s->input, &both, s->seed, 0, p);
}

enum status source_load(struct source *s, struct problem *p)
{
    if (s->array.data || (!s->generated && !s->unordered.data))
        return STATUS_OK;
    if (!s->generated)
        return arrange(s, p);
    size_t n = s->array.n;
    enum status status = memory_array(&s->array, s->array.format, s->pair ? 2 * n : n, s->name, p);
    s->array.n = n;
    if (status != STATUS_OK)
        return status;
    status = generate(s, p);
    if (status == STATUS_OK)
        hash_array(s, "");
    else
        source_unload(s);
    return status;
}

void source_unload(struct source *s)
{
    if (s->generated)
        s->second.data = NULL;
    else if (!s->unordered.data)
        return;
    free(s->array.data);
    s->array.data = NULL;
}

void source_free(struct source *s)
{
    source_unload(s);
    if (!s->generated)
        free(s->second.data);
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
