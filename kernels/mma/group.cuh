/* Hopper's wgmma, as PTX names it: D = A B + C with C in place, of 64 rows and COLUMNS columns, A
 * and B in shared memory.
 *
 * A descriptor says where a factor lies: in core matrices of 8 rows of 16 bytes, each without gaps,
 * not swizzled, k along the rows. An instruction takes 32 bytes of k, two core matrices, which are
 * `leading` bytes apart; the next 8 rows are `stride` bytes on. Warp w of the four has rows 16 w ..
 * 16 w + 15 of D; of each 8 columns its lanes have what they have of mma.sync's (sync.cuh).
 *
 * Between the fence and the wait nothing may touch d: what is read of it is held back behind the
 * wait by hold_registers. */
#pragma once

#include "kernels/mma/mma.h"

namespace mma
{

__device__ __forceinline__ unsigned long long descriptor(unsigned address, unsigned leading,
                                                         unsigned stride)
{
    return (unsigned long long)((address & 0x3ffff) >> 4) |
           (unsigned long long)(leading >> 4) << 16 | (unsigned long long)(stride >> 4) << 32;
}

__device__ __forceinline__ void group_fence()
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

__device__ __forceinline__ void group_commit()
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/* Until at most so many committed groups are under way. */
template <int left> __device__ __forceinline__ void group_wait()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(left) : "memory");
}

template <int count> __device__ __forceinline__ void hold_registers(unsigned (&d)[count])
{
#pragma unroll
    for (int i = 0; i < count; i++)
        asm volatile("" : "+r"(d[i])::"memory");
}

// clang-format off
#define MMA_GROUP_64_NAMES \
    "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21," \
    "%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41," \
    "%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61," \
    "%62,%63"
#define MMA_GROUP_128_NAMES \
    "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21," \
    "%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41," \
    "%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61," \
    "%62,%63,%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79,%80,%81," \
    "%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95,%96,%97,%98,%99,%100," \
    "%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111,%112,%113,%114,%115,%116," \
    "%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127"
#define MMA_GROUP_64 \
    "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), \
    "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), \
    "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), \
    "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15]), \
    "+r"(d[16]), "+r"(d[17]), "+r"(d[18]), "+r"(d[19]), \
    "+r"(d[20]), "+r"(d[21]), "+r"(d[22]), "+r"(d[23]), \
    "+r"(d[24]), "+r"(d[25]), "+r"(d[26]), "+r"(d[27]), \
    "+r"(d[28]), "+r"(d[29]), "+r"(d[30]), "+r"(d[31]), \
    "+r"(d[32]), "+r"(d[33]), "+r"(d[34]), "+r"(d[35]), \
    "+r"(d[36]), "+r"(d[37]), "+r"(d[38]), "+r"(d[39]), \
    "+r"(d[40]), "+r"(d[41]), "+r"(d[42]), "+r"(d[43]), \
    "+r"(d[44]), "+r"(d[45]), "+r"(d[46]), "+r"(d[47]), \
    "+r"(d[48]), "+r"(d[49]), "+r"(d[50]), "+r"(d[51]), \
    "+r"(d[52]), "+r"(d[53]), "+r"(d[54]), "+r"(d[55]), \
    "+r"(d[56]), "+r"(d[57]), "+r"(d[58]), "+r"(d[59]), \
    "+r"(d[60]), "+r"(d[61]), "+r"(d[62]), "+r"(d[63])
