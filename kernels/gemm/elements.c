#include "kernels/gemm/elements.h"

#include "kernels/method/team.h"
#include "kernels/scatter/bins.h"
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
                             .scale = {s->scale[0], s->scale[1]}};
}

struct work {
    const struct task *task;
    gemm_element *element;
    struct matrices_packed packed;
};

static void compute_share(void *context, unsigned thread)
{
    const struct work *w = context;
    const struct task *t = w->task;
    struct scatter_share share =
        scatter_share(0, matrices_outputs(&w->packed), thread, t->shape.threads);
    for (size_t i = share.begin; i < share.end; i++)
        array_encode(&t->out, i, 1, &(double){w->element(t, &w->packed, i)});
}

enum status gemm_each(const struct task *t, gemm_element *element, struct problem *p)
{
    struct matrices of = gemm_matrices(t->of);
    struct work w = {.task = t, .element = element};
    enum status status = matrices_pack(&w.packed, &of, p);
    if (status != STATUS_OK)
        return status;
    status = team_run(t->shape.threads, compute_share, &w, p);
    matrices_free(&w.packed);
    return status;
}

/* --- bounds of scaled products --- */

/* What is less, gamma_h or (k - 1) u: theorem_tree. */
static double additions(enum format f, size_t k, size_t height)
{
    const double u = format_facts[f].unit_roundoff;
    const double all = k > 0 ? (double)(k - 1) * u : 0, hu = (double)height * u;
    return hu < 1 ? fmin(all, hu / (1 - hu)) : all;
}

double gemm_sum_bound(const struct operands *of, enum format f, const struct matrices_packed *p,
                      size_t output, size_t height)
{
    const struct gemm_terms terms = gemm_terms_of(p, output);
    const struct conversion a = theorem_conversion(PRODUCT_FUSED, of->in.format, f);
    const struct conversion b =
        theorem_conversion(PRODUCT_FUSED, gemm_format_of_b(&of->gemm, of->in.format), f);
    const double weight = gemm_weight(&terms);
    const double changed =
        fmax(a.relative, b.relative) * weight + (double)terms.k * fmax(a.absolute, b.absolute);
    return (changed + additions(f, terms.k, height) * (weight + changed)) * (1 + 0x1p-40);
}

/* Theorem. Let X be the exact sum of products, x what a method makes of it, |x - X| <= b, and
 * sigma = (scale of A) (scale of B). The epilogue in the format e, with u and eta, computes
 * s = fl(sigma), p = fl(s x) and d = fl(p + c). If nothing overflows,
 *
 *     |d - (sigma X + c)| <= sigma b + delta V + u m + eta / 2 + u (m (1 + u) + eta / 2 + |c|),
 *     delta = u sigma + eta / 2,   V = sum |a b| + b,   m = (sigma + delta) V.
 *
 * Proof. d - (sigma X + c) is the sum of sigma (x - X), (s - sigma) x, p - s x and d - (p + c).
 * |x| <= |X| + b <= V, |s - sigma| <= delta and |s x| <= m. A product that is rounded changes by u
 * of it at most or, where it is subnormal, by eta / 2; a sum by u, as one that is subnormal is
 * exact. So, beside the error of the sum, which is scaled, it is about 3 u sigma sum |a b| and
 * u |c|. An accumulator narrower than e is rounded to once more. Here eta stands for eta / 2, which
 * may be no double. */
double gemm_scaled_bound(const struct operands *of, enum format f, const struct matrices_packed *p,
                         size_t output, double of_sum)
{
    const struct gemm_terms terms = gemm_terms_of(p, output);
    const enum format e = gemm_epilogue(f);
    const double u = format_facts[e].unit_roundoff, eta = format_facts[e].smallest;
    const double sigma = (double)of->gemm.scale[0] * (double)of->gemm.scale[1];
    const double delta = u * sigma + eta, size = gemm_weight(&terms) + of_sum;
    const double most = (sigma + delta) * size;
    const double all = most * (1 + u) + eta + fabs(terms.c);
    double bound = sigma * of_sum + delta * size + u * most + eta + u * all;
    if (e != f)
        bound += format_facts[f].unit_roundoff * (all * (1 + u)) + format_facts[f].smallest;
    return bound * (1 + 0x1p-30);
}
