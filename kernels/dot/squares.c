#include "kernels/dot/squares.h"

#include <stdlib.h>

#include "kernels/dot/tiled.h"
#include "kernels/blocks/tiled.h"
#include "kernels/method/team.h"

struct work {
    const struct task *task;
    squares_change *change;
    const void *by;
    double *sum;
};

/* Floats hold what is squared, unless storage or accumulator is fp64: values of the accumulator,
 * and narrow elements times a power of two but for those whose squares become 0 in any case. */
static double sum_tile(const struct work *w, size_t tile)
{
    const struct task *t = w->task;
    double x[TILE], squared[TILE], sum;
    size_t begin = tile * TILE, present = t->of->in.n - begin < TILE ? t->of->in.n - begin : TILE;
    bool wide = t->of->in.format == FP64 || t->accumulator == FP64;
    struct array changed = {wide ? FP64 : FP32, present, squared};
    struct operands with_itself = {.in = changed, .in2 = changed, .product = PRODUCT_ROUNDED};
    struct task squares = {.of = &with_itself, .accumulator = t->accumulator};
    array_decode(&t->of->in, begin, present, x);
    w->change(t->accumulator, x, present, w->by);
    array_encode(&changed, 0, present, x);
    (present == TILE ? dot_tiles_fastest(&squares) : dot_tiles_plain)(&squares, 0, 1, &sum);
    return sum;
}

static void sum_share(void *context, unsigned thread)
{
    const struct work *w = context;
    struct tiled_share share =
        tiled_share(tiled_tiles(w->task->of->in.n), thread, w->task->shape.threads);
    for (size_t i = share.first; i < share.first + share.count; i++)
        w->sum[i] = sum_tile(w, i);
}

enum status squares_sum(const struct task *t, squares_change *change, const void *by, double *sum,
                        struct problem *p)
{
    size_t count = tiled_tiles(t->of->in.n);
    double *v = malloc((count + (count == 0)) * sizeof *v);
    if (!v)
        return problem(p, STATUS_MEMORY, "device cpu: no memory for %zu tile sums", count);
    enum status status = team_run(t->shape.threads, sum_share, &(struct work){t, change, by, v}, p);
    tiled_fold(t->accumulator, v, status == STATUS_OK ? count : 0);
    *sum = v[0];
    free(v);
    return status;
}
