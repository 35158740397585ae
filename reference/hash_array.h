/* The hash of an array in host memory. */
#ifndef ULPSCOPE_HASH_ARRAY_H
#define ULPSCOPE_HASH_ARRAY_H

#include "reference/array.h"
#include "reference/hash.h"

struct hash128 hash_array(const struct array *a);

#endif
