#include "kernels/gemm/elements.h"

#include "kernels/method/team.h"
#include "kernels/scatter/bins.h"

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
                             .b_next = s->b_column ? 1 : gemm_ldb(s)};
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
