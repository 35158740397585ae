/* Teams of threads: each works once, and all at the same time. */
#include <criterion/criterion.h>

#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "experiments/system/clock.h"
#include "kernels/method/method.h"
#include "kernels/gpu/raw_read.h"
#include "kernels/method/team.h"
#include "tests/support/samples.h"

enum { MOST = 40, LARGE = 260 }; /* threads of a large team do not stay */

/* How many processors a team believes to have, which decides how it waits; 0: as many as there are.
 */
static unsigned processors;
int __real_sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set);
int __wrap_sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set);

int __wrap_sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
    if (processors == 0)
        return __real_sched_getaffinity(pid, size, set);
    CPU_ZERO(set);
    for (unsigned i = 0; i < processors; i++)
        CPU_SET(i, set);
    return 0;
}

struct meeting {
    unsigned threads;
    atomic_uint calls[LARGE], arrived;
    atomic_bool missed;
};

/* Leaves only when all have come, so that none can have worked before another. */
static void meet(void *context, unsigned thread)
{
    struct meeting *m = context;
    uint64_t begin = clock_ns();
    atomic_fetch_add(&m->calls[thread], 1);
    atomic_fetch_add(&m->arrived, 1);
    while (atomic_load(&m->arrived) < m->threads && !atomic_load(&m->missed)) {
        if (clock_ns() - begin > UINT64_C(20000000000))
            atomic_store(&m->missed, true);
        sched_yield();
    }
}

Test(team, all_work_once_and_at_the_same_time)
{
    static const unsigned teams[] = {1, 2, 3, 7, MOST, 5, LARGE, 2};
    for (size_t i = 0; i < sizeof teams / sizeof *teams; i++) {
        struct meeting m = {.threads = teams[i]};
        cr_assert(team_run(teams[i], meet, &m, NULL) == STATUS_OK);
        cr_expect(!atomic_load(&m.missed), "%u threads never met", teams[i]);
        for (unsigned t = 0; t < LARGE; t++)
            cr_expect(atomic_load(&m.calls[t]) == (t < teams[i]), "thread %u of %u: %u calls", t,
                      teams[i], atomic_load(&m.calls[t]));
    }
}

static void count(void *context, unsigned thread)
{
    (void)thread;
    atomic_fetch_add((atomic_uint *)context, 1);
}

Test(team, nobody_is_no_team, .timeout = 30)
{
    atomic_uint worked = 0;
    struct problem p = {0};
    cr_assert(team_run(0, count, &worked, &p) == STATUS_USAGE, "%s", p.text);
    cr_assert(strstr(p.text, "0 threads") && atomic_load(&worked) == 0, "%s", p.text);
}

static void mark(void *context, unsigned thread)
{
    atomic_fetch_add((atomic_uint *)context + thread, 1);
}

/* Threads that stay are called to teams of other sizes, some without being needed: they come late
 * to teams that are over, or that the next has followed. */
Test(team, sizes_change)
{
    static atomic_uint calls[MOST];
    uint64_t state = 9;
    for (int round = 0; round < 30000; round++) {
        unsigned threads = 1 + (unsigned)(sample_next(&state) % (round % 4 ? 4 : MOST));
        cr_assert(team_run(threads, mark, calls, NULL) == STATUS_OK);
        for (unsigned t = 0; t < MOST; t++)
            cr_assert(atomic_exchange(&calls[t], 0) == (t < threads), "thread %u of %u", t,
                      threads);
    }
}

static void mark_twice(void *context, unsigned thread)
{
    (void)thread;
    cr_expect(team_run(3, count, context, NULL) == STATUS_OK);
}

static void *many_teams(void *worked)
{
    for (int round = 0; round < 1000; round++)
        cr_expect(team_run(5, count, worked, NULL) == STATUS_OK);
    return NULL;
}

/* A team within a team, and teams of several callers, get threads of their own. */
Test(team, several_at_once, .timeout = 60)
{
    atomic_uint worked = 0, of[3] = {0};
    pthread_t caller[3];
    cr_assert(team_run(4, mark_twice, &worked, NULL) == STATUS_OK);
    cr_expect(atomic_load(&worked) == 12, "%u worked", atomic_load(&worked));
    for (int i = 0; i < 3; i++)
        cr_assert(pthread_create(&caller[i], NULL, many_teams, &of[i]) == 0);
    for (int i = 0; i < 3; i++)
        pthread_join(caller[i], NULL);
    for (int i = 0; i < 3; i++)
        cr_expect(atomic_load(&of[i]) == 5000, "%u worked", atomic_load(&of[i]));
}

/* After fork, a child has none of the threads that wait in its parent. */
Test(team, a_child_has_a_team, .timeout = 60)
{
    int status = -1;
    atomic_uint before = 0;
    cr_assert(many_teams(&before) == NULL);
    pid_t child = fork();
    if (child == 0) {
        atomic_uint worked = 0;
        enum status run = team_run(5, count, &worked, NULL);
        _exit(run == STATUS_OK && atomic_load(&worked) == 5 ? 0 : 1);
    }
    cr_assert(child > 0 && waitpid(child, &status, 0) == child && status == 0, "%d", status);
}

