/* Values that blocks of one launch leave for each other.
 *
 * A place holds the complement of a value's bits, and 0 while it is empty: the value is its own
 * flag, so that neither fences nor counters are needed, and a zero-filled array is an empty one.
 * All ones would look empty; they are a NaN, and so are all ones but the last. Whoever takes a
 * value empties its place, so that the next launch finds it empty again.
 *
 * Blocks are started in the order of their index, and one that waits keeps others from starting. So
 * a block may wait for what blocks of lower index do before they wait themselves for a higher one,
 * and for its own. */
#ifndef ULPSCOPE_MAILBOX_CUH
#define ULPSCOPE_MAILBOX_CUH

#include "kernels/device.cuh"

template <size_t bytes> struct place_of_bytes;
template <> struct place_of_bytes<2> {
    typedef unsigned short type;
};
template <> struct place_of_bytes<4> {
    typedef unsigned type;
};
template <> struct place_of_bytes<8> {
    typedef unsigned long long type;
};
template <typename A> using place = typename place_of_bytes<sizeof(A)>::type;

template <typename A> __device__ inline void leave(place<A> *to, A value)
{
    place<A> bits;
    memcpy(&bits, &value, sizeof bits);
    bits = ~bits;
    *(volatile place<A> *)to = bits ? bits : 1;
}

/* Waits for `count` values that are `stride` places apart, where `present` says so. */
template <unsigned count, typename A>
__device__ inline void take(place<A> *from, unsigned stride, unsigned present, A (&value)[count])
{
    place<A> bits[count];
    bool all;
    do {
        all = true;
#pragma unroll
        for (unsigned i = 0; i < count; i++)
            if (i < present) {
                bits[i] = *(volatile place<A> *)(from + i * stride);
                all = all && bits[i];
            }
    } while (!all);
#pragma unroll
    for (unsigned i = 0; i < count; i++)
        if (i < present) {
            from[i * stride] = 0;
            bits[i] = ~bits[i];
            memcpy(&value[i], &bits[i], sizeof bits[i]);
        }
}

#endif
