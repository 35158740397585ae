/* What matrix products share on a GPU: where elements of A and B lie, and C and D, whose format a
 * kernel is told when it runs. */
#pragma once

#include "kernels/blocks/product.cuh"
#include "reference/exact/scales.h"

namespace gemm
{

/* A, whose element (i, k) is at i step + k next, or B, whose element (k, j) is at j step + k next.
 */
struct factor {
    const void *data;
    enum format format;
    size_t many; /* rows of A, columns of B */
    size_t step, next;
    struct matrices_scales scale; /* none where the product is GEMM_UNSCALED */
};

struct product {
    struct factor a, b;
    size_t k;
    const void *c;
    void *d;
    enum format results;       /* of C and D */
    enum gemm_scaling scaling; /* a sum of no products is not scaled */
};

inline struct product product_of(const struct cuda_task *t)
{
    const struct gemm_shape *s = &t->of->gemm;
    const enum format f = t->of->in.format;
    const char *in = (const char *)t->of->in.data;
    const size_t lda = gemm_lda(s), ldb = gemm_ldb(s);
    const bool scaled = s->scaling != GEMM_UNSCALED && s->given && s->k > 0;
    const struct matrices_scales none = {};
    return {
        {in, f, s->m, s->a_column ? 1 : lda, s->a_column ? lda : 1, scaled ? s->given[0] : none},
        {in + gemm_b_begins(s) * (size_t)format_facts[f].bytes, f, s->n, s->b_column ? ldb : 1,
         s->b_column ? 1 : ldb, scaled ? s->given[1] : none},
        s->k,
        t->of->c.data,
        t->out,
        t->output,
        scaled ? s->scaling : GEMM_UNSCALED};
}

inline size_t outputs_of(const struct product &p)
{
    return p.a.many * p.b.many;
}

/* A format of 8 bits, as reference/format/ encodes it: rounded to nearest, ties to even. */
struct narrow {
    int precision;
    double smallest, smallest_normal, largest;
    unsigned too_large, nan; /* what takes the place of larger numbers */
};

__device__ inline unsigned char encode_narrow(const struct narrow &f, double x)
{
    const int drop = 53 - f.precision;
    const long long all = __double_as_longlong(x), size = all & 0x7fffffffffffffff;
    const unsigned sign = all < 0 ? 0x80 : 0;
    const double magnitude = __longlong_as_double(size), magic = __dmul_rn(0x1p52, f.smallest);
    long long bits = size + ((1ll << (drop - 1)) - 1 + (size >> drop & 1));
    double rounded = __longlong_as_double(bits & ~((1ll << drop) - 1));
    if (magnitude < f.smallest_normal)
        rounded = __dsub_rn(__dadd_rn(magnitude, magic), magic);
    if (x != x)
        return (unsigned char)f.nan;
    if (rounded > f.largest)
        return (unsigned char)(f.too_large == f.nan ? f.nan : sign | f.too_large);
    bits = __double_as_longlong(__dmul_rn(rounded, __ddiv_rn(0x1p-1022, f.smallest_normal)));
    return (unsigned char)(sign | (unsigned)(bits >> drop));
}

__device__ inline unsigned char encode_8(enum format f, double x)
{
    const struct narrow e4m3 = {4, 0x1p-9, 0x1p-6, 448, 0x7f, 0x7f};
    const struct narrow e5m2 = {3, 0x1p-16, 0x1p-14, 57344, 0x7c, 0x7e};
    return encode_narrow(f == E4M3 ? e4m3 : e5m2, x);
}

/* An element of C, rounded to A. */
template <typename A> __device__ inline A load_c(const struct product &p, size_t i)
{
    switch (p.results) {
    case FP16:
        return convert<A>(((const __half *)p.c)[i]);
    case BF16:
        return convert<A>(((const __nv_bfloat16 *)p.c)[i]);
    case FP32:
        return convert<A>(((const float *)p.c)[i]);
    case FP64:
        return convert<A>(((const double *)p.c)[i]);
    case E4M3:
        return convert<A>(((const __nv_fp8_e4m3 *)p.c)[i]);
    case E5M2:
        return convert<A>(((const __nv_fp8_e5m2 *)p.c)[i]);
    }
    return A();
}

/* An element of D, rounded from A. */
template <typename A> __device__ inline void store_d(const struct product &p, size_t i, A value)
{
    switch (p.results) {
    case FP16:
        ((__half *)p.d)[i] = convert<__half>(value);
        return;
    case BF16:
        ((__nv_bfloat16 *)p.d)[i] = convert<__nv_bfloat16>(value);
        return;
    case FP32:
        ((float *)p.d)[i] = convert<float>(value);
        return;
    case FP64:
        ((double *)p.d)[i] = convert<double>(value);
        return;
    case E4M3:
    case E5M2:
        ((unsigned char *)p.d)[i] = encode_8(p.results, convert<double>(value));
        return;
    }
}

/* --- scales, where matrices have them: each step as kernels/gemm/elements.h has it --- */

/* What scales are multiplied in, and C is added in. */
template <typename A> struct epilogue_of {
    typedef float type;
};
template <> struct epilogue_of<double> {
    typedef double type;
};
template <typename A> using epilogue = typename epilogue_of<A>::type;

/* The scales of A and B, multiplied, of an element's products from k on. */
template <typename F>
__device__ inline F scale_of(const struct product &p, size_t row, size_t column, size_t k)
{
    return multiply((F)matrices_scale(&p.a.scale, row, k),
                    (F)matrices_scale(&p.b.scale, column, k));
}

/* Writes element i of D from the sum of its products, which is a chain's or a tree's. */
template <typename A> __device__ inline void finish_d(const struct product &p, size_t i, A sum)
{
    typedef epilogue<A> F;
    if (p.scaling == GEMM_UNSCALED) {
        store_d(p, i, add(sum, load_c<A>(p, i)));
        return;
    }
    const F scale = scale_of<F>(p, i / p.b.many, i % p.b.many, 0);
    store_d(p, i, add(multiply(scale, convert<F>(sum)), load_c<F>(p, i)));
}

} // namespace gemm
