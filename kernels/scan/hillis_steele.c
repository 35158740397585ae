/* scan/hillis_steele: log n rounds of n additions.
 *
 * Order: P(i) = x[i]; then, in rounds d = 1, 2, 4, ... < n, P(i) becomes P(i-d) + P(i) for all
 * i >= d at once. An exclusive scan is the inclusive one, shifted. The tree of P(i) has the height
 * ceil(log2(i + 1)), the least that there is. */
#include "kernels/method/method.h"

#include <stdlib.h>

static enum status cpu(const struct task *t, struct problem *p)
{
    enum format f = t->accumulator;
    size_t n = t->of->in.n;
    double *v = malloc((n + 1) * sizeof *v), nothing = 0;
    if (!v)
        return problem(p, STATUS_MEMORY, "device cpu: no memory for %zu prefixes", n);
    array_decode(&t->of->in, 0, n, v);
    for (size_t i = 0; i < n; i++)
        v[i] = format_round(f, v[i]);
    for (size_t d = 1; d < n; d *= 2)
        for (size_t i = n - 1; i >= d; i--) /* downwards, so that v[i - d] is the round's old one */
            v[i] = format_add(f, v[i - d], v[i]);
    if (!t->of->exclusive) {
        array_encode(&t->out, 0, n, v);
    } else if (n > 0) {
        array_encode(&t->out, 0, 1, &nothing);
        array_encode(&t->out, 1, n - 1, v);
    }
    free(v);
    return STATUS_OK;
}

static size_t height(size_t n, struct shape shape)
{
    (void)shape;
    return order_balanced_height(n);
}

static size_t prefix_height(size_t i, size_t n, struct shape shape, bool exclusive)
{
    (void)n, (void)shape;
    return order_balanced_height(exclusive ? i : i + 1);
}

static void order(struct order *o, struct shape shape)
{
    (void)shape;
    size_t n = o->leaves;
    for (size_t i = 0; i < n; i++)
        o->output[i] = (uint32_t)i;
    for (size_t d = 1; d < n; d *= 2)
        for (size_t i = n - 1; i >= d; i--)
            o->output[i] = order_add(o, o->output[i - d], o->output[i]);
    if (!o->exclusive)
        return;
    memmove(o->output + 1, o->output, (n - 1) * sizeof *o->output);
    o->output[0] = ORDER_NOTHING;
}

const struct method scan_hillis_steele = {
    .name = "scan/hillis_steele",
    .summary = "rounds d = 1, 2, 4, ...: to each element what stands d before it",
    .operation = &operation_scan,
    .promise = PROMISE_GPU_TO_GPU,
    .bound = THEOREM_TREE,
    .height = height,
    .prefix_height = prefix_height,
    .order = order,
    .cpu = cpu,
};
