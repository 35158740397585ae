/* gemm/serial: each element's products one after the other.
 *
 * Order: ((C + a[0] b[0]) + a[1] b[1]) + ..., each product fused into its addition: one rounding.
 * Scaled products begin with a[0] b[0], and C is added behind the scaling.
 * It depends on k alone, so neither other elements, nor how many there are, nor how A and B lie
 * shows in an element. Threads are a schedule. */
#include "kernels/blocks/serial.h"
#include "kernels/gemm/elements.h"
#include "kernels/scatter/bins.h"

static double element(const struct task *t, const struct matrices_packed *p, size_t output)
{
    struct gemm_terms terms = gemm_terms_of(p, output);
    if (t->of->gemm.scaling != GEMM_UNSCALED)
        return terms.k == 0 ? terms.c
                            : gemm_finished(t, p, output, gemm_products(t, &terms, 0, terms.k));
    return gemm_chain(t, format_round(t->accumulator, terms.c), terms.x, terms.y, terms.k);
}

static enum status cpu(const struct task *t, struct problem *p)
{
    return gemm_each(t, element, p);
}

static size_t height(size_t n, struct shape shape)
{
    (void)shape;
    return n - 1;
}

static double given(const struct operands *of, enum format f, struct shape shape,
                    const struct matrices_packed *p, size_t output)
{
    (void)shape;
    return gemm_scaled_tree(of, f, p, output, p->k);
}

const struct method gemm_serial = {
    .name = "gemm/serial",
    .summary = "each element's products one after the other, fused, onto C",
    .operation = &operation_gemm,
    .promise = PROMISE_GPU_TO_GPU,
    .beside = 1u << PROMISE_BATCH_INVARIANT,
    .pairs = {FORMAT_PAIRS_ALL, FORMAT_PAIRS_ALL},
    .product = PRODUCT_FUSED,
    .shape_read = {SHAPE_THREADS},
    .resolve = scatter_each_shape,
    .bound = THEOREM_TREE,
    .height = height,
    .bin_height = serial_bin_height,
    .given = given,
    .cpu = cpu,
};
