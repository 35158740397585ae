/* What is made of A and B of matrix products where their shape asks for it: B in the other format
 * of 8 bits (mixed), both in 8 bits by scales (scale=auto, outer, blocks), or of tf32's numbers
 * (tf32). */
#pragma once

#include "kernels/gemm/scales.h"
#include "reference/format/array.h"

/* Are its scales made from the data? */
static inline bool quantise_by_amax(const struct gemm_shape *s)
{
    return s->scaling != GEMM_UNSCALED && s->scaling != GEMM_SCALED && !s->given;
}

/* Does it ask for other elements than those that are stored? */
static inline bool quantise_changes(const struct gemm_shape *s)
{
    return s->mixed || s->tf32 || quantise_by_amax(s);
}

/* Writes A and B, made of `from`, to `to`, of the storage format; B of mixed ones in the other one.
 * All else of `to` stays. Where it asks for scales by amax, each is
 *
 *     scale = fl(max|x| / largest), or 1 where max|x| is 0 or not finite, or 2^-149 where it is 0
 *     element = x / scale, rounded to fp32, then to the format, to its largest number at most
 *
 * where x is a number of `from`, rounded to fp32; max|x| is the largest of all that share the
 * scale, without NaNs. It is DeepSeek-V3's formula but for max|x| = 0, where its quotients are NaN.
 * `largest` is 448 of e4m3, 57344 of e5m2. Scales go to `scales` (gemm_scales_dealt), or, of whole
 * matrices, to s->scale, and s is GEMM_SCALED then. */
void quantise(const struct array *to, const struct array *from, struct gemm_shape *s,
              float *scales);

/* Rounded to 11 digits with the exponents of fp32: to nearest, ties away from zero, what is too
 * large to infinity, as PTX's cvt.rna.tf32.f32. x is a number of fp32. */
double quantise_tf32(double x);
