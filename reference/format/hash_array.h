/* The hash of an array in host memory. */
#pragma once

#include "reference/format/array.h"
#include "reference/base/hash.h"

struct hash128 hash_array(const struct array *a);
