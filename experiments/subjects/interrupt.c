#include "experiments/subjects/interrupt.h"

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "experiments/subjects/foreign.h"

static volatile sig_atomic_t stop;

/* `timeout`, and batch systems, signal a program and then its group: what comes so soon behind the
 * first is the same request. A later one ends the program at once. */
enum { SAME_MS = 500 };
static struct timespec first;

static void on_signal(int signal)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!stop) {
        first = now;
        stop = 1;
        return;
    }
    int64_t ms =
        (int64_t)(now.tv_sec - first.tv_sec) * 1000 + (now.tv_nsec - first.tv_nsec) / 1000000;
    if (ms < SAME_MS)
        return;
    const struct sigaction plain = {.sa_handler = SIG_DFL};
    sigaction(signal, &plain, NULL);
    raise(signal);
}

const volatile sig_atomic_t *interrupt_catch(void)
{
    const struct sigaction gentle = {.sa_handler = on_signal};
    struct sigaction before;
    sigaction(SIGINT, &gentle, NULL);
    sigaction(SIGTERM, &gentle, NULL);
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(SIGHUP, &gentle, NULL);
    foreign_interrupt(&stop);
    return &stop;
}