#define MMA_GROUP_128 \
    "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), \
    "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), \
    "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), \
    "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15]), \
    "+r"(d[16]), "+r"(d[17]), "+r"(d[18]), "+r"(d[19]), \
    "+r"(d[20]), "+r"(d[21]), "+r"(d[22]), "+r"(d[23]), \
    "+r"(d[24]), "+r"(d[25]), "+r"(d[26]), "+r"(d[27]), \
    "+r"(d[28]), "+r"(d[29]), "+r"(d[30]), "+r"(d[31]), \
    "+r"(d[32]), "+r"(d[33]), "+r"(d[34]), "+r"(d[35]), \
    "+r"(d[36]), "+r"(d[37]), "+r"(d[38]), "+r"(d[39]), \
    "+r"(d[40]), "+r"(d[41]), "+r"(d[42]), "+r"(d[43]), \
    "+r"(d[44]), "+r"(d[45]), "+r"(d[46]), "+r"(d[47]), \
    "+r"(d[48]), "+r"(d[49]), "+r"(d[50]), "+r"(d[51]), \
    "+r"(d[52]), "+r"(d[53]), "+r"(d[54]), "+r"(d[55]), \
    "+r"(d[56]), "+r"(d[57]), "+r"(d[58]), "+r"(d[59]), \
    "+r"(d[60]), "+r"(d[61]), "+r"(d[62]), "+r"(d[63]), \
    "+r"(d[64]), "+r"(d[65]), "+r"(d[66]), "+r"(d[67]), \
    "+r"(d[68]), "+r"(d[69]), "+r"(d[70]), "+r"(d[71]), \
    "+r"(d[72]), "+r"(d[73]), "+r"(d[74]), "+r"(d[75]), \
    "+r"(d[76]), "+r"(d[77]), "+r"(d[78]), "+r"(d[79]), \
    "+r"(d[80]), "+r"(d[81]), "+r"(d[82]), "+r"(d[83]), \
    "+r"(d[84]), "+r"(d[85]), "+r"(d[86]), "+r"(d[87]), \
    "+r"(d[88]), "+r"(d[89]), "+r"(d[90]), "+r"(d[91]), \
    "+r"(d[92]), "+r"(d[93]), "+r"(d[94]), "+r"(d[95]), \
    "+r"(d[96]), "+r"(d[97]), "+r"(d[98]), "+r"(d[99]), \
    "+r"(d[100]), "+r"(d[101]), "+r"(d[102]), "+r"(d[103]), \
    "+r"(d[104]), "+r"(d[105]), "+r"(d[106]), "+r"(d[107]), \
    "+r"(d[108]), "+r"(d[109]), "+r"(d[110]), "+r"(d[111]), \
    "+r"(d[112]), "+r"(d[113]), "+r"(d[114]), "+r"(d[115]), \
    "+r"(d[116]), "+r"(d[117]), "+r"(d[118]), "+r"(d[119]), \
    "+r"(d[120]), "+r"(d[121]), "+r"(d[122]), "+r"(d[123]), \
    "+r"(d[124]), "+r"(d[125]), "+r"(d[126]), "+r"(d[127])
// clang-format on

/* `behind` is what PTX has behind the signs of A and B: whether 16-bit factors are transposed. */
#define MMA_GROUP(count, first, second, third, name, behind)                                       \
    asm volatile("{.reg .pred p; setp.ne.b32 p, %" third                                           \
                 ", 0;\nwgmma.mma_async.sync.aligned." name " {" MMA_GROUP_##count##_NAMES         \
                 "}, %" first ", %" second ", p, 1, 1" behind ";}"                                 \
                 : MMA_GROUP_##count                                                               \
                 : "l"(a), "l"(b), "r"((unsigned)adds)                                             \
                 : "memory")
#define MMA_GROUP_OF(k, types, behind)                                                             \
    do {                                                                                           \
        if constexpr (R == FP16)                                                                   \
            MMA_GROUP(64, "64", "65", "66", "m64n256" k ".f16." types, behind);                    \
        else if constexpr (COLUMNS == 256)                                                         \
            MMA_GROUP(128, "128", "129", "130", "m64n256" k ".f32." types, behind);                \
        else                                                                                       \
            MMA_GROUP(64, "64", "65", "66", "m64n128" k ".f32." types, behind);                    \
    } while (0)

/* 256 columns, or 128 of fp32. D = A B where it does not add, as if C were +0. */
template <enum mma_element E, enum format R, int COLUMNS>
__device__ __forceinline__ void multiply_group(unsigned (&d)[COLUMNS / (R == FP16 ? 4 : 2)],
                                               unsigned long long a, unsigned long long b,
                                               bool adds)
{
    static_assert(COLUMNS == 256 || (COLUMNS == 128 && R == FP32), "");
    if constexpr (E == MMA_FP16)
        MMA_GROUP_OF("k16", "f16.f16", ", 0, 0");
    else if constexpr (E == MMA_BF16)
        MMA_GROUP_OF("k16", "bf16.bf16", ", 0, 0"); /* of fp32 alone, as tf32 */
    else if constexpr (E == MMA_TF32)
        MMA_GROUP_OF("k8", "tf32.tf32", "");
    else if constexpr (E == MMA_E4M3)
        MMA_GROUP_OF("k32", "e4m3.e4m3", "");
    else if constexpr (E == MMA_E5M2)
        MMA_GROUP_OF("k32", "e5m2.e5m2", "");
}

#undef MMA_GROUP_64_NAMES
#undef MMA_GROUP_128_NAMES
#undef MMA_GROUP_64
#undef MMA_GROUP_128
#undef MMA_GROUP
#undef MMA_GROUP_OF

} // namespace mma
