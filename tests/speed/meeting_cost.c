/* What the meeting of a study's ranks costs (experiments/system/ranks.h), on one machine.
 *
 *     build/meeting_cost FOLDER RANKS...
 *
 * For each number of ranks, processes that this one forks: a CSV row of how long all take to meet,
 * of the processor's time that one that waits for rank 0 takes, of what a number from the counter
 * takes where all ask at once, and of a look of rank 0's at all, as it does once a second. FOLDER
 * is made, and removed. tests/speed/ranks_model computes with these. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "experiments/system/clock.h"
#include "experiments/system/ranks.h"

enum { TAKES = 20000, LOOKS = 3, WAIT_S = 1 };

/* What the processes share. */
struct shared {
    uint64_t cpu_ns; /* of those that waited, together */
    uint64_t waited, began, ended, ends;
    uint64_t takes_ns; /* of all takes, as their callers waited */
};

static uint64_t cpu_ns(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return ((uint64_t)u.ru_utime.tv_sec + (uint64_t)u.ru_stime.tv_sec) * 1000000000 +
           ((uint64_t)u.ru_utime.tv_usec + (uint64_t)u.ru_stime.tv_usec) * 1000;
}

static void held(enum status status, const struct problem *p)
{
    if (status != STATUS_OK) {
        fprintf(stderr, "meeting_cost: %s\n", p->text);
        exit(1);
    }
}

static void take_all(struct meeting *m, struct shared *shared)
{
    struct problem p = {0};
    for (uint64_t number = 0; number < TAKES;) {
        uint64_t begun = clock_ns();
        held(meeting_take(m, &number, &p), &p);
        __atomic_fetch_add(&shared->takes_ns, clock_ns() - begun, __ATOMIC_RELAXED);
    }
    uint64_t now = clock_ns();
    if (__atomic_add_fetch(&shared->ended, 1, __ATOMIC_SEQ_CST) == 1)
        shared->ends = now; /* the counter is at its end */
}

static void be_rank(const char *folder, struct rank r, struct shared *shared, int stay)
{
    struct problem p = {0};
    struct meeting *m;
    void *word;
    size_t bytes;
    char end;
    held(meeting_open(&m, folder, r, NULL, &p), &p);
    uint64_t begun = clock_ns(), before = cpu_ns();
    held(meeting_hear(m, &word, &bytes, &p), &p);
    __atomic_fetch_add(&shared->cpu_ns, cpu_ns() - before, __ATOMIC_RELAXED);
    __atomic_fetch_add(&shared->waited, clock_ns() - begun, __ATOMIC_RELAXED);
    free(word);
    while (!__atomic_load_n(&shared->began, __ATOMIC_SEQ_CST))
        usleep(1000);
    take_all(m, shared);
    if (read(stay, &end, 1) < 0) /* until rank 0 has looked */
        exit(1);
    meeting_close(m);
    exit(0);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(const char *folder, uint32_t ranks)
{
    struct problem p = {0};
    struct meeting *m;
    uint32_t heard = 0;
    int pipe_of[2], bad = 0, status;
    double look[LOOKS];
    struct shared *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED || pipe(pipe_of) != 0) {
        perror("meeting_cost");
        exit(4);
    }
    uint64_t begun = clock_ns();
    for (uint32_t k = 1; k < ranks; k++) {
        pid_t pid = fork();
        if (pid < 0) {
            perror("meeting_cost: fork");
            exit(4);
        }
        if (pid == 0) {
            close(pipe_of[1]);
            be_rank(folder, (struct rank){k, ranks}, shared, pipe_of[0]);
        }
    }
    double fork_ms = (double)(clock_ns() - begun) * 1e-6;
    held(meeting_open(&m, folder, (struct rank){0, ranks}, NULL, &p), &p);
    sleep(WAIT_S);
    begun = clock_ns();
    held(meeting_say(m, "word", 4, &heard, &p), &p);
    double meet_ms = (double)(clock_ns() - begun) * 1e-6;
    double wait_share = ranks > 1 ? (double)shared->cpu_ns / (double)shared->waited : 0;
    begun = clock_ns();
    __atomic_store_n(&shared->began, 1, __ATOMIC_SEQ_CST);
    take_all(m, shared);
    double take_us = (double)(shared->ends - begun) * 1e-3 / TAKES;
    double wait_us = (double)shared->takes_ns * 1e-3 / (TAKES + ranks);
    while (__atomic_load_n(&shared->ended, __ATOMIC_SEQ_CST) < ranks)
        usleep(1000);
    for (int i = 0; i < LOOKS; i++) {
        usleep(1010000);
        begun = clock_ns();
        meeting_told(m, (struct meeting_done){0});
        look[i] = (double)(clock_ns() - begun) * 1e-3;
    }
    qsort(look, LOOKS, sizeof *look, ascending);
    close(pipe_of[0]);
    close(pipe_of[1]);
    for (uint32_t k = 1; k < ranks; k++)
        if (wait(&status) >= 0)
            bad |= status;
    meeting_close(m);
    meeting_clear(folder);
    if (bad || heard != ranks) {
        fprintf(stderr, "meeting_cost: only %u of %u ranks heard, or one failed\n", heard, ranks);
        exit(1);
    }
    printf("%u,%.2f,%.2f,%.5f,%.3f,%.3f,%.3f\n", ranks, fork_ms, meet_ms, wait_share, take_us,
           wait_us, look[LOOKS / 2]);
    fflush(stdout);
    munmap(shared, sizeof *shared);
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "meeting_cost: expected FOLDER RANKS...\n");
        return 2;
    }
    puts("ranks,fork_ms,meet_ms,wait_share,take_us,take_waited_us,look_us");
    for (int i = 2; i < argc; i++) {
        int ranks = atoi(argv[i]);
        if (ranks < 1 || ranks > 4096) {
            fprintf(stderr, "meeting_cost: found '%s', expected a number of ranks to 4096\n",
                    argv[i]);
            return 2;
        }
        measure(argv[1], (uint32_t)ranks);
    }
    return 0;
}
