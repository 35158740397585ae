/* scan/compensated: each prefix carries the errors of its additions.
 *
 * Order: the tree of scan/tiled over pairs (s, e), an element x being (x, 0):
 *     (s1, e1) + (s2, e2) = (s, e1 + (e2 + d)), where s = s1 + s2, and d is what its rounding lost,
 * exactly, by Knuth's TwoSum: six additions in the accumulator. The prefix is s + e, rounded once;
 * but s itself where e is zero, which keeps the sign of a zero sum, or not finite, which it is
 * where s overflows or an inf is among the elements. */
#include <math.h>

#include "kernels/scan/tiled.h"
#include "kernels/scan/tree.h"
#include "kernels/method/two_sum.h"

static struct piece add(void *context, struct piece a, struct piece b)
{
    const struct task *t = context;
    enum format f = t->accumulator;
    struct two_sum s = two_sum(f, a.sum, b.sum);
    double error = format_add(f, a.error, format_add(f, b.error, s.error));
    return (struct piece){.sum = s.sum, .error = error};
}

static void read_elements(void *context, size_t begin, size_t count, struct piece *leaf)
{
    const struct task *t = context;
    double x[SCAN_ROW];
    array_decode(&t->of->in, begin, count, x);
    for (size_t i = 0; i < count; i++)
        leaf[i] = (struct piece){.present = true, .sum = format_round(t->accumulator, x[i])};
}

static double value(enum format f, struct piece prefix)
{
    if (prefix.error == 0 || !isfinite(prefix.error))
        return prefix.sum;
    return format_add(f, prefix.sum, prefix.error);
}

static void write_prefixes(void *context, size_t begin, size_t count, const struct piece *prefix)
{
    const struct task *t = context;
    double x[SCAN_ROW];
    for (size_t i = 0; i < count; i++)
        x[i] = prefix[i].present ? value(t->accumulator, prefix[i]) : 0;
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

const struct method scan_compensated = {
    .name = "scan/compensated",
    .summary = "the tree of scan/tiled, each sum with the error of its additions beside it",
    .operation = &operation_scan,
    .promise = PROMISE_GPU_TO_GPU,
    .shape_read = {SHAPE_THREADS, 0},
    .resolve = scan_tiled_shape,
    .addition = ADDITION_PAIRS,
    .bound = THEOREM_COMPENSATED,
    .height = scan_tiled_height,
    .prefix_height = scan_tiled_prefix_height,
    .order = scan_tiled_order,
    .cpu = cpu,
};
