/* Integers in the byte layouts of states, least significant byte first on every machine. */
#pragma once

#include <stdint.h>

static inline void put_little(unsigned char *to, int bytes, uint64_t value)
{
    for (int i = 0; i < bytes; i++)
        to[i] = (unsigned char)(value >> 8 * i);
}

static inline uint64_t get_little(const unsigned char *from, int bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value |= (uint64_t)from[i] << 8 * i;
    return value;
}
