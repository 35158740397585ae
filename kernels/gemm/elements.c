#include "kernels/gemm/elements.h"

#include "kernels/method/team.h"
#include "kernels/scatter/bins.h"
#include "reference/base/variants.h"
#include "reference/theorem/theorem.h"

struct matrices gemm_matrices(const struct operands *of)
{
    const struct gemm_shape *s = &of->gemm;
    size_t begins = gemm_b_begins(s);
    struct array b = {gemm_format_of_b(s, of->in.format), of->in.n - begins,
                      (char *)of->in.data + array_bytes(of->in.format, begins)};
    return (struct matrices){.a = of->in,
                             .b = b,
                             .c = of->c,
                             .m = s->m,
                             .n = s->n,
                             .k = s->k,
                             .a_row = s->a_column ? 1 : gemm_lda(s),
                             .a_next = s->a_column ? gemm_lda(s) : 1,
                             .b_column = s->b_column ? gemm_ldb(s) : 1,
                             .b_next = s->b_column ? 1 : gemm_ldb(s),
                             .scale = {gemm_scales(of, 0), gemm_scales(of, 1)}};
}

/* ---- products one after the other ---- */

INLINE double chain_of_floats(double sum, const double *x, const double *y, size_t count)
{
    float s = (float)sum;
    for (size_t k = 0; k < count; k++)
        s = __builtin_fmaf((float)x[k], (float)y[k], s);
    return s;
}

INLINE double chain_of_doubles(double sum, const double *x, const double *y, size_t count)
{
    for (size_t k = 0; k < count; k++)
        sum = __builtin_fma(x[k], y[k], sum);
    return sum;
}

struct chains {
    double (*floats)(double sum, const double *x, const double *y, size_t count);
    double (*doubles)(double sum, const double *x, const double *y, size_t count);
};

/* Without the instruction the C library computes it. */
static double floats(double sum, const double *x, const double *y, size_t count)
{
    return chain_of_floats(sum, x, y, count);
}

static double doubles(double sum, const double *x, const double *y, size_t count)
{
    return chain_of_doubles(sum, x, y, count);
}

#ifdef __x86_64__
#define FMA __attribute__((target("fma")))
FMA static double floats_by_fma(double sum, const double *x, const double *y, size_t count)
{
    return chain_of_floats(sum, x, y, count);
}

FMA static double doubles_by_fma(double sum, const double *x, const double *y, size_t count)
{
    return chain_of_doubles(sum, x, y, count);
}

static struct chains chains(void)
{
    return __builtin_cpu_supports("fma") ? (struct chains){floats_by_fma, doubles_by_fma}
                                         : (struct chains){floats, doubles};
}
#else
static struct chains chains(void)
{
    return (struct chains){floats, doubles};
}
#endif

double gemm_chain(const struct task *t, double sum, const double *x, const double *y, size_t count)
{
    if (t->accumulator == FP32 && t->of->in.format != FP64)
        return chains().floats(sum, x, y, count);
    if (t->accumulator == FP64)
        return chains().doubles(sum, x, y, count);
    for (size_t k = 0; k < count; k++)
        sum = product_fused(t->accumulator, sum, x[k], y[k]);
    return sum;
}

/* ---- elements one by one, or many at a time ---- */

struct work {
    const struct task *task;
    gemm_element *element; /* or: */
    gemm_range *range;
    struct matrices_packed packed;
};

/* Elements begin .. end-1, some columns of all their rows at a time, which a cache has room for. */
static void compute_elements(const struct work *w, size_t begin, size_t end)
{
    enum { COLUMNS = 16 };
    const struct task *t = w->task;
    const size_t n = w->packed.n;
    for (size_t first = 0; first < n; first += COLUMNS)
        for (size_t row = begin / n; row * n < end; row++)
            for (size_t column = first; column < n && column < first + COLUMNS; column++) {
                const size_t i = row * n + column;
                if (i >= begin && i < end)
                    array_encode(&t->out, i, 1, &(double){w->element(t, &w->packed, i)});
            }
}

static void compute_share(void *context, unsigned thread)
{
    const struct work *w = context;
    const struct task *t = w->task;
    struct scatter_share share =
        scatter_share(0, matrices_outputs(&w->packed), thread, t->shape.threads);
    if (w->range)
        w->range(t, &w->packed, share.begin, share.end);
    else if (share.begin < share.end)
        compute_elements(w, share.begin, share.end);
}

static enum status compute(struct work w, struct problem *p)
{
    struct matrices of = gemm_matrices(w.task->of);
    enum status status = matrices_pack(&w.packed, &of, p);
    if (status != STATUS_OK)
        return status;
    status = team_run(w.task->shape.threads, compute_share, &w, p);
    matrices_free(&w.packed);
    return status;
}

enum status gemm_each(const struct task *t, gemm_element *element, struct problem *p)
{
    return compute((struct work){.task = t, .element = element}, p);
}

