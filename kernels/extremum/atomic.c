/* minimum/atomic and so on: an atomic comparison per element.
 *
 * Order: not fixed, but it does not affect the result (kernels/extremum/extremum.h). The rank of
 * the element found so far is one word, which is exchanged for an element of lesser rank. For
 * indices, that word is the index, and the rank is that of the element there: an element of equal
 * rank is exchanged too if its index is lower, so ties do not depend on timing. */
#include <stdatomic.h>

#include "kernels/extremum/extremum.h"
#include "kernels/blocks/shared_sum.h"
#include "kernels/blocks/tiled.h"
#include "kernels/method/team.h"

struct shared_extremum {
    const struct task *task;
    enum exact_value of;
    _Atomic int64_t rank;
    _Atomic uint64_t index;
};

static void offer_rank(struct shared_extremum *to, int64_t rank)
{
    int64_t seen = atomic_load(&to->rank);
    while (rank < seen && !atomic_compare_exchange_weak(&to->rank, &seen, rank))
        ;
}

static void offer_index(struct shared_extremum *to, int64_t rank, uint64_t index)
{
    uint64_t seen = atomic_load(&to->index);
    for (bool done = false; !done;) {
        int64_t found = extremum_rank(to->of, array_get(&to->task->of->in, seen));
        done = !(rank < found || (rank == found && index < seen)) ||
               atomic_compare_exchange_weak(&to->index, &seen, index);
    }
}

static void offer_share(void *context, unsigned thread)
{
    struct shared_extremum *to = context;
    const struct task *t = to->task;
    struct tiled_share share = tiled_share(t->of->in.n, thread, t->shape.threads);
    double block[ARRAY_BLOCK];
    bool index = exact_facts[to->of].form == FORM_INDEX;
    for (size_t i = 0, count; i < share.count; i += count) {
        count = share.count - i < ARRAY_BLOCK ? share.count - i : ARRAY_BLOCK;
        array_decode(&t->of->in, share.first + i, count, block);
        for (size_t j = 0; j < count; j++) {
            int64_t rank = extremum_rank(to->of, block[j]);
            if (index)
                offer_index(to, rank, share.first + i + j);
            else
                offer_rank(to, rank);
        }
    }
}

static enum status offer_all(enum exact_value of, const struct task *t, struct problem *p)
{
    struct shared_extremum found = {.task = t, .of = of};
    atomic_init(&found.rank, INT64_MAX); /* of a NaN that loses: that of no number is more */
    atomic_init(&found.index, 0);
    enum status status = team_run(t->shape.threads, offer_share, &found, p);
    if (status == STATUS_OK) {
        struct partial whole = {.rank = atomic_load(&found.rank),
                                .index = atomic_load(&found.index)};
        extremum_finish(of, t, t->of->in.n > 0 ? &whole : NULL);
    }
    return status;
}

#define METHOD(sought, promised, accumulators)                                                     \
    EXTREMUM_METHOD(                                                                               \
        sought, atomic, promised, accumulators, offer_all(operation_##sought.of, t, p),            \
        "an atomic comparison per element; of equals the first stays",                             \
        .shape_read = {SHAPE_THREADS, SHAPE_THREADS}, .resolve = shared_sum_each_shape)
EXTREMA(METHOD)
