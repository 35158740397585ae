/* Heights of trees that may cover no element. */
#pragma once

#include <stddef.h>

enum { HEIGHT_OF_NOTHING = -1 };

/* The height of the sum of two trees; the addition is skipped if one of them covers nothing. */
static inline long height_join(long a, long b)
{
    if (a == HEIGHT_OF_NOTHING || b == HEIGHT_OF_NOTHING)
        return a == HEIGHT_OF_NOTHING ? b : a;
    return 1 + (a > b ? a : b);
}

static inline size_t height_known(long height)
{
    return height == HEIGHT_OF_NOTHING ? 0 : (size_t)height;
}
