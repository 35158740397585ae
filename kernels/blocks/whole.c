#include "kernels/blocks/whole.h"

#include <stdlib.h>

#include "kernels/blocks/tiled.h"
#include "kernels/method/team.h"

struct work {
    const struct task *task;
    array_term *term;
    struct exact *sum; /* one of these two, for each thread */
    struct products *products;
    bool *fine;
};

static void add_share(void *context, unsigned thread)
{
    struct work *w = context;
    const struct task *t = w->task;
    struct tiled_share share = tiled_share(tiled_tiles(t->of->in.n), thread, t->shape.threads);
    size_t begin = share.first * TILE, end = begin + share.count * TILE, n = t->of->in.n;
    end = end < n ? end : n;
    begin = begin < n ? begin : n; /* without a tile it is behind the last, which may be short */
    if (w->sum) {
        exact_init(&w->sum[thread]);
        exact_add_terms(&w->sum[thread], &t->of->in, begin, end - begin, w->term);
        return;
    }
    products_init(&w->products[thread]);
    w->fine[thread] = products_add(&w->products[thread], &t->of->in,
                                   t->of->in2.data ? &t->of->in2 : &t->of->in, begin, end - begin);
}

enum status whole_sum(const struct task *t, array_term *term, struct exact *sum, struct problem *p)
{
    unsigned threads = t->shape.threads;
    struct work w = {.task = t, .term = term, .sum = calloc(threads, sizeof *w.sum)};
    if (!w.sum)
        return problem(p, STATUS_MEMORY, "device cpu: no memory for %u exact sums", threads);
    enum status status = team_run(threads, add_share, &w, p);
    exact_init(sum);
    for (unsigned i = 0; status == STATUS_OK && i < threads; i++)
        exact_merge(sum, &w.sum[i]);
    free(w.sum);
    return status;
}

enum status whole_products(const struct task *t, struct products *sum, struct problem *p)
{
    unsigned threads = t->shape.threads;
    struct work w = {.task = t,
                     .products = calloc(threads, sizeof *w.products),
                     .fine = calloc(threads, sizeof *w.fine)};
    bool fine = w.products && w.fine;
    enum status status = fine ? team_run(threads, add_share, &w, p) : STATUS_OK;
    products_init(sum);
    for (unsigned i = 0; fine && status == STATUS_OK && i < threads; i++) {
        fine = w.fine[i];
        products_merge(sum, &w.products[i]);
    }
    if (!fine)
        status = problem(p, STATUS_MEMORY, "device cpu: no memory for exact products");
    free(w.products);
    free(w.fine);
    return status;
}
