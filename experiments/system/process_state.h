/* What the files of processes share. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "experiments/system/process.h"

enum { WORDS_KEPT = 1024 };

struct process {
    const char *name;
    pid_t pid, guard;
    int to, from, errors, life; /* our ends of the pipes; -1: closed. life: the guard's */
    bool answered, failed;      /* a question */
    bool served;                /* as process_served */
    bool over;                  /* it has ended; not yet reaped, so that its number stays its own */
    int code, status;           /* how, as waitid says: CLD_EXITED, ...; code 0: not known */
    char words[WORDS_KEPT + 1]; /* the end of its standard error */
    size_t words_length;
};

/* Notes its end, if it has ended. */
void process_look(struct process *process);
/* Waits for its end, listening to what it says on standard error, but at most so long. */
void process_await(struct process *process, double seconds);
/* Takes what there is on its standard error. */
void process_listen(struct process *process);
