#include "kernels/method/team.h"

#include <fenv.h>
#include <limits.h>
#include <linux/futex.h>
#include <mpfr.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct team {
    void (*work)(void *context, unsigned thread);
    void *context;
    fenv_t arithmetic;  /* the caller's: a thread that is kept may have begun under another */
    bool crowded;       /* more threads than processors */
    atomic_uint absent; /* threads that have not come to the starting line yet */
};

struct member {
    struct crew *crew;
    unsigned index;
    unsigned heard, worked; /* the last call of its group, the last round */
    pthread_t thread;
};

enum {
    KEPT = 255, /* threads, beside the caller's */
    GROUPS = 32,
    PATIENCE = 200 /* yields, which take about as long as a thread to start */
};

/* Threads 1 .. count beside a caller's, asleep between teams. Those of a group, 2^g .. 2^(g+1) - 1,
 * are woken up by one call: a team wakes up at most as many as it does not need. */
struct crew {
    struct member *member;
    unsigned count;
    struct team *team;
    _Atomic uint64_t order; /* the round, above the number of threads that work in it */
    atomic_uint call[GROUPS];
    atomic_uint working;
    atomic_bool over;
};

/* To start and end threads takes longer than most of their work: these stay. Held by one team at a
 * time; others, and those that are larger, start threads of their own. */
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static struct member kept_member[KEPT + 1];
static struct crew kept = {.member = kept_member};

static void sleep_at(atomic_uint *word, unsigned value)
{
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void wake_at(atomic_uint *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static unsigned group_of(unsigned index)
{
    unsigned group = 0;
    while (index >>= 1)
        group++;
    return group;
}

static bool is_crowd(unsigned threads)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 && (unsigned)CPU_COUNT(&set) < threads;
}

/* Waits awake, so that no thread has to be woken up while others are already at work. A crowd does
 * not: threads that yield to each other take ten times as long. Nor does who has waited in vain,
 * since other programs use the processors. */
static void run(struct team *team, unsigned index)
{
    atomic_fetch_sub(&team->absent, 1);
    for (int k = 0; !team->crowded && atomic_load(&team->absent) > 0 && k < PATIENCE; k++)
        sched_yield();
    team->work(team->context, index);
}

/* The last one out wakes up the caller. A thread that is called without being needed may find the
 * order of a later round, in which it is: it works then, and not again when it hears the call. */
static void serve(struct member *me)
{
    struct crew *crew = me->crew;
    atomic_uint *call = &crew->call[group_of(me->index)];
    for (;;) {
        while (atomic_load(call) == me->heard)
            sleep_at(call, me->heard);
        me->heard = atomic_load(call);
        if (atomic_load(&crew->over))
            return;
        uint64_t order = atomic_load(&crew->order);
        if (me->index >= (uint32_t)order || me->worked == order >> 32)
            continue;
        me->worked = (unsigned)(order >> 32);
        fesetenv(&crew->team->arithmetic);
        run(crew->team, me->index);
        if (atomic_fetch_sub(&crew->working, 1) == 1)
            wake_at(&crew->working);
    }
}

/* A thread that ends loses the constants that MPFR has computed in it: they are freed first. */
static void *attend(void *argument)
{
    serve(argument);
    mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
    return NULL;
}

/* Until it has `count` threads. */
static int enlarge(struct crew *crew, unsigned count)
{
    int error = 0;
    while (error == 0 && crew->count < count) {
        struct member *new = &crew->member[crew->count + 1];
        *new = (struct member){.crew = crew, .index = crew->count + 1};
        new->heard = atomic_load(&crew->call[group_of(new->index)]);
        new->worked = (unsigned)(atomic_load(&crew->order) >> 32);
        error = pthread_create(&new->thread, NULL, attend, new);
        crew->count += error == 0;
    }
    return error;
}

static void call(struct crew *crew, unsigned count)
{
    for (unsigned group = 0; count >> group > 0; group++) {
        atomic_fetch_add(&crew->call[group], 1);
        wake_at(&crew->call[group]);
    }
}

static void work_together(struct crew *crew, struct team *team, unsigned threads)
{
    unsigned left;
    crew->team = team;
    atomic_store(&crew->working, threads - 1);
    atomic_store(&crew->order, ((atomic_load(&crew->order) >> 32) + 1) << 32 | threads);
    call(crew, threads - 1);
    run(team, 0);
    for (int k = 0; !team->crowded && atomic_load(&crew->working) > 0 && k < PATIENCE; k++)
        sched_yield();
    while ((left = atomic_load(&crew->working)) > 0)
        sleep_at(&crew->working, left);
}

static void dismiss(struct crew *crew)
{
    atomic_store(&crew->over, true);
    call(crew, crew->count);
    for (unsigned i = 1; i <= crew->count; i++)
        pthread_join(crew->member[i].thread, NULL);
    crew->count = 0;
}

/* A process that forks has none of these threads in its child. */
static void forget(void)
{
    pthread_mutex_init(&held, NULL);
    kept.count = 0;
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, forget);
}

/* A library that is unloaded takes the code away that they sleep in. */
__attribute__((destructor)) static void dismiss_kept(void)
{
    if (pthread_mutex_trylock(&held) == 0)
        dismiss(&kept);
}

enum status team_run(unsigned threads, void (*work)(void *context, unsigned thread), void *context,
                     struct problem *p)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (threads == 0)
        return problem(p, STATUS_USAGE, "device cpu: 0 threads, expected at least 1");
    struct team team = {.work = work, .context = context, .crowded = is_crowd(threads)};
    struct crew own = {0}, *crew = &kept;
    atomic_init(&team.absent, threads);
    fegetenv(&team.arithmetic);
    if (threads - 1 > KEPT || pthread_mutex_trylock(&held) != 0) {
        crew = &own;
        own.member = malloc(threads * sizeof *own.member);
        if (!own.member)
            return problem(p, STATUS_MEMORY, "device cpu: no memory for %u threads", threads);
    }
    pthread_once(&once, watch_forks);
    int error = enlarge(crew, threads - 1);
    unsigned there = crew->count + 1;
    if (!error)
        work_together(crew, &team, threads);
    if (crew == &own) {
        dismiss(&own);
        free(own.member);
    } else
        pthread_mutex_unlock(&held);
    if (error)
        return problem(p, STATUS_DEVICE, "device cpu: thread %u of %u could not be started: %s",
                       there + 1, threads, strerror(error));
    return STATUS_OK;
}
