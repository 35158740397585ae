/* What the programs that ranks run share (mpi_worker.c, nccl_worker.c). */
#pragma once

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* For tests: a rank that fails as the environment says. */
#ifdef ULPSCOPE_PLANTED
#define PLANTED(what) (getenv("ULPSCOPE_PLANT") && strcmp(getenv("ULPSCOPE_PLANT"), what) == 0)
#else
#define PLANTED(what) 0
#endif

static inline void *rank_watch_parent(void *parent)
{
    while (getppid() == *(pid_t *)parent)
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    _exit(1);
}

/* A process that is killed may leave its ranks behind: they end when they have another parent.
 * False: no thread could be started. */
static inline _Bool rank_ends_with_parent(void)
{
    static pid_t parent;
    pthread_t watcher;
    parent = getppid();
    return pthread_create(&watcher, NULL, rank_watch_parent, &parent) == 0;
}
