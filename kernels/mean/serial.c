/* mean/serial: the sum of sum/serial, one after the other, divided by n.
 *
 * Order: ((x[0] + x[1]) + x[2]) + ...; then one division by n, which is taken whole, rounded once.
 * The sum may leave the accumulator's range where the mean does not. */
#include "kernels/mean/divide.h"
#include "kernels/blocks/serial.h"

extern const struct method sum_serial;

static enum status cpu(const struct task *t, struct problem *p)
{
    return mean_of_sum(&sum_serial, t, p);
}

const struct method mean_serial = {
    .name = "mean/serial",
    .summary = "the sum, one after the other, divided by n",
    .operation = &operation_mean,
    .promise = PROMISE_GPU_TO_GPU,
    .pairs = {FORMAT_PAIRS_ALL, FORMAT_PAIRS_ALL},
    .bound = THEOREM_MEAN,
    .height = serial_height,
    .order = serial_order,
    .cpu = cpu,
};
