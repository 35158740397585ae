/* Pieces that blocks of one launch leave for each other.
 *
 * A piece is left word by word. A place holds a word coded so that it is not 0 (coded.cuh), and 0
 * while it is empty: each word is its own flag, so that neither fences nor counters are needed, and
 * a zero-filled array is an empty one. Whoever takes a piece empties its places, so that the next
 * launch finds them empty again.
 *
 * Blocks are started in the order of their index, and one that waits keeps others from starting. So
 * a block may wait for what blocks of lower index do before they wait themselves for a higher one,
 * and for its own. */
#pragma once

#include "kernels/device/coded.cuh"

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
/* Of a word of P. A piece has P::words of them, one after the other. */
template <typename P> using place = typename place_of_bytes<sizeof(typename P::word)>::type;

template <typename P> __device__ inline void leave(place<P> *to, const P &piece)
{
#pragma unroll
    for (unsigned k = 0; k < P::words; k++)
        ((volatile place<P> *)to)[k] = code_of<place<P>>(piece.w[k]);
}

/* What a place, or several side by side, hold now. */
__device__ inline unsigned short peek(const unsigned short *from)
{
    return *(const volatile unsigned short *)from;
}
__device__ inline unsigned peek(const unsigned *from)
{
    return *(const volatile unsigned *)from;
}
__device__ inline uint2 peek(const uint2 *from)
{
    uint2 w;
    asm volatile("ld.volatile.v2.u32 {%0, %1}, [%2];"
                 : "=r"(w.x), "=r"(w.y)
                 : "l"(from)
                 : "memory");
    return w;
}
__device__ inline uint4 peek(const uint4 *from)
{
    uint4 w;
    asm volatile("ld.volatile.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(w.x), "=r"(w.y), "=r"(w.z), "=r"(w.w)
                 : "l"(from)
                 : "memory");
    return w;
}

/* Waits for `count` pieces that are `stride` pieces apart, where `present` says so. */
template <unsigned count, typename P>
__device__ inline void take(place<P> *from, unsigned stride, unsigned present, P (&piece)[count])
{
    place<P> code[count][P::words];
    bool all;
    do {
        all = true;
#pragma unroll
        for (unsigned i = 0; i < count; i++)
#pragma unroll
            for (unsigned k = 0; k < P::words; k++)
                if (i < present) {
                    code[i][k] = ((volatile place<P> *)from)[i * stride * P::words + k];
                    all = all && code[i][k];
                }
    } while (!all);
#pragma unroll
    for (unsigned i = 0; i < count; i++)
#pragma unroll
        for (unsigned k = 0; k < P::words; k++)
            if (i < present) {
                from[i * stride * P::words + k] = 0;
                piece[i].w[k] = coded<typename P::word>(code[i][k]);
            }
}
