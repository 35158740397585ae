#include "kernels/blocks/passes.h"

#include <stdlib.h>

#include "kernels/blocks/columns.h"

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Elements of a whole group. */
static size_t group_of(const struct pass *pass, struct shape shape)
{
    return (size_t)pass->rows * shape.threads;
}

enum status passes_sum(const struct pass *pass, const struct task *t, struct problem *p)
{
    enum format f = t->out.format;
    unsigned threads = t->shape.threads;
    size_t group = group_of(pass, t->shape), n = t->of->in.n, count = n / group + (n % group != 0);
    double *v = malloc((count + (count == 0)) * sizeof *v);
    if (!v)
        return problem(p, STATUS_MEMORY, "device cpu: no memory for %zu results of the first pass",
                       count);
    v[0] = 0; /* the sum of nothing */

    double block[PASS_ROWS_MAX * THREADS_MAX];
    for (size_t g = 0; g < count; g++) {
        size_t present = smaller(group, n - g * group);
        array_decode(&t->of->in, g * group, present, block);
        for (size_t i = 0; i < present; i++)
            block[i] = format_round(f, block[i]);
        v[g] = pass->fold(f, block, fold_rows(f, block, present, threads));
    }
    for (n = count; n > 1; n = count) {
        count = n / group + (n % group != 0);
        for (size_t g = 0; g < count; g++) {
            double *at = v + g * group;
            v[g] = pass->fold(f, at, fold_rows(f, at, smaller(group, n - g * group), threads));
        }
    }
    array_encode(&t->out, 0, 1, v);
    free(v);
    return STATUS_OK;
}

size_t passes_height(const struct pass *pass, size_t n, struct shape shape)
{
    size_t group = group_of(pass, shape), height = 0;
    for (; n > 1; n = n / group + (n % group != 0))
        height += columns_height(smaller(group, n), shape.threads);
    return height;
}

void passes_order(const struct pass *pass, struct order *o, struct shape shape)
{
    size_t group = group_of(pass, shape), n = o->leaves;
    uint32_t *node = malloc(n * sizeof *node);
    if (!node) {
        o->failed = true;
        return;
    }
    for (size_t i = 0; i < n; i++)
        node[i] = (uint32_t)i;
    for (size_t count; n > 1; n = count) {
        count = n / group + (n % group != 0);
        for (size_t g = 0; g < count; g++) {
            uint32_t *at = node + g * group;
            size_t present = smaller(group, n - g * group);
            node[g] = pass->order(o, at, order_rows(o, at, present, shape.threads));
        }
    }
    o->output[0] = node[0];
    free(node);
}

struct shape passes_shape(const struct pass *pass, struct shape asked)
{
    unsigned threads = asked.threads ? asked.threads : 256;
    threads = threads < pass->threads_least ? pass->threads_least : threads;
    return (struct shape){.threads = threads > THREADS_MAX ? THREADS_MAX : threads};
}
