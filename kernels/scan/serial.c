/* scan/serial: one after the other.
 *
 * Order: P(0) = x[0] and P(i) = P(i-1) + x[i]. An exclusive scan is the inclusive one, shifted. The
 * tree of P(i) has the height i, the most that an order of i + 1 elements can have. */
#include "kernels/blocks/serial.h"

static enum status cpu(const struct task *t, struct problem *p)
{
    (void)p;
    enum format f = t->accumulator;
    double block[ARRAY_BLOCK], sum = 0;
    for (size_t begin = 0; begin < t->of->in.n; begin += ARRAY_BLOCK) {
        size_t count = t->of->in.n - begin < ARRAY_BLOCK ? t->of->in.n - begin : ARRAY_BLOCK;
        array_decode(&t->of->in, begin, count, block);
        for (size_t i = 0; i < count; i++) {
            double x = format_round(f, block[i]), before = sum;
            sum = begin + i == 0 ? x : format_add(f, sum, x);
            block[i] = t->of->exclusive ? before : sum;
        }
        array_encode(&t->out, begin, count, block);
    }
    return STATUS_OK;
}

static size_t prefix_height(size_t i, size_t n, struct shape shape, bool exclusive)
{
    (void)n, (void)shape;
    return exclusive && i > 0 ? i - 1 : i;
}

static void order(struct order *o, struct shape shape)
{
    (void)shape;
    uint32_t sum = ORDER_NOTHING;
    for (uint32_t i = 0; i < o->leaves; i++) {
        uint32_t before = sum;
        sum = i == 0 ? i : order_add(o, sum, i);
        o->output[i] = o->exclusive ? before : sum;
    }
}

const struct method scan_serial = {
    .name = "scan/serial",
    .summary = "one after the other, left to right",
    .operation = &operation_scan,
    .promise = PROMISE_GPU_TO_GPU,
    .bound = THEOREM_TREE,
    .height = serial_height,
    .prefix_height = prefix_height,
    .order = order,
    .cpu = cpu,
};
