#include "kernels/scatter/bins.h"

#include <stdlib.h>

#include "kernels/blocks/shared_add.h"
#include "kernels/method/team.h"
#include "reference/exact/by_bin.h"

void scatter_begin(const struct task *t)
{
    uint64_t identity = format_encode(t->out.format, -0.0);
    for (size_t b = 0; b < t->of->bins; b++)
        array_set_bits(&t->out, b, 0);
    for (size_t i = 0; i < t->of->in.n; i++)
        array_set_bits(&t->out, t->of->keys[i], identity);
}

struct scatter_share scatter_share(size_t begin, size_t end, unsigned thread, unsigned threads)
{
    size_t size = (end - begin) / threads, longer = (end - begin) % threads;
    size_t first = begin + size * thread + (thread < longer ? thread : longer);
    return (struct scatter_share){first, first + size + (thread < longer)};
}

void scatter_add_atomically(const struct task *t, const struct array *bins,
                            struct scatter_share share)
{
    enum format f = bins->format;
    size_t width = (size_t)format_facts[f].bytes, count;
    double block[ARRAY_BLOCK];
    for (size_t i = share.begin; i < share.end; i += count) {
        count = share.end - i < ARRAY_BLOCK ? share.end - i : ARRAY_BLOCK;
        array_decode(&t->of->in, i, count, block);
        for (size_t j = 0; j < count; j++)
            shared_add(f, (char *)bins->data + width * t->of->keys[i + j],
                       format_round(f, block[j]));
    }
}

struct work {
    const struct task *task;
    scatter_bin *sum;
    struct by_bin by;
    struct array sorted;     /* the elements' values, bin by bin */
    struct problem *problem; /* of each thread */
};

static void sum_bins(void *context, unsigned thread)
{
    const struct work *w = context;
    const struct task *t = w->task;
    struct scatter_share share = scatter_share(0, t->of->bins, thread, t->shape.threads);
    double *value = w->sorted.data;
    for (size_t b = share.begin; b < share.end; b++) {
        size_t first = w->by.start[b], count = by_bin_count(&w->by, b);
        double sum = 0; /* of nothing */
        by_bin_decode(&w->by, &t->of->in, b, 0, count, value + first);
        struct array x = {FP64, count, value + first};
        if (count > 0 &&
            w->sum(t, &x, w->by.element + first, &sum, &w->problem[thread]) != STATUS_OK)
            return;
        array_encode(&t->out, b, 1, &sum);
    }
}

enum status scatter_each(const struct task *t, scatter_bin *sum, struct problem *p)
{
    struct work w = {.task = t, .sum = sum};
    enum status status = by_bin_make(&w.by, t->of->keys, t->of->in.n, t->of->bins, p);
    if (status != STATUS_OK)
        return status;
    w.sorted = (struct array){FP64, t->of->in.n, malloc((t->of->in.n + 1) * sizeof(double))};
    w.problem = calloc(t->shape.threads, sizeof *w.problem);
    status = w.sorted.data && w.problem
                 ? team_run(t->shape.threads, sum_bins, &w, p)
                 : problem(p, STATUS_MEMORY, "device cpu: no memory for %zu elements by bin",
                           t->of->in.n);
    for (unsigned i = 0; status == STATUS_OK && i < t->shape.threads; i++)
        if (w.problem[i].status != STATUS_OK)
            status = problem(p, w.problem[i].status, "%s", w.problem[i].text);
    free(w.sorted.data);
    free(w.problem);
    by_bin_free(&w.by);
    return status;
}

static unsigned resolved(unsigned asked, unsigned otherwise, size_t most)
{
    unsigned count = asked ? asked : otherwise;
    return count > most ? (most ? (unsigned)most : 1) : count;
}

struct shape scatter_atomic_shape(size_t n, enum device_kind device, struct shape asked)
{
    bool cpu = device == DEVICE_CPU;
    size_t most = cpu && n < THREADS_MAX ? n : THREADS_MAX;
    return (struct shape){resolved(asked.threads, cpu ? 4 : 256, most),
                          resolved(asked.blocks, 8, BLOCKS_MAX)};
}

struct shape scatter_each_shape(size_t n, enum device_kind device, struct shape asked)
{
    asked.threads = asked.threads || device != DEVICE_CPU ? asked.threads : 1;
    return scatter_atomic_shape(n, device, asked);
}
