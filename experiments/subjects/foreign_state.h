/* What the files of foreign subjects share. */
#pragma once

#include <jansson.h>
#include <pthread.h>
#include <xxhash.h>

#include "experiments/subjects/foreign.h"
#include "experiments/system/process.h"

enum { FOREIGN_OTHERS = 8, FOREIGN_RANKS_MOST = 64 };

struct foreign {
    struct method method; /* first: a task's method leads here */
    enum { FOREIGN_PROGRAM, FOREIGN_OBJECT, FOREIGN_PYTHON, FOREIGN_MPI } kind;
    char *name, *summary;
    json_t *facts;           /* of a function of Python; else NULL */
    char *undescribed;       /* why such a function could not be asked what it is; else NULL */
    bool lent;               /* a function of the process that started us: it has no other */
    unsigned threads;        /* that its environment tells it; 0: nothing is told */
    bool alone;              /* it is held to one processor */
    unsigned threads_made;   /* that its library says it then has; 0: it does not say */
    bool threads_said;       /* its process was asked for that */
    bool placed;             /* an array lies as far from an aligned address as we say */
    char fingerprint[33];    /* of an object */
    pthread_mutex_t mutex;   /* one run at a time; and over what follows */
    struct process *process; /* NULL: none */
    bool describes;          /* it has described functions, and done nothing else */
    bool borrowed;           /* another one, too: it runs none */
    bool holds;              /* the process has elements with this hash: */
    XXH128_hash_t held;
    int device;        /* that it was started for, as a task's */
    size_t ranks;      /* the same, under mpirun */
    unsigned channels; /* of NCCL's: of the last run */
    /* Processes of other numbers of ranks, which are slow to begin; ranks 0: an empty place. */
    struct foreign_ranks {
        size_t ranks;
        struct process *process;
    } others[FOREIGN_OTHERS];
    unsigned char hosts[FOREIGN_RANKS_MOST + 1]; /* that so many ranks are on; 0: not asked yet */
    uint64_t asked; /* the place of its last question among those to all */
    enum { LEARN, TIMES_ITSELF, NOT_TIMED } times; /* of a program: does it answer `time`? */
    bool timed;
    uint64_t time_ns; /* of the last run, where timed */
    /* How long answers took: the last, from a process that was started for it or not; the longest
     * of those that waited for a start; the longest of others, by a byte of the input. 0: none yet.
     */
    double took_s, start_s, byte_s;
    bool started, late; /* late: it was waited for in vain */
    bool refused;       /* the process ended by itself, with an exit status */
    bool declined;      /* and said with it that it would not answer */
    struct foreign *next;
};

extern double foreign_timeout_s;
extern const char *foreign_limit; /* what set it, as struct question has it */
extern const volatile sig_atomic_t *foreign_stop;
extern const char *foreign_server_path;

/* The last one named; the list only ever grows, at this end. */
struct foreign *foreign_all(void);

/* Starts argv as its process, for a device, with what its environment is to say. */
enum status foreign_open(struct foreign *f, const char *const argv[], const char *device,
                         struct problem *p);

/* Ends its process, if there is one, and those of other ranks. The caller has the mutex. */
void foreign_close(struct foreign *f);

/* Asks its process, which is started where there is none. The caller has the mutex. */
enum status foreign_ask(struct foreign *f, const struct question *q, int device, struct problem *p);

/* A method's `cpu`. */
enum status foreign_run(const struct task *t, struct problem *p);

/* Sets the fingerprint of a shared object's file. STATUS_DATA where it cannot be read. */
enum status foreign_hash(struct foreign *f, const char *where, struct problem *p);

/* Asks the process of a shared object or of Python what it says of itself: fills in the method. */
enum status foreign_describe(struct foreign *f, const char *where, struct problem *p);

/* --- functions of Python (python.c) --- */

/* The name in full, "python:FUNCTION[@ARRAY][@OPERATION]", of one that may leave that to
 * foreign_python. The caller frees it. NULL: memory is short. */
char *python_name(const char *name);
/* STATUS_USAGE for a word behind the function's name that is none of those. */
enum status python_words_known(const char *where, const char *name, struct problem *p);
/* What it computes: what its name says, else what is asked for, else what functions of that name
 * do, else a sum. */
const struct operation *python_operation(const char *name, const struct operation *asked);
/* Starts the process for a device. */
enum status python_open(struct foreign *f, const char *device, struct problem *p);
/* Has the process of one loaded what the other is of: its file, or its library in the same mode? */
bool python_alike(const char *name, const char *other);
/* The line that makes a process that is up that of this function. The caller frees it; NULL: memory
 * is short. */
char *python_line(const struct foreign *f);

/* --- all-reduces under mpirun (mpi.c) --- */

/* Fills in the method of this name. STATUS_DEVICE says what to install where there is no MPI. */
enum status mpi_make(struct foreign *f, const char *where, struct problem *p);
/* Starts f->ranks ranks. */
enum status mpi_open(struct foreign *f, const char *device, struct problem *p);
/* So many runs. STATUS_FAILED where ranks end with other bits than each other. */
enum status mpi_run(const struct task *t, size_t runs, double timeout_s, struct problem *p);
