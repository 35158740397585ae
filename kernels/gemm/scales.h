/* How scales are dealt to the elements of A and B. */
#pragma once

#include "kernels/method/operands.h"
#include "reference/exact/matrices.h"

/* A's (0) or B's (1), without the numbers unless they are given: how many rows or columns, and how
 * many k, share one. They lie in the order of the rows of A, or of the columns of B, and along k
 * within one. */
static inline struct matrices_scales gemm_scales_dealt(const struct gemm_shape *s, int side)
{
    const bool blocks = s->scaling == GEMM_SCALED_BLOCKS,
               all = !blocks && s->scaling != GEMM_SCALED_OUTER;
    const size_t most = (size_t)-1;
    if (s->given)
        return s->given[side];
    return (struct matrices_scales){
        .lines = all                   ? most
                 : blocks && side == 1 ? GEMM_SCALE_BLOCK
                                       : 1,
        .terms = blocks ? GEMM_SCALE_BLOCK : most,
        .along = !blocks || s->k == 0 ? 1 : (s->k - 1) / GEMM_SCALE_BLOCK + 1};
}

/* How many there are. */
static inline size_t gemm_scales_count(const struct gemm_shape *s, int side)
{
    const struct matrices_scales dealt = gemm_scales_dealt(s, side);
    const size_t lines = side == 0 ? s->m : s->n;
    return lines == 0 ? 0 : ((lines - 1) / dealt.lines + 1) * dealt.along;
}

/* Those of made operands. */
static inline struct matrices_scales gemm_scales(const struct operands *of, int side)
{
    const struct gemm_shape *s = &of->gemm;
    struct matrices_scales scales = gemm_scales_dealt(s, side);
    if (s->given)
        return scales;
    if (s->scaling == GEMM_SCALED)
        scales.of = &s->scale[side];
    else if (s->scaling != GEMM_UNSCALED)
        scales.of = side == 0 ? of->scales : of->scales + gemm_scales_count(s, 0);
    return scales;
}
