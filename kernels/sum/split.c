/* sum/split: chunks summed apart, their sums stored in the storage's format, then added up.
 *
 * Order: the elements are cut into as many chunks as the grid has blocks, of one length but the
 * last, which may be shorter; some may be missing. Each chunk is summed one after the other in the
 * accumulator. Its sum is rounded to the storage's format, in which a split-K kernel writes it to
 * its workspace when that has the type of the output. Then the stored sums are added up in the
 * accumulator, one after the other, from the first chunk to the last. So bits depend on the number
 * of blocks. Where the storage holds the accumulator's values, storing rounds nothing.
 *
 * The same with partial sums kept in the accumulator is the order of gemm/split_k. */
#include "kernels/method/method.h"

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t chunk_length(size_t n, struct shape shape)
{
    return n / shape.blocks + (n % shape.blocks != 0);
}

static double chunk(const struct array *in, enum format f, size_t begin, size_t end)
{
    double block[ARRAY_BLOCK], sum = 0;
    for (size_t at = begin; at < end; at += ARRAY_BLOCK) {
        size_t count = smaller(end - at, ARRAY_BLOCK);
        array_decode(in, at, count, block);
        for (size_t i = 0; i < count; i++) {
            double x = format_round(f, block[i]);
            sum = at + i == begin ? x : format_add(f, sum, x);
        }
    }
    return sum;
}

static enum status cpu(const struct task *t, struct problem *p)
{
    (void)p;
    enum format f = t->out.format;
    const struct array *in = &t->of->in;
    size_t length = chunk_length(in->n, t->shape);
    double sum = 0;
    for (size_t begin = 0; begin < in->n; begin += length) {
        double partial = chunk(in, f, begin, begin + smaller(length, in->n - begin));
        partial = format_round(f, format_round(in->format, partial));
        sum = begin == 0 ? partial : format_add(f, sum, partial);
    }
    array_encode(&t->out, 0, 1, &sum);
    return STATUS_OK;
}

/* The least power of two, 8 or more, that is no less than the square root of n: the height is near
 * the least that there is, and lanes of a GPU, which walk a chunk each, are many. */
static unsigned usual_blocks(size_t n)
{
    unsigned blocks = 8;
    while (blocks <= BLOCKS_MAX / 2 && (size_t)blocks * blocks < n)
        blocks *= 2;
    return blocks;
}

static struct shape resolve(size_t n, enum device_kind device, struct shape asked)
{
    (void)device;
    unsigned blocks = asked.blocks ? asked.blocks : usual_blocks(n);
    return (struct shape){0, blocks > BLOCKS_MAX ? BLOCKS_MAX : blocks};
}

static size_t chunk_height(size_t n, struct shape shape)
{
    return chunk_length(n, shape) - 1;
}

static size_t height(size_t n, struct shape shape)
{
    return chunk_height(n, shape) + (n - 1) / chunk_length(n, shape);
}

static void order(struct order *o, struct shape shape)
{
    size_t n = o->leaves, length = chunk_length(n, shape);
    uint32_t sum = ORDER_NOTHING;
    for (size_t begin = 0; begin < n; begin += length) {
        uint32_t partial = (uint32_t)begin;
        for (size_t i = begin + 1; i < begin + smaller(length, n - begin); i++)
            partial = order_add(o, partial, (uint32_t)i);
        sum = begin == 0 ? partial : order_add(o, sum, partial);
    }
    o->output[0] = sum;
}

const struct method sum_split = {
    .name = "sum/split",
    .summary = "a chunk a block, its sum stored in the storage's format, then those in order",
    .operation = &operation_sum,
    .promise = PROMISE_RUN_TO_RUN,
    .pairs = {FORMAT_PAIRS_FROM_16(IN_ALL), FORMAT_PAIRS_FROM_16(IN_ALL)},
    .shape_read = {SHAPE_BLOCKS, SHAPE_BLOCKS},
    .shape_order = SHAPE_BLOCKS,
    .resolve = resolve,
    .bound = THEOREM_SPLIT,
    .height = height,
    .chunk_height = chunk_height,
    .order = order,
    .cpu = cpu,
};
