/* Subjects that are not ours, as methods: each run in a process of its own, so that a crash, a hang
 * or corrupted memory costs a row, never the study.
 *
 *     exec:COMMAND    a program, run by /bin/sh -c, asked as experiments/subjects/wire.h says. The
 *                     environment variable ULPSCOPE_DEVICE says which device the row is of.
 *     python:FUNCTION a function of Python, run by the worker that is shipped with the program
 *                     (experiments/python/ulpscope/worker.py)
 *     mpi/NAME        a sum over ranks by Open MPI, whose ranks run under mpirun (mpi.h)
 *     mpich/NAME      the same by MPICH, under its mpiexec
 *     nccl/NAME       the same by NCCL, on the GPUs of this machine
 *     PATH.so:NAME    a subject of a shared object (kernels/ulpscope_subject.h), which
 *                     `ulpscope serve` loads and calls
 *
 * A process stays up between runs and cases. It is started anew after a failure, on another device,
 * and where it has ended with exit status 0 between two questions. At most 32 stay up: beyond that
 * the one idle the longest is ended. */
#pragma once

#include <jansson.h>
#include <limits.h>
#include <signal.h>

#include "experiments/options/subject_name.h"
#include "kernels/method/method.h"

/* Sets what is said of a foreign dot product's products: nothing is known of them. */
void foreign_products(struct method *m);

/* The method of this name; the same for the same name and operation. An exec: subject is taken for
 * what `operation` says, NULL: a sum; it has all pairs of formats and promises nothing. Of a shared
 * object, what it says of itself counts. STATUS_USAGE names `where`; STATUS_DATA where the object
 * cannot be read. */
/* What a function of Python computes by its name alone; NULL: its name does not say, or it is none.
 */
const struct operation *foreign_says(const char *name);
enum status foreign_named(const struct method **m, const char *where, const char *name,
                          const struct operation *operation, struct problem *p);

/* How long a run may take, of all: 60 s if nobody says so. */
void foreign_timeout(double seconds);
/* The same where something else than --timeout sets the limit. words: what does, in a message, as
 * in
 * ", when the time ended". */
void foreign_time_left(double seconds, const char *words);
/* What interrupts a run, and ends its process, when it is not 0; NULL: nothing. */
void foreign_interrupt(const volatile sig_atomic_t *stop);

/* Did this thread's last run fail because there was no answer in time? How long it was waited for,
 * and what a run of this length took at most before, or of other subjects where there was none. */
struct foreign_wait {
    double waited_s, usual_s;
};
bool foreign_late(struct foreign_wait *wait);
/* Did it fail because the process ended by itself, with an exit status, and answered nothing? */
bool foreign_refused(void);
/* And did it say so itself? A function of Python raised, a shared object's run returned another
 * number than 0, a program ended with an exit status of its own. What returned, and gave too few
 * results or wrong ones, did not. */
bool foreign_declined(void);
/* What the subject of this name said itself, in the message of a run that failed: a part of the
 * text, without the name and without how many bytes were due. */
const char *foreign_last_words(const char *text, const char *name);

/* Which library's arrays functions of Python take, and what they compute, where their names leave
 * it open: NULL, or "numpy", "norm". STATUS_USAGE where there is no such thing. */
enum status foreign_python(const char *array, const char *operation, struct problem *p);

/* For which devices and pairs of formats functions of Python are asked when they are named from now
 * on: "cuda fp32/fp32,fp16/fp16", commas within each list; "": for all. Each is tried there, which
 * may mean a compilation. The text stays the caller's, and stays. */
void foreign_describe_only(const char *devices_and_pairs);

/* From now on functions of Python are not asked what they are, and need not be here: nothing is
 * run, what was run is read. They compute what their names say. */
void foreign_names_only(void);

/* From now on functions of Python that cannot be asked what they are have names all the same: they
 * run nowhere. */
void foreign_name_undescribed(void);
const char *foreign_undescribed(const struct method *m); /* why; NULL: this is no such function */

/* A file that is shipped for Python: beside the program as it is installed, in a Python package,
 * else in the source tree. */
enum status python_find(char path[PATH_MAX], const char *file, struct problem *p);

/* Sets *time_ns to what its last run took without the way there and back, as a shared object's
 * process measures it: a host call by the clock, device work by events. Of programs it is not
 * known: see foreign_time_runs. */
bool foreign_time(const struct method *m, uint64_t *time_ns);
bool foreign_times(const struct method *m); /* Is that known of its runs? */

/* A program times runs itself where it knows how (experiments/subjects/wire.h): asks it for one run
 * of this task, once, and does not wait long. Whether it can be timed. */
bool foreign_learn(const struct task *t);
/* The total time of `runs` runs, of a subject that can be timed. */
enum status foreign_time_runs(const struct task *t, size_t runs, uint64_t *time_ns,
                              struct problem *p);

/* What the process of a function of Python says that it runs: library, version, calls, devices.
 * NULL of all other methods. It stays the subject's. */
const json_t *foreign_facts(const struct method *m);

/* Can it be run in a process started anew? A function of the process that started us cannot. */
bool foreign_restarts(const struct method *m);

/* The same subject in a process of its own, with an environment that asks for so many threads:
 * OMP_NUM_THREADS and what other libraries read in its place. Only where it restarts. It stays, and
 * is another method. STATUS_MEMORY. */
enum status foreign_with_threads(const struct method **m, const struct method *of, unsigned threads,
                                 struct problem *p);
/* The same, held to one of the processors that this process may use. */
enum status foreign_on_one_processor(const struct method **m, const struct method *of,
                                     struct problem *p);
unsigned foreign_threads(const struct method *m); /* so many; 0: nothing is asked */
/* The same, or how many its library says that it then has: it may have fewer. It is known of a
 * process that has begun: foreign_ask_threads begins it on a device, as foreign_wake does. */
unsigned foreign_threads_made(const struct method *m);
void foreign_ask_threads(const struct method *m, int device);
/* How long a process of it took to begin, in seconds; 0: not known. */
double foreign_start_s(const struct method *m);

/* Does its array lie where it is asked for? Not where its library decides. */
bool foreign_places(const struct method *m);

/* XXH3-128 of a shared object's file as it was when the method was named, 32 hexadecimal digits.
 * NULL of all other methods. */
const char *foreign_fingerprint(const struct method *m);

/* Starts the process of a function of Python, where there is none, and waits until it has loaded
 * its library, so that this is not among what is timed. Nothing of all other methods, and where it
 * fails: its first run says so. */
void foreign_wake(const struct method *m, int device);

/* Ends its process, or those of all where m is NULL: the next run has a fresh one. */
void foreign_end(const struct method *m);

/* The program that serves shared objects; else the one that is running. Kept, not copied. */
void foreign_server(const char *path);
const char *foreign_program(void); /* that program: a path, or a link to it */
/* The same, as the path that the link leads to. */
void foreign_program_path(char path[PATH_MAX]);
