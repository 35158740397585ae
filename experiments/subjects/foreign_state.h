/* What the files of foreign subjects share. */
#pragma once

#include <pthread.h>

#include "experiments/subjects/foreign.h"
#include "experiments/system/process.h"

struct foreign {
    struct method method; /* first: a task's method leads here */
    bool object;
    char *name, *summary;
    char fingerprint[33];    /* of an object */
    pthread_mutex_t mutex;   /* one run at a time; and over what follows */
    struct process *process; /* NULL: none */
    int device;              /* that it was started for, as a task's */
    uint64_t asked;          /* the place of its last question among those to all */
    enum { LEARN, TIMES_ITSELF, NOT_TIMED } times; /* of a program: does it answer `time`? */
    bool timed;
    uint64_t time_ns; /* of the last run, where timed */
    struct foreign *next;
};

extern double foreign_timeout_s;
extern const volatile sig_atomic_t *foreign_stop;
extern const char *foreign_server_path;

/* The last one named; the list only ever grows, at this end. */
struct foreign *foreign_all(void);

/* A method's `cpu`. */
enum status foreign_run(const struct task *t, struct problem *p);

/* Sets the fingerprint of a shared object's file. STATUS_DATA where it cannot be read. */
enum status foreign_hash(struct foreign *f, const char *where, struct problem *p);

/* Asks a shared object's process what it says of itself: fills in the method. */
enum status foreign_describe(struct foreign *f, const char *where, struct problem *p);
