/* The hash of an array in host memory. */
#pragma once

#include "reference/format/array.h"
#include "reference/base/hash.h"

struct hash128 hash_array(const struct array *a);

/* --- for tests --- */

/* The same, each compiled for another instruction set. The first is the fastest that is available
 * somewhere, the last is available everywhere. */
struct hash_variant {
    const char *name;
    bool (*available)(void); /* on this machine */
    struct hash128 (*hash)(const struct array *a);
};
extern const struct hash_variant hash_variant[];
extern const size_t hash_variants;
