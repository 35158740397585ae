/* Values coded as words of which none is 0: a word of 0 is a place that is still empty. */
#pragma once

#include "kernels/device/device.cuh"

/* The complement of a value's bits, in a word W as wide or wider. All ones, a NaN, becomes another
 * NaN. */
template <typename W, typename A> __device__ inline W code_of(A value)
{
    W bits = 0;
    memcpy(&bits, &value, sizeof value);
    bits = ~bits;
    return bits ? bits : 1;
}
template <typename A, typename W> __device__ inline A coded(W word)
{
    A value;
    word = ~word;
    memcpy(&value, &word, sizeof value);
    return value;
}
