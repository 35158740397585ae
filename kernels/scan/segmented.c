/* scan/segmented: a scan that begins anew at every head.
 *
 * Order: the tree of scan/tiled over pairs (head, value):
 *     (h1, v1) + (h2, v2) = (h1 or h2, v2 where h2, else v1 + v2).
 * So the tree of an element is that of scan/tiled, without what lies before the last head: it is
 * never added, whatever it is, and no inf or NaN crosses a head. Where the scan is exclusive, a
 * head's own prefix is +0. Without heads this is scan/tiled. */
#include "kernels/scan/tiled.h"
#include "kernels/scan/tree.h"

static struct piece add(void *context, struct piece a, struct piece b)
{
    const struct task *t = context;
    return (struct piece){.sum = format_add(t->accumulator, a.sum, b.sum)};
}

static void read_elements(void *context, size_t begin, size_t count, struct piece *leaf)
{
    const struct task *t = context;
    double x[SCAN_ROW];
    array_decode(&t->of->in, begin, count, x);
    for (size_t i = 0; i < count; i++)
        leaf[i] =
            (struct piece){.present = true,
                           .head = begin + i == 0 || (t->of->heads && t->of->heads[begin + i]),
                           .sum = format_round(t->accumulator, x[i])};
}

static void write_prefixes(void *context, size_t begin, size_t count, const struct piece *prefix)
{
    const struct task *t = context;
    double x[SCAN_ROW];
    for (size_t i = 0; i < count; i++)
        x[i] = prefix[i].present ? prefix[i].sum : 0;
    array_encode(&t->out, begin, count, x);
}

static enum status cpu(const struct task *t, struct problem *p)
{
    struct tree tree = {.n = t->of->in.n,
                        .exclusive = t->of->exclusive,
                        .add = add,
                        .read = read_elements,
                        .write = write_prefixes,
                        .context = (void *)t};
    return scan_tree_walk(&tree, t->shape.threads, p);
}

const struct method scan_segmented = {
    .name = "scan/segmented",
    .summary = "the tree of scan/tiled, cut at head flags that nothing crosses",
    .operation = &operation_scan,
    .promise = PROMISE_GPU_TO_GPU,
    .shape_read = {SHAPE_THREADS, 0},
    .resolve = scan_tiled_shape,
    .segmented = true,
    .bound = THEOREM_TREE,
    .height = scan_tiled_height,
    .prefix_height = scan_tiled_prefix_height,
    .segment_heights = scan_tiled_segment_heights,
    .order = scan_tiled_order,
    .cpu = cpu,
};
