/* compact/scan: an exclusive scan of the mask says where each element that is kept goes.
 *
 * Order: nothing is added but flags. Element i is kept where its flag is not 0, and goes to the
 * place whose number is that of the flags before it that are not 0; it moves as it is encoded: NaNs
 * keep their payloads. Threads and blocks are a schedule: on the CPU each thread has a consecutive
 * share of the elements, counts its flags, and moves them when all shares before it are counted. */
#include <stdlib.h>

#include "kernels/scatter/bins.h"
#include "kernels/method/team.h"
#include "kernels/transpose/tile.h"

struct work {
    const struct task *task;
    size_t *kept; /* of each thread's share; then, of all before it */
};

static void count_share(void *context, unsigned thread)
{
    const struct work *w = context;
    const struct task *t = w->task;
    struct scatter_share share = scatter_share(0, t->of->in.n, thread, t->shape.threads);
    size_t kept = 0;
    for (size_t i = share.begin; i < share.end; i++)
        kept += t->of->mask[i] != 0;
    w->kept[thread] = kept;
}

static void move_share(void *context, unsigned thread)
{
    const struct work *w = context;
    const struct task *t = w->task;
    struct scatter_share share = scatter_share(0, t->of->in.n, thread, t->shape.threads);
    size_t to = w->kept[thread];
    for (size_t i = share.begin; i < share.end; i++)
        if (t->of->mask[i])
            array_set_bits(&t->out, to++, array_bits(&t->of->in, i));
}

static enum status cpu(const struct task *t, struct problem *p)
{
    unsigned threads = t->shape.threads;
    struct work w = {t, calloc(threads, sizeof *w.kept)};
    size_t before = 0;
    if (!w.kept)
        return problem(p, STATUS_MEMORY, "device cpu: no memory for %u threads", threads);
    enum status status = team_run(threads, count_share, &w, p);
    for (unsigned i = 0; i < threads; i++) {
        size_t kept = w.kept[i];
        w.kept[i] = before;
        before += kept;
    }
    if (status == STATUS_OK)
        status = team_run(threads, move_share, &w, p);
    free(w.kept);
    return status;
}

const struct method compact_scan = {
    .name = "compact/scan",
    .summary = "elements whose flag is set, in order, to where a scan of the flags says",
    .operation = &operation_compact,
    .promise = PROMISE_GPU_TO_GPU,
    .pairs = {FORMAT_PAIRS_SAME, FORMAT_PAIRS_SAME_FROM_16},
    .shape_read = {SHAPE_THREADS, 0},
    .resolve = scatter_each_shape,
    .addition = ADDITION_NONE,
    .bound = THEOREM_EXTREMUM,
    .cpu = cpu,
};