static void note_rounding(void *context, unsigned thread)
{
    ((int *)context)[thread] = fegetround();
}

/* All round as the caller does when it calls, not as it did when they began. */
Test(team, rounds_as_the_caller)
{
    static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_TONEAREST, FE_DOWNWARD};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        int mode[MOST];
        fesetround(modes[i]);
        enum status status = team_run(MOST, note_rounding, mode, NULL);
        fesetround(FE_TONEAREST);
        cr_assert(status == STATUS_OK);
        for (size_t t = 0; t < MOST; t++)
            cr_expect(mode[t] == modes[i], "thread %zu: %d, expected %d", t, mode[t], modes[i]);
    }
}

#ifdef __has_feature /* clang's way of telling; gcc defines __SANITIZE_ADDRESS__ */
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__
#endif
#endif
#ifndef __SANITIZE_ADDRESS__ /* which takes terabytes of address space */
/* With address space for the stacks of a few only, nobody works, and nobody waits for ever: neither
 * awake nor asleep. */
Test(team, threads_that_cannot_be_had)
{
    atomic_uint worked = 0;
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    cr_assert(file && fscanf(file, "%lu", &pages) == 1);
    fclose(file);
    rlim_t room = pages * (rlim_t)sysconf(_SC_PAGESIZE) + ((rlim_t)160 << 20);
    cr_assert(setrlimit(RLIMIT_AS, &(struct rlimit){room, room}) == 0);
    for (int round = 0; round < 100; round++) { /* one that begins too early may do so unseen */
        struct problem p = {0};
        processors = round % 2 ? MOST : 1;
        enum status status = team_run(MOST, count, &worked, &p);
        cr_assert(status == STATUS_DEVICE, "status %d: %s", (int)status, p.text);
        cr_assert(strstr(p.text, "thread"), "%s", p.text);
        cr_assert(atomic_load(&worked) == 0, "%u worked", atomic_load(&worked));
    }
}
#endif

/* A yardstick looks at every byte, wherever the array begins and however many threads share it:
 * changing one changes what it mixes. */
Test(team, raw_read_sees_every_byte)
{
    static unsigned char data[1200];
    uint64_t state = 7;
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)sample_next(&state);
    for (size_t offset = 0; offset < 16; offset += 2)
        for (unsigned threads = 1; threads < 4; threads += 2)
            for (size_t i = 0; i < 1100; i += 7) {
                uint64_t before, after;
                struct array a = {FP16, 550, data + offset};
                raw_read(&a, threads, &before, NULL);
                data[offset + i] ^= 0x10;
                raw_read(&a, threads, &after, NULL);
                data[offset + i] ^= 0x10;
                cr_assert(before != after, "offset %zu, %u threads, byte %zu", offset, threads, i);
            }
}

/* So does the other, and it writes nothing else. */
Test(team, raw_copy_copies_every_byte)
{
    static unsigned char data[1200], copy[1200];
    uint64_t state = 8;
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)sample_next(&state);
    for (size_t n = 0; n < 560; n += n < 40 ? 1 : 37)
        for (unsigned threads = 1; threads < 8; threads++) {
            struct array a = {FP16, n, data + 2};
            memset(copy, 0xa5, sizeof copy);
            cr_assert(raw_copy(&a, copy + 16, threads, NULL) == STATUS_OK);
            cr_assert(memcmp(copy + 16, data + 2, 2 * n) == 0, "n = %zu, %u threads", n, threads);
            cr_assert(copy[15] == 0xa5 && copy[16 + 2 * n] == 0xa5, "n = %zu, %u threads", n,
                      threads);
        }
}

/* More threads than tiles: those without a share add nothing, and the others what one would. */
Test(team, threads_without_a_share_add_nothing)
{
    static const char *const name[] = {"mean/exact", "norm/exact", "variance/exact", "dot/exact"};
    static const size_t n[] = {1, 1023, 2048, 2049, 4690};
    static double x[2][4690];
    struct problem p = {0};
    for (size_t i = 0; i < sizeof name / sizeof *name * 5; i++) {
        double sum[2] = {0};
        const struct method *m = method_named(name[i / 5]);
        struct task t = {.of = &(struct operands){.in = {FP64, n[i % 5], x[0]},
                                                  .in2 = {FP64, n[i % 5],
                                                          m->operation->inputs == 2 ? x[1] : NULL},
                                                  .product = m->product},
                         .accumulator = FP64,
                         .method = m,
                         .device = -1};
        sample_fill(&(struct array){FP64, n[i % 5], x[0]}, SAMPLE_NEAR, FP64, i);
        sample_fill(&(struct array){FP64, n[i % 5], x[1]}, SAMPLE_NEAR, FP64, ~i);
        for (unsigned k = 0; k < 2; k++) {
            t.shape.threads = k ? 7 : 1;
            t.out = (struct array){FP64, 1, &sum[k]};
            cr_assert(m->cpu(&t, &p) == STATUS_OK, "%s: %s", m->name, p.text);
        }
        cr_expect(sum[0] == sum[1], "%s, n = %zu: found %a, expected %a", m->name, n[i % 5], sum[1],
                  sum[0]);
    }
}
