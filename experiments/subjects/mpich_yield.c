/* MPICH over UCX waits for other ranks without ever leaving its processor. Where there are more
 * ranks than processors those it waits for then wait for the end of its time slice, at every hop.
 * Its waits call ucp_worker_progress, which the loader finds here first. With a processor for each
 * rank all is as it was. Other builds of MPICH never call it. */
#include <dlfcn.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

enum { YIELDS = 50, SLEEP_NS = 20000 };

/* mpiexec tells each rank how many there are. */
static bool are_crowded(void)
{
    cpu_set_t may;
    const char *ranks = getenv("PMI_SIZE");
    return ranks && sched_getaffinity(0, sizeof may, &may) == 0 && atoi(ranks) > CPU_COUNT(&may);
}

__attribute__((visibility("default"))) unsigned ucp_worker_progress(void *worker);

unsigned ucp_worker_progress(void *worker)
{
    static unsigned (*progress)(void *worker);
    static bool crowded;
    static unsigned waited; /* so often there was nothing to do */
    if (!progress) {
        crowded = are_crowded();
        *(void **)&progress = dlsym(RTLD_NEXT, "ucp_worker_progress");
    }
    unsigned events = progress(worker);
    waited = events > 0 || !crowded ? 0 : waited + 1;
    if (waited > YIELDS)
        nanosleep(&(struct timespec){.tv_nsec = SLEEP_NS}, NULL);
    else if (waited > 0)
        sched_yield();
    return events;
}
