/* asum/serial: magnitudes, one after the other.
 *
 * Order: that of sum/serial, ((|x[0]| + |x[1]|) + |x[2]|) + ... */
#include <math.h>

#include "kernels/blocks/serial.h"

static enum status cpu(const struct task *t, struct problem *p)
{
    (void)p;
    enum format f = t->accumulator;
    const struct array *in = &t->of->in;
    double block[ARRAY_BLOCK], sum = 0; /* which adds nothing to a magnitude */
    for (size_t begin = 0; begin < in->n; begin += ARRAY_BLOCK) {
        size_t count = in->n - begin < ARRAY_BLOCK ? in->n - begin : ARRAY_BLOCK;
        array_decode(in, begin, count, block);
        for (size_t i = 0; i < count; i++)
            sum = format_add(f, sum, format_round(f, fabs(block[i])));
    }
    array_encode(&t->out, 0, 1, &sum);
    return STATUS_OK;
}

const struct method asum_serial = {
    .name = "asum/serial",
    .summary = "magnitudes, one after the other, left to right",
    .operation = &operation_asum,
    .promise = PROMISE_GPU_TO_GPU,
    .pairs = {FORMAT_PAIRS_ALL, FORMAT_PAIRS_ALL},
    .bound = THEOREM_TREE,
    .height = serial_height,
    .order = serial_order,
    .cpu = cpu,
};
