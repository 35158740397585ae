/* What differs from moment to moment, for subjects whose results do. */
#pragma once

#include <time.h>

static inline unsigned long ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (unsigned long)now.tv_sec * 1000000000 + (unsigned long)now.tv_nsec;
}

/* As good as random, from a time or an address. */
static inline int bit_of(unsigned long x)
{
    return (int)(x * 0x9e3779b97f4a7c15 >> 63);
}
