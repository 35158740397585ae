/* scatter/block_local: bins of each block's own, then a reduction over blocks.
 *
 * Order: the elements are cut into as many consecutive shares as there are blocks, of one length
 * but for one element. A block adds each of its elements to its own running sum of the element's
 * bin, atomically, in an order that depends on timing. Then
 * the blocks' sums of a bin are folded, neighbours first: ((0 + 1) + (2 + 3)) + ...; blocks without
 * an element of the bin add nothing. The second half is fixed by the launch shape, the
 * first is not: nothing is promised, unless a block has one thread.
 *
 * A GPU keeps a block's bins in its shared memory, as far as they fit. On the CPU a block's threads
 * are real ones; no thread waits for the others between blocks. */
#include <stdlib.h>

#include "kernels/method/fold.h"
#include "kernels/scatter/bins.h"
#include "kernels/method/team.h"

struct work {
    const struct task *task;
    struct array local; /* blocks x bins */
    double *sum;        /* of a bin, of each block */
};

static struct array bins_of(const struct work *w, unsigned block)
{
    const struct task *t = w->task;
    size_t bytes = t->of->bins * (size_t)format_facts[t->accumulator].bytes;
    return (struct array){t->accumulator, t->of->bins, (char *)w->local.data + block * bytes};
}

static void add_shares(void *context, unsigned thread)
{
    const struct work *w = context;
    const struct task *t = w->task;
    for (unsigned block = 0; block < t->shape.blocks; block++) {
        struct scatter_share share = scatter_share(0, t->of->in.n, block, t->shape.blocks);
        struct array bins = bins_of(w, block);
        share = scatter_share(share.begin, share.end, thread, t->shape.threads);
        scatter_add_atomically(t, &bins, share);
    }
}

/* A bin of a block that is still -0, the identity, has no element or adds nothing. */
static void add_blocks(const struct work *w)
{
    const struct task *t = w->task;
    uint64_t identity = format_encode(t->accumulator, -0.0);
    for (size_t b = 0; b < t->of->bins; b++) {
        if (array_bits(&t->out, b) != identity)
            continue; /* a bin of nothing */
        for (unsigned block = 0; block < t->shape.blocks; block++) {
            struct array bins = bins_of(w, block);
            w->sum[block] = array_get(&bins, b);
        }
        fold_adjacent(t->accumulator, w->sum, t->shape.blocks);
        array_encode(&t->out, b, 1, w->sum);
    }
}

static enum status cpu(const struct task *t, struct problem *p)
{
    size_t cells = t->of->bins * t->shape.blocks;
    struct work w = {.task = t, .local = {t->accumulator, cells, NULL}};
    w.local.data = malloc(array_bytes(t->accumulator, cells));
    w.sum = malloc(t->shape.blocks * sizeof *w.sum);
    if (!w.local.data || !w.sum) {
        free(w.local.data);
        free(w.sum);
        return problem(p, STATUS_MEMORY, "device cpu: no memory for %zu bins of %u blocks",
                       t->of->bins, t->shape.blocks);
    }
    for (size_t i = 0; i < cells; i++)
        array_encode(&w.local, i, 1, &(double){-0.0});
    scatter_begin(t);
    enum status status = team_run(t->shape.threads, add_shares, &w, p);
    if (status == STATUS_OK)
        add_blocks(&w);
    free(w.local.data);
    free(w.sum);
    return status;
}

/* On a GPU as many blocks as keep it busy and are few to fold, of as many threads as can be. */
static struct shape shape(size_t n, enum device_kind device, struct shape asked)
{
    enum { SHARE = 4096, BLOCKS = 264 };
    size_t shares = n / SHARE + 1;
    if (device == DEVICE_CUDA && !asked.threads)
        asked.threads = THREADS_MAX;
    if (device == DEVICE_CUDA && !asked.blocks)
        asked.blocks = shares < BLOCKS ? (unsigned)shares : BLOCKS;
    return scatter_atomic_shape(n, device, asked);
}

const struct method scatter_block_local = {
    .name = "scatter/block_local",
    .summary = "each block adds atomically to bins of its own, then the blocks' are folded",
    .operation = &operation_scatter,
    .promise = PROMISE_NONE,
    .shape_read = {SHAPE_THREADS | SHAPE_BLOCKS, SHAPE_THREADS | SHAPE_BLOCKS},
    .shape_order = SHAPE_BLOCKS,
    .resolve = shape,
    .atomic = true,
    .bound = THEOREM_ANY_ORDER,
    .cpu = cpu,
};
