/* What is made of A and B of matrix products where their shape asks for it: B in the other format
 * of 8 bits (mixed), both in 8 bits by scales (scale=auto), or of tf32's numbers (tf32). */
#pragma once

#include "kernels/method/gemm.h"
#include "reference/format/array.h"

/* Does it ask for other elements than those that are stored? */
static inline bool quantise_changes(const struct gemm_shape *s)
{
    return s->mixed || s->tf32 || s->scaling == GEMM_SCALED_BY_AMAX;
}

/* Writes A and B, made of `from`, to `to`, of the storage format; B of mixed ones in the other one.
 * All else of `to` stays. Sets s->scale where it asks for scales by amax, and is scaled by them
 * then:
 *
 *     scale = fl(max|x| / largest), or 1 where max|x| is 0 or not finite, or 2^-149 where it is 0
 *     element = x / scale, rounded to fp32, then to the format, to its largest number at most
 *
 * of fp32 numbers x, which those of `from` are rounded to: as DeepSeek-V3 does it, one matrix at a
 * time. `largest` is 448 of e4m3, 57344 of e5m2. */
void quantise(const struct array *to, const struct array *from, struct gemm_shape *s);

/* Rounded to 11 digits with the exponents of fp32: to nearest, ties away from zero, what is too
 * large to infinity, as PTX's cvt.rna.tf32.f32. x is a number of fp32. */
double quantise_tf32(double x);
