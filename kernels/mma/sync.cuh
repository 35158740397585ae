/* The mma.sync instructions of Hopper, as PTX names them, D = A B + C with C in place.
 *
 * A is 16 rows and B 8 columns of 32 bytes of k (of doubles 128): of each row and column, lane
 * 4 g + t has words t and t + 4, of A those of rows g and g + 8, of B those of column g. It has D's
 * elements (g, 2 t), (g, 2 t + 1), (g + 8, 2 t), (g + 8, 2 t + 1); in fp16 the first two are the
 * halves of d[0], the others those of d[1]. */
#pragma once

#include "kernels/mma/mma.h"

namespace mma
{

#define MMA_SYNC_A "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3])
#define MMA_SYNC_32(shape, types)                                                                  \
    asm volatile("mma.sync.aligned." shape ".row.col.f32." types ".f32 {%0,%1,%2,%3}, "            \
                 "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"                                          \
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])                                  \
                 : MMA_SYNC_A, "r"(b[0]), "r"(b[1]))
#define MMA_SYNC_16(shape, types)                                                                  \
    asm volatile("mma.sync.aligned." shape ".row.col.f16." types                                   \
                 ".f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};"                                  \
                 : "+r"(d[0]), "+r"(d[1])                                                          \
                 : MMA_SYNC_A, "r"(b[0]), "r"(b[1]))
#define MMA_SYNC_EITHER(shape, types)                                                              \
    do {                                                                                           \
        if constexpr (R == FP16)                                                                   \
            MMA_SYNC_16(shape, types);                                                             \
        else                                                                                       \
            MMA_SYNC_32(shape, types);                                                             \
    } while (0)

template <enum mma_element A, enum mma_element B, enum format R, int D>
__device__ __forceinline__ void multiply(const unsigned (&a)[4], const unsigned (&b)[2],
                                         unsigned (&d)[D])
{
    if constexpr (A == MMA_FP16)
        MMA_SYNC_EITHER("m16n8k16", "f16.f16");
    else if constexpr (A == MMA_BF16)
        MMA_SYNC_32("m16n8k16", "bf16.bf16");
    else if constexpr (A == MMA_TF32)
        MMA_SYNC_32("m16n8k8", "tf32.tf32");
    else if constexpr (A == MMA_E4M3 && B == MMA_E4M3)
        MMA_SYNC_EITHER("m16n8k32", "e4m3.e4m3");
    else if constexpr (A == MMA_E4M3 && B == MMA_E5M2)
        MMA_SYNC_EITHER("m16n8k32", "e4m3.e5m2");
    else if constexpr (A == MMA_E5M2 && B == MMA_E4M3)
        MMA_SYNC_EITHER("m16n8k32", "e5m2.e4m3");
    else if constexpr (A == MMA_E5M2 && B == MMA_E5M2)
        MMA_SYNC_EITHER("m16n8k32", "e5m2.e5m2");
}

/* a[2 i] and a[2 i + 1] are words t + 4 i of rows g and g + 8, b[i] that of column g. */
__device__ __forceinline__ void multiply_doubles(const double (&a)[8], const double (&b)[4],
                                                 double (&d)[4])
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, "
                 "{%4,%5,%6,%7,%8,%9,%10,%11}, {%12,%13,%14,%15}, {%0,%1,%2,%3};"
                 : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
                 : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]),
                   "d"(a[7]), "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
}

#undef MMA_SYNC_A
#undef MMA_SYNC_32
#undef MMA_SYNC_16
#undef MMA_SYNC_EITHER

} // namespace mma
