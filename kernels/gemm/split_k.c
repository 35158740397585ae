/* gemm/split_k: the products of each element cut into slices, which are added up at the end.
 *
 * Order: the k products are cut into as many slices as the grid has blocks, of one length but the
 * last, which may be shorter or missing. Each slice is summed one after the other, the first
 * product rounded, each other one fused into its addition; then the slices' sums, kept in the
 * accumulator, are added one after the other, and C last. So bits depend on the number of blocks,
 * as those of split-K products of libraries do where a heuristic chooses it by m and n. Here it is
 * the launch shape alone that says it: in the same one, an element has the same bits in any batch.
 * Threads are a schedule. */
#include "kernels/gemm/elements.h"
#include "kernels/scatter/bins.h"

static double element(const struct task *t, const struct matrices_packed *p, size_t output)
{
    enum format f = t->accumulator;
    struct gemm_terms terms = gemm_terms_of(p, output);
    struct gemm_slices slices = gemm_slices(terms.k, t->shape.blocks);
    double sum = 0;
    for (size_t i = 0; i < slices.count; i++) {
        size_t begin = i * slices.length, left = terms.k - begin;
        double slice =
            gemm_products(t, &terms, begin, begin + (left < slices.length ? left : slices.length));
        sum = i == 0 ? slice : format_add(f, sum, slice);
    }
    return slices.count == 0 ? format_round(f, terms.c) : gemm_finished(t, p, output, sum);
}

static enum status cpu(const struct task *t, struct problem *p)
{
    return gemm_each(t, element, p);
}

static double given(const struct operands *of, enum format f, struct shape shape,
                    const struct matrices_packed *p, size_t output)
{
    (void)shape;
    return gemm_scaled_tree(of, f, p, output, p->k);
}

const struct method gemm_split_k = {
    .name = "gemm/split_k",
    .summary = "a slice of the products a block, then the slices' sums in order",
    .operation = &operation_gemm,
    .promise = PROMISE_RUN_TO_RUN,
    .beside = 1u << PROMISE_BATCH_INVARIANT,
    .pairs = {FORMAT_PAIRS_ALL, FORMAT_PAIRS_ALL},
    .product = PRODUCT_FUSED,
    .shape_read = {SHAPE_THREADS | SHAPE_BLOCKS, SHAPE_BLOCKS},
    .shape_order = SHAPE_BLOCKS,
    .resolve = scatter_each_shape,
    .bound = THEOREM_ANY_ORDER,
    .given = given,
    .cpu = cpu,
};
