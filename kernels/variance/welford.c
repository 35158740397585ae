/* variance/welford: one pass, with a mean that runs along.
 *
 * Order: serial. m = x[0] and M = 0; then, for k = 2, 3, ..., n: a = x[k-1] - m, m = m + a / k (as
 * mean/running), b = x[k-1] - m, M = M + a b, where each operation is rounded and k is taken whole.
 * The variance is M / n, rounded.
 *
 * Source: Welford 1962. */
#include "kernels/blocks/product.h"
#include "kernels/mean/running.h"
#include "kernels/blocks/serial.h"

struct moments {
    double mean, scatter;
};

static struct moments with(enum format f, struct moments m, double x, size_t k)
{
    double before = format_add(f, x, -m.mean);
    double mean = k == 1 ? x : running_mean(f, m.mean, before, k);
    double product = product_rounded(f, before, format_add(f, x, -mean));
    return (struct moments){mean,
                            k == 1 ? format_add(f, x, -x) : format_add(f, m.scatter, product)};
}

static enum status cpu(const struct task *t, struct problem *p)
{
    (void)p;
    enum format f = t->accumulator;
    double block[ARRAY_BLOCK];
    struct moments m = {0};
    for (size_t begin = 0; begin < t->of->in.n; begin += ARRAY_BLOCK) {
        size_t count = t->of->in.n - begin < ARRAY_BLOCK ? t->of->in.n - begin : ARRAY_BLOCK;
        array_decode(&t->of->in, begin, count, block);
        for (size_t i = 0; i < count; i++)
            m = with(f, m, format_round(f, block[i]), begin + i + 1);
    }
    array_encode(&t->out, 0, 1, &(double){quotient_rounded(f, m.scatter, t->of->in.n)});
    return STATUS_OK;
}

const struct method variance_welford = {
    .name = "variance/welford",
    .summary = "one pass with a running mean, M += (x - m) (x - m'): serial",
    .operation = &operation_variance,
    .promise = PROMISE_GPU_TO_GPU,
    .pairs = {FORMAT_PAIRS_ALL, FORMAT_PAIRS_ALL},
    .bound = THEOREM_WELFORD,
    .height = serial_height,
    .order = serial_order,
    .cpu = cpu,
};
