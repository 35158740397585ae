#include "experiments/operations/quantise.h"

#include <math.h>

#include "kernels/gemm/elements.h"

double quantise_tf32(double x)
{
    enum { IGNORED = 13 };
    const uint64_t half = UINT64_C(1) << (IGNORED - 1), mask = ~((UINT64_C(1) << IGNORED) - 1);
    /* A carry goes on into the exponent, and from the largest one to infinity. */
    return isfinite(x) ? format_decode(FP32, (format_encode(FP32, x) + half) & mask) : x;
}

static double by_scale(double x, double scale, enum format f)
{
    const double largest = format_facts[f].largest;
    const double quotient = format_round(FP32, format_round(FP32, x) / scale);
    return isfinite(quotient) && fabs(quotient) > largest ? copysign(largest, quotient) : quotient;
}

/* A or B: elements begin .. end-1. */
struct part {
    const struct gemm_shape *shape;
    int side;
    size_t begin, end;
    enum format format;
    struct matrices_scales dealt;
};

static size_t lines_of(const struct part *m)
{
    return m->side == 0 ? m->shape->m : m->shape->n;
}

static size_t place(const struct part *m, size_t line, size_t k)
{
    return m->side == 0 ? gemm_a_at(m->shape, line, k) : gemm_b_at(m->shape, k, line);
}

static size_t scale_at(const struct part *m, size_t line, size_t k)
{
    return line / m->dealt.lines * m->dealt.along + k / m->dealt.terms;
}

/* The scale of what lies there: 1 of what is nobody's, behind lines. */
static double scale_of_place(const float *scale, const struct part *m, size_t i)
{
    const struct gemm_shape *s = m->shape;
    const bool a = m->side == 0, along = a ? !s->a_column : s->b_column; /* do lines lie along k? */
    const size_t ld = a ? gemm_lda(s) : gemm_ldb(s);
    const size_t outer = (i - m->begin) / ld, inner = (i - m->begin) % ld;
    return inner >= ld - s->pad ? 1
           : along              ? (double)scale[scale_at(m, outer, inner)]
                                : (double)scale[scale_at(m, inner, outer)];
}

static float scale_of(float most, enum format f)
{
    const double scale = format_round(FP32, (double)most / format_facts[f].largest);
    return (float)(most == 0 || isinf(most) ? 1 : scale > 0 ? scale : format_facts[FP32].smallest);
}

static void find_scales(float *scale, const struct array *from, const struct part *m)
{
    const size_t count = gemm_scales_count(m->shape, m->side);
    for (size_t i = 0; i < count; i++)
        scale[i] = 0;
    for (size_t line = 0; line < lines_of(m); line++)
        for (size_t k = 0; k < m->shape->k; k++) {
            const double x = format_round(FP32, array_get(from, place(m, line, k)));
            float *most = &scale[scale_at(m, line, k)];
            *most = fmaxf(*most, (float)fabs(x));
        }
    for (size_t i = 0; i < count; i++)
        scale[i] = scale_of(scale[i], m->format);
}

void quantise(const struct array *to, const struct array *from, struct gemm_shape *s, float *scales)
{
    const bool by_amax = quantise_by_amax(s);
    for (int side = 0; side < 2; side++) {
        const struct part m = {s,
                               side,
                               side == 0 ? 0 : gemm_b_begins(s),
                               side == 0 ? gemm_b_begins(s) : gemm_c_begins(s),
                               side == 0 ? to->format : gemm_format_of_b(s, to->format),
                               gemm_scales_dealt(s, side)};
        const struct array out = {m.format, to->n, to->data};
        float *scale = !by_amax                            ? NULL
                       : s->scaling == GEMM_SCALED_BY_AMAX ? &s->scale[side]
                       : side == 0                         ? scales
                                                           : scales + gemm_scales_count(s, 0);
        if (by_amax)
            find_scales(scale, from, &m);
        for (size_t i = m.begin; i < m.end; i++) {
            double x = array_get(from, i);
            x = by_amax   ? by_scale(x, scale_of_place(scale, &m, i), m.format)
                : s->tf32 ? quantise_tf32(x)
                          : x;
            array_encode(&out, i, 1, &x);
        }
    }
    if (s->scaling == GEMM_SCALED_BY_AMAX)
        s->scaling = GEMM_SCALED;
}
