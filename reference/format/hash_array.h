/* The hash of an array in host memory. */
#ifndef ULPSCOPE_FORMAT_HASH_ARRAY_H
#define ULPSCOPE_FORMAT_HASH_ARRAY_H

#include "reference/format/array.h"
#include "reference/base/hash.h"

struct hash128 hash_array(const struct array *a);

#endif
