/* The CPU side and the launch shapes of sum/binned, sum/binned2 and sum/binned4. */
#include "kernels/sum/binned_sum.h"

#include <stdlib.h>

#include "kernels/blocks/binned_state.h"
#include "kernels/method/team.h"

enum { SHARE = 2048 }; /* elements worth a thread */

struct work {
    const struct array *in;
    size_t threads;
    struct binned_state *state; /* of each thread's share */
};

static void add_share(void *context, unsigned thread)
{
    const struct work *w = context;
    size_t n = w->in->n, share = n / w->threads, longer = n % w->threads;
    size_t first = share * thread + (thread < longer ? thread : longer);
    struct binned_state s = w->state[thread];
    binned_state_add(&s, w->in, first, share + (thread < longer));
    w->state[thread] = s;
}

enum status binned_sum(const struct task *t, unsigned folds, struct problem *p)
{
    size_t threads = t->shape.threads;
    struct binned_state *state = malloc(threads * sizeof *state);
    if (!state)
        return problem(p, STATUS_DEVICE, "device cpu: no memory for %zu states", threads);
    for (size_t i = 0; i < threads; i++)
        binned_state_init(&state[i], t->in.format, t->out.format, folds, NULL);
    enum status status =
        team_run(t->shape.threads, add_share, &(struct work){&t->in, threads, state}, p);
    for (size_t i = 1; i < threads; i++)
        binned_state_merge(&state[0], &state[i], NULL);
    double sum = binned_state_finish(&state[0]);
    if (status == STATUS_OK)
        array_encode(&t->out, 0, 1, &sum);
    free(state);
    return status;
}

struct shape binned_shape(size_t n, enum device_kind device, struct shape asked)
{
    size_t most = n / SHARE + 1;
    if (device == DEVICE_CPU) {
        size_t threads = asked.threads ? asked.threads : 1;
        threads = threads > THREADS_MAX ? THREADS_MAX : threads;
        return (struct shape){.threads = (unsigned)(threads > most ? most : threads)};
    }
    unsigned threads = asked.threads ? asked.threads : BINNED_THREADS;
    threads = threads > BINNED_THREADS ? BINNED_THREADS : threads;
    size_t blocks = n / (BINNED_PER_LANE * threads) + 1;
    blocks = blocks > BINNED_BLOCKS ? BINNED_BLOCKS : blocks;
    blocks = asked.blocks ? asked.blocks : blocks;
    return (struct shape){threads, blocks > BLOCKS_MAX ? BLOCKS_MAX : (unsigned)blocks};
}
