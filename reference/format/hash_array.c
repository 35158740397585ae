#include "reference/format/hash_array.h"

#include <string.h>

#include "reference/base/variants.h"

/* Loops of their own for each width: what checks compare is hashed, and it is mostly this. */
#define HASH_ALL(bits_of)                                                                          \
    for (size_t i = 0; i < a->n; i++) {                                                            \
        bits_of bits;                                                                              \
        memcpy(&bits, data + i * sizeof bits, sizeof bits);                                        \
        hash_add(&h, i, hash_canonical(bits, last));                                               \
    }

INLINE struct hash128 hash_any(const struct array *a)
{
    struct hash128 h = {{0, 0}};
    const char *data = a->data;
    const uint64_t last = format_facts[a->format].last;
    switch (format_facts[a->format].bytes) {
    case 1:
        HASH_ALL(uint8_t)
        break;
    case 2:
        HASH_ALL(uint16_t)
        break;
    case 4:
        HASH_ALL(uint32_t)
        break;
    default:
        HASH_ALL(uint64_t)
    }
    return h;
}

static struct hash128 hash_baseline(const struct array *a)
{
    return hash_any(a);
}

#ifdef __x86_64__
/* With multiplications of 64 bits in vectors, which AVX2 has not. */
AVX512 static struct hash128 hash_avx512(const struct array *a)
{
    return hash_any(a);
}
#endif

const struct hash_variant hash_variant[] = {
#ifdef __x86_64__
    {"avx512", has_avx512, hash_avx512},
#endif
    {"baseline", always, hash_baseline},
};
const size_t hash_variants = sizeof hash_variant / sizeof *hash_variant;

struct hash128 hash_array(const struct array *a)
{
    const struct hash_variant *v = hash_variant;
    while (!v->available())
        v++;
    return v->hash(a);
}
