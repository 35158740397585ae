#include "kernels/method/team.h"

#include <mpfr.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct team {
    void (*work)(void *context, unsigned thread);
    void *context;
    bool crowded;          /* more threads than processors */
    pthread_rwlock_t gate; /* open when all have been created */
    atomic_uint absent;    /* threads that have not come to the starting line yet */
    atomic_bool off;       /* a thread could not be had: go home */
};

struct member {
    struct team *team;
    unsigned index;
    pthread_t thread;
};

static bool is_crowd(unsigned threads)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 && (unsigned)CPU_COUNT(&set) < threads;
}

enum { PATIENCE = 200 }; /* yields, which take about as long as a thread to start */

/* Waits awake, so that no thread has to be woken up while others are already at work. A crowd
 * sleeps: threads that yield to each other take ten times as long to start. So does who has waited
 * in vain, since other programs use the processors: it begins when all threads exist. */
static void run(const struct member *me)
{
    struct team *team = me->team;
    atomic_fetch_sub(&team->absent, 1);
    for (int k = 0; !team->crowded && atomic_load(&team->absent) > 0 && k < PATIENCE; k++)
        sched_yield();
    if (atomic_load(&team->absent) > 0) {
        pthread_rwlock_rdlock(&team->gate);
        pthread_rwlock_unlock(&team->gate);
    }
    if (!atomic_load(&team->off))
        team->work(team->context, me->index);
}

/* A thread that ends loses the constants that MPFR has computed in it: they are freed first. */
static void *attend(void *argument)
{
    run(argument);
    mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
    return NULL;
}

enum status team_run(unsigned threads, void (*work)(void *context, unsigned thread), void *context,
                     struct problem *p)
{
    if (threads == 0)
        return problem(p, STATUS_USAGE, "device cpu: 0 threads, expected at least 1");
    struct team team = {.work = work, .context = context};
    atomic_init(&team.absent, threads);
    atomic_init(&team.off, false);
    struct member *member = malloc(threads * sizeof *member);
    if (!member)
        return problem(p, STATUS_MEMORY, "device cpu: no memory for %u threads", threads);

    team.crowded = is_crowd(threads);
    pthread_rwlock_init(&team.gate, NULL);
    pthread_rwlock_wrlock(&team.gate);
    int error = 0;
    unsigned started = 1;
    for (; started < threads; started++) {
        member[started] = (struct member){.team = &team, .index = started};
        error = pthread_create(&member[started].thread, NULL, attend, &member[started]);
        if (error)
            break;
    }
    atomic_store(&team.off, error != 0);
    pthread_rwlock_unlock(&team.gate);
    member[0] = (struct member){.team = &team};
    if (!error)
        run(&member[0]);
    for (unsigned i = 1; i < started; i++)
        pthread_join(member[i].thread, NULL);
    pthread_rwlock_destroy(&team.gate);
    free(member);
    if (error)
        return problem(p, STATUS_DEVICE, "device cpu: thread %u of %u could not be started: %s",
                       started + 1, threads, strerror(error));
    return STATUS_OK;
}
