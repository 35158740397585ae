/* dot/compensated: products and sums carry their errors.
 *
 * Order: the tree of sum/tiled over pairs (s, e). A product x y is the pair (p, e) of the rounded
 * product and what that lacks, found by a fused multiply-add (TwoProduct); pairs are joined as
 * sum/sum2 joins them, e1 + (e2 + d). The result is s + e, rounded once; but s itself where e is
 * zero or not finite. As if computed in twice the accumulator's precision.
 *
 * Source: Ogita, Rump and Oishi, Accurate sum and dot product, 2005 (Dot2), there for the serial
 * order. */
#include <stdlib.h>

#include "kernels/dot/terms.h"
#include "kernels/blocks/pieces.h"
#include "kernels/method/team.h"

/* If the accumulator does not hold the storage's values, a product is not the sum of two of its
 * numbers. */
#define FROM_16                                                                                    \
    [FP16] = IN(FP16) | IN(FP32) | IN(FP64), [BF16] = IN(BF16) | IN(FP32) | IN(FP64),              \
    [FP32] = IN(FP32) | IN(FP64), [FP64] = IN(FP64)

static struct piece sum_tile(const struct task *t, size_t tile, struct dot_block *b,
                             struct piece *piece)
{
    enum format f = t->accumulator;
    size_t begin = tile * TILE, present = t->of->in.n - begin < TILE ? t->of->in.n - begin : TILE;
    dot_decode(b, t, begin, present);
    for (size_t i = 0; i < present; i++) {
        double p = product_rounded(f, b->x[i], b->y[i]);
        piece[i] = (struct piece){{p, product_error(f, p, b->x[i], b->y[i])}};
    }
    return pieces_fold(&sum2_rule, f, piece, present);
}

struct work {
    const struct task *task;
    struct piece *sum;
};

static void sum_share(void *context, unsigned thread)
{
    const struct work *w = context;
    struct dot_block b;
    struct piece piece[TILE];
    struct tiled_share share =
        tiled_share(tiled_tiles(w->task->of->in.n), thread, w->task->shape.threads);
    for (size_t i = share.first; i < share.first + share.count; i++)
        w->sum[i] = sum_tile(w->task, i, &b, piece);
}

static enum status cpu(const struct task *t, struct problem *p)
{
    enum format f = t->accumulator;
    size_t count = tiled_tiles(t->of->in.n);
    struct piece *v = malloc((count + (count == 0)) * sizeof *v);
    if (!v)
        return problem(p, STATUS_MEMORY, "device cpu: no memory for %zu tile sums", count);
    v[0] = (struct piece){{0}}; /* the sum of nothing */
    enum status status = team_run(t->shape.threads, sum_share, &(struct work){t, v}, p);
    for (size_t n = count; status == STATUS_OK && n > 1; n = count) {
        count = tiled_tiles(n);
        for (size_t i = 0; i < count; i++)
            v[i] =
                pieces_fold(&sum2_rule, f, v + i * TILE, n - i * TILE < TILE ? n - i * TILE : TILE);
    }
    if (status == STATUS_OK)
        array_encode(&t->out, 0, 1, &(double){pair_value(&sum2_rule, f, v[0])});
    free(v);
    return status;
}

const struct method dot_compensated = {
    .name = "dot/compensated",
    .summary = "the tree of sum/tiled; errors of products and of additions are found and added too",
    .operation = &operation_dot,
    .promise = PROMISE_GPU_TO_GPU,
    .pairs = {FORMAT_PAIRS(FROM_16, [E4M3] = IN_ALL, [E5M2] = IN_ALL), FORMAT_PAIRS(FROM_16)},
    .shape_read = {SHAPE_THREADS, SHAPE_THREADS | SHAPE_BLOCKS},
    .resolve = tiled_shape,
    .products = 1u << PRODUCT_EXACT,
    .product = PRODUCT_EXACT,
    .addition = ADDITION_PAIRS,
    .bound = THEOREM_COMPENSATED,
    .height = tiled_height,
    .order = tiled_order,
    .cpu = cpu,
};
