/* mean/running: a mean that is corrected with each element.
 *
 * Order: serial. m = x[0]; then, for k = 2, 3, ..., n, m = m + (x[k-1] - m) / k, where the
 * difference, the quotient (by k whole) and the sum are rounded. No sum grows: m stays between the
 * smallest and the largest element, and nothing overflows that does not as a difference of two.
 * Infinities: an infinite mean corrects itself by inf - inf, which is NaN.
 *
 * Source: Welford 1962. */
#include "kernels/mean/running.h"
#include "kernels/blocks/serial.h"

static enum status cpu(const struct task *t, struct problem *p)
{
    (void)p;
    enum format f = t->accumulator;
    double block[ARRAY_BLOCK], mean = NAN; /* of nothing */
    for (size_t begin = 0; begin < t->of->in.n; begin += ARRAY_BLOCK) {
        size_t count = t->of->in.n - begin < ARRAY_BLOCK ? t->of->in.n - begin : ARRAY_BLOCK;
        array_decode(&t->of->in, begin, count, block);
        for (size_t i = 0; i < count; i++) {
            double x = format_round(f, block[i]);
            mean =
                begin + i == 0 ? x : running_mean(f, mean, format_add(f, x, -mean), begin + i + 1);
        }
    }
    array_encode(&t->out, 0, 1, &mean);
    return STATUS_OK;
}

const struct method mean_running = {
    .name = "mean/running",
    .summary = "corrected with each element, m += (x - m) / k: no sum that could overflow",
    .operation = &operation_mean,
    .promise = PROMISE_GPU_TO_GPU,
    .pairs = {FORMAT_PAIRS_ALL, FORMAT_PAIRS_ALL},
    .bound = THEOREM_RUNNING_MEAN,
    .height = serial_height,
    .order = serial_order,
    .cpu = cpu,
};
