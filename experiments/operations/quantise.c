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

/* Elements begin .. end-1, in lines of `line` of which the last `pad` are nobody's. */
struct part {
    size_t begin, end, line, pad;
    enum format format;
};

static double scale_of(const struct array *from, const struct part *m)
{
    double most = 0;
    for (size_t i = m->begin; i < m->end; i++)
        if ((i - m->begin) % m->line < m->line - m->pad)
            most = fmax(most, fabs(format_round(FP32, array_get(from, i))));
    const double scale = format_round(FP32, most / format_facts[m->format].largest);
    return most == 0 || isinf(most) ? 1 : scale > 0 ? scale : format_facts[FP32].smallest;
}

void quantise(const struct array *to, const struct array *from, struct gemm_shape *s)
{
    const size_t b = gemm_b_begins(s), end = gemm_c_begins(s);
    const struct part part[2] = {{0, b, gemm_lda(s), s->pad, to->format},
                                 {b, end, gemm_ldb(s), s->pad, gemm_format_of_b(s, to->format)}};
    const bool by_amax = s->scaling == GEMM_SCALED_BY_AMAX;
    for (int side = 0; side < 2; side++) {
        const struct part *m = &part[side];
        const struct array out = {m->format, to->n, to->data};
        const double scale = by_amax ? scale_of(from, m) : 1;
        for (size_t i = m->begin; i < m->end; i++) {
            double x = array_get(from, i);
            x = by_amax ? by_scale(x, scale, m->format) : s->tf32 ? quantise_tf32(x) : x;
            array_encode(&out, i, 1, &x);
        }
        if (by_amax)
            s->scale[side] = (float)scale;
    }
    if (by_amax)
        s->scaling = GEMM_SCALED;
}
