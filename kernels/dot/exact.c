/* dot/exact: the exact sum of the whole products of the elements as they are stored, rounded once
 * to the accumulator, to nearest, ties to even.
 *
 * Order: none. Whatever is added to what, the result is the same; so it keeps every promise.
 *
 * What is returned:
 *   any NaN, infinity times zero, or infinite products of both signs   NaN
 *   infinite products of one sign                                      that infinity
 *   an exact sum of zero                                               +0; but -0 where all
 *                                                                      products are -0, and there
 *                                                                      is one
 *   no element                                                         +0
 *   an exact sum that rounds beyond the accumulator's largest number: that infinity. What overflows
 *   on the way does not matter, and neither does what underflows. */
#include <stdlib.h>

#include "kernels/sum/tiled.h"
#include "kernels/team.h"
#include "reference/products.h"

struct work {
    const struct task *task;
    struct products *part;
    bool *fine;
};

static void add_share(void *context, unsigned thread)
{
    struct work *w = context;
    const struct task *t = w->task;
    struct tiled_share share = tiled_share(tiled_tiles(t->in.n), thread, t->shape.threads);
    size_t begin = share.first * TILE, end = begin + share.count * TILE;
    end = end < t->in.n ? end : t->in.n;
    products_init(&w->part[thread]);
    w->fine[thread] = products_add(&w->part[thread], &t->in, &t->in2, begin, end - begin);
}

static enum status cpu(const struct task *t, struct problem *p)
{
    unsigned threads = t->shape.threads;
    struct work w = {t, calloc(threads, sizeof *w.part), calloc(threads, sizeof *w.fine)};
    bool fine = w.part && w.fine;
    enum status status = fine ? team_run(threads, add_share, &w, p) : STATUS_OK;
    for (unsigned i = 0; fine && status == STATUS_OK && i < threads; i++) {
        fine = w.fine[i];
        if (i > 0)
            products_merge(&w.part[0], &w.part[i]);
    }
    if (!fine)
        status = problem(p, STATUS_DEVICE, "device cpu: no memory for exact products");
    if (status == STATUS_OK)
        array_encode(&t->out, 0, 1, &(double){products_round(&w.part[0], t->accumulator)});
    free(w.part);
    free(w.fine);
    return status;
}

const struct method dot_exact = {
    .name = "dot/exact",
    .summary = "the exact sum of whole products, rounded once",
    .operation = &operation_dot,
    .promise = PROMISE_CORRECTLY_ROUNDED,
    .pairs = {FORMAT_PAIRS_ALL, FORMAT_PAIRS_ALL},
    .shape_read = {SHAPE_THREADS, 0},
    .resolve = tiled_shape,
    .products = 1u << PRODUCT_EXACT,
    .product = PRODUCT_EXACT,
    .bound = THEOREM_CORRECTLY_ROUNDED,
    .cpu = cpu,
};
