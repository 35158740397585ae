/* sum/serial: one after the other.
 *
 * Order: ((x[0] + x[1]) + x[2]) + ... + x[n-1]. Its height is n - 1, the most
 * that an order can have: the any-order bound (n-1) u sum|x| is its own. */
#include "kernels/blocks/serial.h"

static enum status cpu(const struct task *t, struct problem *p)
{
    (void)p;
    enum format f = t->out.format;
    double block[ARRAY_BLOCK], sum = 0;
    for (size_t begin = 0; begin < t->of->in.n; begin += ARRAY_BLOCK) {
        size_t count = t->of->in.n - begin < ARRAY_BLOCK ? t->of->in.n - begin : ARRAY_BLOCK;
        array_decode(&t->of->in, begin, count, block);
        for (size_t i = 0; i < count; i++) {
            double x = format_round(f, block[i]);
            sum = begin + i == 0 ? x : format_add(f, sum, x);
        }
    }
    array_encode(&t->out, 0, 1, &sum);
    return STATUS_OK;
}

const struct method sum_serial = {
    .name = "sum/serial",
    .summary = "one after the other, left to right",
    .operation = &operation_sum,
    .promise = PROMISE_GPU_TO_GPU,
    .pairs = {FORMAT_PAIRS_ALL, FORMAT_PAIRS_ALL},
    .bound = THEOREM_TREE,
    .height = serial_height,
    .order = serial_order,
    .cpu = cpu,
};
