#include "experiments/subjects/interrupt.h"

#include <stddef.h>

#include "experiments/subjects/foreign.h"

static volatile sig_atomic_t stop;

static void on_signal(int signal)
{
    (void)signal;
    stop = 1;
}

const volatile sig_atomic_t *interrupt_catch(void)
{
    const struct sigaction gentle = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    struct sigaction before;
    sigaction(SIGINT, &gentle, NULL);
    sigaction(SIGTERM, &gentle, NULL);
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(SIGHUP, &gentle, NULL);
    foreign_interrupt(&stop);
    return &stop;
}
