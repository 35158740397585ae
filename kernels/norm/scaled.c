/* norm/scaled: the root of the sum of squares, scaled by a power of two.
 *
 * Two passes. The first finds the largest magnitude, which no order changes. By it and n,
 * theorem_scale chooses 2^k: the largest power of two with which no sum of squares overflows.
 * Order of the second: that of sum/tiled, which depends on n alone, over the squares of the
 * elements times 2^k, each rounded once; then the root, rounded, divided by 2^k, which rounds again
 * where that is subnormal. What squares lose below is at most half the smallest subnormal each,
 * beside a sum that is as large as it can be. Threads are a schedule.
 *
 * The norm of nothing and of zeros is +0; with a NaN it is NaN, else with an infinity +inf.
 *
 * Source: Blue 1978 (there with two fixed scales beside 1); the snrm2 of BLAS scales by the largest
 * element itself, which rounds. */
#include <math.h>
#include <stdlib.h>

#include "kernels/dot/squares.h"
#include "kernels/blocks/tiled.h"
#include "kernels/method/team.h"

struct work {
    const struct task *task;
    double *largest; /* of each thread's share; NaN with a NaN */
};

static void find_share(void *context, unsigned thread)
{
    const struct work *w = context;
    const struct task *t = w->task;
    struct tiled_share share = tiled_share(tiled_tiles(t->of->in.n), thread, t->shape.threads);
    double x[TILE], largest = 0;
    bool nan = false;
    for (size_t i = share.first; i < share.first + share.count; i++) {
        size_t begin = i * TILE, present = t->of->in.n - begin < TILE ? t->of->in.n - begin : TILE;
        array_decode(&t->of->in, begin, present, x);
        for (size_t j = 0; j < present; j++)
            largest = fabs(x[j]) > largest ? fabs(x[j]) : largest;
        for (size_t j = 0; j < present; j++)
            nan |= isnan(x[j]);
    }
    w->largest[thread] = nan ? NAN : largest;
}

static enum status find_largest(const struct task *t, double *largest, struct problem *p)
{
    unsigned threads = t->shape.threads;
    struct work w = {t, calloc(threads, sizeof *w.largest)};
    if (!w.largest)
        return problem(p, STATUS_MEMORY, "device cpu: no memory for %u threads", threads);
    enum status status = team_run(threads, find_share, &w, p);
    *largest = 0;
    for (unsigned i = 0; i < threads; i++)
        *largest = w.largest[i] <= *largest || isnan(*largest) ? *largest : w.largest[i];
    free(w.largest);
    return status;
}

/* Powers of two whose product is 2^k, which a double may not hold. */
struct scale {
    double one, other;
};

static void times_scale(enum format f, double *x, size_t count, const void *by)
{
    const struct scale *scale = by;
    (void)f;
    for (size_t i = 0; i < count; i++)
        x[i] *= scale->one;
    for (size_t i = 0; i < count; i++)
        x[i] *= scale->other;
}

static enum status cpu(const struct task *t, struct problem *p)
{
    enum format f = t->accumulator;
    double largest = 0, sum;
    enum status status = find_largest(t, &largest, p);
    double norm = largest;
    if (status == STATUS_OK && largest > 0 && largest < INFINITY) {
        int k = theorem_scale(f, t->of->in.n, largest);
        struct scale scale = {ldexp(1, k / 2), ldexp(1, k - k / 2)};
        status = squares_sum(t, times_scale, &scale, &sum, p);
        norm = format_round(f, ldexp(format_round(f, sqrt(sum)), -k));
    }
    if (status == STATUS_OK)
        array_encode(&t->out, 0, 1, &norm);
    return status;
}

const struct method norm_scaled = {
    .name = "norm/scaled",
    .summary =
        "norm/tiled of elements times a power of two that keeps squares in range: two passes",
    .operation = &operation_norm,
    .promise = PROMISE_GPU_TO_GPU,
    .shape_read = {SHAPE_THREADS, SHAPE_THREADS | SHAPE_BLOCKS},
    .resolve = tiled_shape,
    .bound = THEOREM_SCALED_NORM,
    .height = tiled_height,
    .order = tiled_order,
    .cpu = cpu,
};