enum status gemm_many(const struct task *t, gemm_range *range, struct problem *p)
{
    return compute((struct work){.task = t, .range = range}, p);
}

/* --- bounds of scaled products --- */

/* What is less, gamma_h or (k - 1) u: theorem_tree. */
static double additions(enum format f, size_t k, size_t height)
{
    const double u = format_facts[f].unit_roundoff;
    const double all = k > 0 ? (double)(k - 1) * u : 0, hu = (double)height * u;
    return hu < 1 ? fmin(all, hu / (1 - hu)) : all;
}

double gemm_sum_bound(const struct operands *of, enum format f, const struct gemm_terms *terms,
                      size_t height)
{
    const struct conversion a = theorem_conversion(PRODUCT_FUSED, of->in.format, f);
    const struct conversion b =
        theorem_conversion(PRODUCT_FUSED, gemm_format_of_b(&of->gemm, of->in.format), f);
    const double weight = gemm_weight(terms);
    const double changed =
        fmax(a.relative, b.relative) * weight + (double)terms->k * fmax(a.absolute, b.absolute);
    return (changed + additions(f, terms->k, height) * (weight + changed)) * (1 + 0x1p-40);
}

/* Theorem. Let the products of an element be cut into parts 1 .. r, each with one pair of scales
 * (r = 1, unless scales change along k). Of part q let X_q be the exact sum, x_q what a method
 * makes of it, |x_q - X_q| <= b_q, and sigma_q = (scale of A) (scale of B). The epilogue in the
 * format e, with u and eta, computes s_q = fl(sigma_q), p_1 = fl(s_1 x_1), p_q = fl(p_q-1 + s_q
 * x_q) with one rounding, and d = fl(p_r + c). With P_0 = 0 and
 *
 *     delta_q = u sigma_q + eta / 2,   V_q = sum |a b| of the part + b_q,
 *     m_q = (sigma_q + delta_q) V_q,   P_q = (P_q-1 + m_q) (1 + u) + eta / 2,
 *
 * if nothing overflows,
 *
 *     |d - (sum sigma_q X_q + c)|
 *         <= sum (sigma_q b_q + delta_q V_q + u (P_q-1 + m_q) + eta / 2) + u (P_r + |c|).
 *
 * Proof. d - (sum sigma_q X_q + c) is the sum over q of sigma_q (x_q - X_q), (s_q - sigma_q) x_q
 * and p_q - (p_q-1 + s_q x_q), with p_0 = 0, and of d - (p_r + c). |x_q| <= |X_q| + b_q <= V_q,
 * |s_q - sigma_q| <= delta_q, |s_q x_q| <= m_q and, by induction, |p_q| <= P_q. What is rounded
 * behind a product changes by u of it at most or, where it is subnormal, by eta / 2; a sum by u, as
 * one that is subnormal is exact. So, beside the errors of the sums, which are scaled, it is about
 * 3 u sigma sum |a b| and u |c| of one part, and of r parts at most (r + 2) u sum |sigma a b| and
 * u |c|. An accumulator narrower than e is rounded to once more. Here eta stands for eta / 2, which
 * may be no double. */
void gemm_scaled_add(struct gemm_scaled *s, enum format f, const struct matrices_packed *p,
                     size_t output, size_t begin, size_t end, double of_sum)
{
    const struct gemm_terms terms = gemm_terms_part(p, output, begin, end);
    const enum format e = gemm_epilogue(f);
    const double u = format_facts[e].unit_roundoff, eta = format_facts[e].smallest;
    const double sigma = gemm_sigma(p, output, begin);
    const double delta = u * sigma + eta, size = gemm_weight(&terms) + of_sum;
    const double most = s->most + (sigma + delta) * size;
    s->error += sigma * of_sum + delta * size + u * most + eta;
    s->most = most * (1 + u) + eta;
}

double gemm_scaled_end(const struct gemm_scaled *s, enum format f, double c)
{
    const enum format e = gemm_epilogue(f);
    const double all = s->most + fabs(c);
    double bound = s->error + format_facts[e].unit_roundoff * all;
    if (e != f)
        bound += format_facts[f].unit_roundoff * (all * (1 + format_facts[e].unit_roundoff)) +
                 format_facts[f].smallest;
    return bound * (1 + 0x1p-30);
}

double gemm_scaled_bound(enum format f, const struct matrices_packed *p, size_t output,
                         double of_sum)
{
    struct gemm_scaled s = {0};
    gemm_scaled_add(&s, f, p, output, 0, p->k, of_sum);
    return gemm_scaled_end(&s, f, array_get(&p->c, output));
}

double gemm_scaled_tree(const struct operands *of, enum format f, const struct matrices_packed *p,
                        size_t output, size_t height)
{
    const struct gemm_terms terms = gemm_terms_of(p, output);
    return gemm_scaled_bound(f, p, output, gemm_sum_bound(of, f, &terms, height));
}
