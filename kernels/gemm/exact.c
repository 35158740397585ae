/* gemm/exact: each element exactly, rounded once to the results' format, to nearest, ties to even.
 *
 * Order: none. Products are kept whole and C is as it is stored; what overflows or underflows on
 * the way does not matter. What is no plain number is as dot/exact says, with C one more term: so
 * an exact sum of zero is +0, but -0 where all products and C are -0. It keeps every promise. */
#include <stdlib.h>

#include "kernels/gemm/elements.h"
#include "kernels/scatter/bins.h"
#include "reference/exact/grid.h"

static void elements(const struct task *t, const struct matrices_packed *p, size_t begin,
                     size_t end)
{
    const size_t most = grid_window(p);
    struct grid_sum *sum = malloc(most * sizeof *sum); /* where it is short, one by one */
    for (size_t count; begin < end; begin += count) {
        count = end - begin < most ? end - begin : most;
        if (sum)
            grid_sums(p, begin, count, false, sum);
        for (size_t i = 0; i < count; i++) {
            double x = sum && !sum[i].unknown ? grid_round(&sum[i], t->out.format)
                                              : matrices_round(p, begin + i, t->out.format);
            array_encode(&t->out, begin + i, 1, &x);
        }
    }
    free(sum);
}

static enum status cpu(const struct task *t, struct problem *p)
{
    return gemm_many(t, elements, p);
}

const struct method gemm_exact = {
    .name = "gemm/exact",
    .summary = "each element exactly, rounded once",
    .operation = &operation_gemm,
    .promise = PROMISE_CORRECTLY_ROUNDED,
    .beside = 1u << PROMISE_BATCH_INVARIANT,
    .pairs = {FORMAT_PAIRS_ALL, FORMAT_PAIRS_ALL},
    .product = PRODUCT_EXACT,
    .parts = true,
    .shape_read = {SHAPE_THREADS},
    .resolve = scatter_each_shape,
    .addition = ADDITION_EXACT,
    .bound = THEOREM_CORRECTLY_ROUNDED,
    .cpu = cpu,
};
