#include "reference/base/shares.h"

#include <mpfr.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { SHARES_THREADS = 256 };

struct crew {
    void (*work)(void *context, size_t share);
    void *context;
    size_t count;
    atomic_size_t next; /* the first share not yet taken */
};

static void serve(struct crew *c)
{
    for (size_t share; (share = atomic_fetch_add(&c->next, 1)) < c->count;)
        c->work(c->context, share);
}

/* A thread that ends loses the constants that MPFR has computed in it: they are freed first. */
static void *help(void *argument)
{
    serve(argument);
    mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
    return NULL;
}

/* A helper that has not left yet is mostly about to: to be woken up by it would take longer than to
 * ask it some times. */
static void join(pthread_t helper)
{
    for (int asked = 0; asked < 200; asked++) {
        if (pthread_tryjoin_np(helper, NULL) == 0)
            return;
        sched_yield();
    }
    pthread_join(helper, NULL);
}

void shares_run(unsigned threads, size_t count, void (*work)(void *context, size_t share),
                void *context)
{
    struct crew crew = {.work = work, .context = context, .count = count};
    pthread_t helper[SHARES_THREADS];
    unsigned helpers = 0;
    atomic_init(&crew.next, 0);
    while (helpers < SHARES_THREADS && helpers + 1 < threads && helpers + 1 < count &&
           pthread_create(&helper[helpers], NULL, help, &crew) == 0)
        helpers++;
    serve(&crew);
    while (helpers > 0)
        join(helper[--helpers]);
}
