/* A program in a process of its own: started, asked question after question through its standard
 * input and output, and ended.
 *
 * It leads a process group, and that group never outlives us: a second process, a shell that waits
 * for the end of a pipe that only we hold, kills it when we are gone, however we went. */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "reference/base/problem.h"

struct process;

/* Starts argv[0], a path, with argv, which ends with NULL. `name` is for messages, and kept. Its
 * environment is ours with `variables`, each "NAME=value", which end with NULL. STATUS_DEVICE where
 * it cannot be started. */
enum status process_open(struct process **process, const char *name, const char *const argv[],
                         const char *const variables[], struct problem *p);

struct question {
    const char *line; /* written first; "" is fine */
    const void *data; /* and then this */
    size_t bytes;
    void *answer; /* `due` bytes are to come back, */
    size_t due;
    size_t *found; /* or, where this is not NULL, at most so many until it ends, with status 0 */
    double timeout_s;
    const char *limit;                 /* what set that, for messages: " (--timeout)"; NULL: this */
    const volatile sig_atomic_t *stop; /* not 0: STATUS_INTERRUPTED at once; or NULL */
};

/* Writes the question and reads the answer, in step, so that a program may answer before it has
 * read all. STATUS_DATA, with the last line of its standard error, where it ends, takes longer than
 * the timeout, answers too little or too much, or closes its standard input. After a failure
 * process_close is all that is left. */
enum status process_ask(struct process *process, const struct question *q, struct problem *p);

/* Of a question that failed: had it answered one before, and then ended with exit status 0 without
 * a byte of an answer? Such a program serves one question a process. */
bool process_served(const struct process *process);
/* Of a question that failed: did it end without a byte of an answer? */
bool process_silent(const struct process *process);

/* Its exit status, where it ended by itself in a question that failed, else -1. */
int process_exit_status(const struct process *process);

/* From now on it is called so in messages, and what it said so far is no longer its last words. */
void process_rename(struct process *process, const char *name);

/* Did a question fail because it took longer than the timeout? */
bool process_late(const struct process *process);

/* The last line of its standard error so far, or "". */
const char *process_last_words(struct process *process);

/* Closes its standard input, gives it a second to end unless it failed, and kills the whole group.
 * NULL is fine. */
void process_close(struct process *process);
