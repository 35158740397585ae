/* Many elements at once into a superaccumulator. */
#pragma once

#include "reference/exact/exact.h"

/* The most elements that one call takes. */
enum { BINS_MOST = 1 << 20 };

/* Adds elements begin .. begin+count-1, count <= BINS_MOST. */
void bins_add(struct exact *e, const struct array *a, size_t begin, size_t count);
