/* gemm/split_k_atomic: slices as gemm/split_k's, each added to D by an atomic addition.
 *
 * Order: D begins as C, and each slice's sum is added to it in the order in which the threads get
 * hold of it: none that anybody could name. Of scaled products it begins as -0, and C is added
 * behind the scaling. On the CPU real threads contend with compare and exchange, each with every so
 * many-th slice of all elements. */
#include <stdlib.h>

#include "kernels/blocks/shared_add.h"
#include "kernels/gemm/elements.h"
#include "kernels/method/team.h"
#include "kernels/scatter/bins.h"

struct work {
    const struct task *task;
    struct matrices_packed packed;
    struct array sum; /* of each element, in the accumulator */
};

static void add_slices(void *context, unsigned thread)
{
    const struct work *w = context;
    const struct task *t = w->task;
    struct gemm_slices slices = gemm_slices(w->packed.k, t->shape.blocks);
    size_t width = (size_t)format_facts[t->accumulator].bytes;
    for (size_t s = thread; s < slices.count; s += t->shape.threads) {
        size_t begin = s * slices.length, left = w->packed.k - begin;
        size_t end = begin + (left < slices.length ? left : slices.length);
        for (size_t i = 0; i < w->sum.n; i++) {
            struct gemm_terms terms = gemm_terms_of(&w->packed, i);
            shared_add(t->accumulator, (char *)w->sum.data + i * width,
                       gemm_products(t, &terms, begin, end));
        }
    }
}

static enum status run(struct work *w, struct problem *p)
{
    const struct task *t = w->task;
    const bool apart = t->of->gemm.scaling != GEMM_UNSCALED && w->packed.k > 0;
    double x;
    for (size_t i = 0; i < w->sum.n; i++) {
        x = apart ? -0.0 : array_get(&w->packed.c, i);
        array_encode(&w->sum, i, 1, &x);
    }
    enum status status = team_run(t->shape.threads, add_slices, w, p);
    for (size_t i = 0; i < w->sum.n && status == STATUS_OK; i++) {
        x = array_get(&w->sum, i);
        x = apart ? gemm_finished(t, &w->packed, i, x) : x;
        array_encode(&t->out, i, 1, &x);
    }
    return status;
}

static enum status cpu(const struct task *t, struct problem *p)
{
    struct matrices of = gemm_matrices(t->of);
    struct work w = {.task = t, .sum = {t->accumulator, t->of->bins, NULL}};
    enum status status = matrices_pack(&w.packed, &of, p);
    if (status != STATUS_OK)
        return status;
    w.sum.data = malloc(array_bytes(t->accumulator, w.sum.n) + 1);
    status = w.sum.data ? run(&w, p)
                        : problem(p, STATUS_MEMORY, "device cpu: no memory for %zu sums", w.sum.n);
    free(w.sum.data);
    matrices_free(&w.packed);
    return status;
}

static double given(const struct operands *of, enum format f, struct shape shape,
                    const struct matrices_packed *p, size_t output)
{
    (void)shape;
    return gemm_scaled_tree(of, f, p, output, p->k);
}

const struct method gemm_split_k_atomic = {
    .name = "gemm/split_k_atomic",
    .summary = "a slice of the products a block, each added to D by an atomic addition",
    .operation = &operation_gemm,
    .promise = PROMISE_NONE,
    .pairs = {FORMAT_PAIRS_ALL, FORMAT_PAIRS_ALL},
    .product = PRODUCT_FUSED,
    .shape_read = {SHAPE_THREADS | SHAPE_BLOCKS, SHAPE_BLOCKS},
    .resolve = scatter_atomic_shape,
    .atomic = true,
    .bound = THEOREM_ANY_ORDER,
    .given = given,
    .cpu = cpu,
};
