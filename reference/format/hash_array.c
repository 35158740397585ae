#include "reference/format/hash_array.h"

struct hash128 hash_array(const struct array *a)
{
    struct hash128 h = {{0, 0}};
    uint64_t last = format_facts[a->format].last;
    for (size_t i = 0; i < a->n; i++)
        hash_add(&h, i, hash_canonical(array_bits(a, i), last));
    return h;
}
