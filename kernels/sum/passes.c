#include "kernels/sum/passes.h"

#include <stdlib.h>

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

enum status passes_sum(const struct pass *pass, size_t group, const struct task *t,
                       struct problem *p)
{
    enum format f = t->out.format;
    unsigned threads = t->shape.threads;
    size_t n = t->in.n, count = n / group + (n % group != 0);
    double *v = malloc((count + (count == 0)) * sizeof *v);
    if (!v)
        return problem(p, STATUS_DEVICE, "device cpu: no memory for %zu results of the first pass",
                       count);
    v[0] = 0; /* the sum of nothing */

    double block[PASS_GROUP_MAX];
    for (size_t g = 0; g < count; g++) {
        size_t present = smaller(group, n - g * group);
        array_decode(&t->in, g * group, present, block);
        for (size_t i = 0; i < present; i++)
            block[i] = format_round(f, block[i]);
        v[g] = pass->fold(f, block, present, threads);
    }
    for (n = count; n > 1; n = count) {
        count = n / group + (n % group != 0);
        for (size_t g = 0; g < count; g++)
            v[g] = pass->fold(f, v + g * group, smaller(group, n - g * group), threads);
    }
    array_encode(&t->out, 0, 1, v);
    free(v);
    return STATUS_OK;
}

size_t passes_height(const struct pass *pass, size_t group, size_t n, unsigned threads)
{
    size_t height = 0;
    for (; n > 1; n = n / group + (n % group != 0))
        height += pass->height(smaller(group, n), threads);
    return height;
}

void passes_order(const struct pass *pass, size_t group, struct order *o, unsigned threads)
{
    size_t n = o->leaves;
    uint32_t *node = malloc(n * sizeof *node);
    if (!node) {
        o->failed = true;
        return;
    }
    for (size_t i = 0; i < n; i++)
        node[i] = (uint32_t)i;
    for (size_t count; n > 1; n = count) {
        count = n / group + (n % group != 0);
        for (size_t g = 0; g < count; g++)
            node[g] = pass->order(o, node + g * group, smaller(group, n - g * group), threads);
    }
    o->output[0] = node[0];
    free(node);
}

struct shape passes_shape(struct shape asked, unsigned least)
{
    unsigned threads = asked.threads ? asked.threads : 256;
    threads = threads < least ? least : threads;
    return (struct shape){.threads = threads > THREADS_MAX ? THREADS_MAX : threads};
}
