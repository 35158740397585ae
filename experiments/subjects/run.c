/* A run of a foreign subject: a question to its process. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>

#include "experiments/system/clock.h"
#include "experiments/system/device.h"
#include "experiments/subjects/foreign_state.h"
#include "experiments/subjects/wire.h"

/* Bytes that the place of an array is told to: it is the same in runs of an array that is placed at
 * random, as long as it begins a cache line. */
enum { PLACE = 64 };

/* What a program has beyond four times an answer to show whether it times itself. */
#define LEARN_S 2

/* Each has pipes here and, on a GPU, a context there. */
enum { PROCESSES_MAX = 32 };

static void device_text(char text[DEVICE_TEXT], int device)
{
    device_name(device < 0 ? (struct device){DEVICE_CPU, 0} : (struct device){DEVICE_CUDA, device},
                text);
}

/* Ends the process that has waited longest for a question, where there are many. The caller has the
 * mutex of its own subject, which has none; those of others may be at work. */
static void make_room(void)
{
    struct foreign *oldest = NULL;
    size_t count = 0;
    for (struct foreign *f = foreign_all(); f; f = f->next) {
        if (pthread_mutex_trylock(&f->mutex) != 0)
            continue;
        count += f->process != NULL;
        if (f->process && (!oldest || f->asked < oldest->asked))
            oldest = f;
        pthread_mutex_unlock(&f->mutex);
    }
    if (count < PROCESSES_MAX || pthread_mutex_trylock(&oldest->mutex) != 0)
        return;
    foreign_close(oldest);
    pthread_mutex_unlock(&oldest->mutex);
}

/* A function of Python that was told a number of threads. */
static enum status ask_threads(struct foreign *f, struct problem *p)
{
    uint64_t made = 0;
    enum status status = process_ask(f->process,
                                     &(struct question){.line = "threads\n",
                                                        .answer = &made,
                                                        .due = sizeof made,
                                                        .timeout_s = foreign_timeout_s,
                                                        .stop = foreign_stop},
                                     p);
    f->threads_made = (unsigned)made;
    f->threads_said = true;
    return status;
}

/* Sees to it that a process for this device is up. */
static enum status start(struct foreign *f, int device, struct problem *p)
{
    char text[DEVICE_TEXT];
    if (f->process && (f->borrowed || (f->device != device && f->kind != FOREIGN_PYTHON)))
        foreign_close(f);
    f->describes = false;
    if (f->process)
        return STATUS_OK;
    make_room();
    f->started = true;
    f->device = device;
    device_text(text, device);
    if (f->kind == FOREIGN_PYTHON) {
        enum status status = python_open(f, text, p);
        return status == STATUS_OK && f->threads ? ask_threads(f, p) : status;
    }
    if (f->kind == FOREIGN_MPI)
        return mpi_open(f, text, p);
    const char *const program[] = {"/bin/sh", "-c", f->name + strlen("exec:"), NULL};
    const char *const object[] = {foreign_server_path, "serve", f->name, "--device", text, NULL};
    return foreign_open(f, f->kind == FOREIGN_OBJECT ? object : program, text, p);
}

/* What the process that we wrote is told of the run beside the request. */
static int write_settings(char *to, size_t size, const struct task *t)
{
    const struct foreign *f = (const struct foreign *)t->method;
    size_t ahead = (uintptr_t)t->of->in.data % PLACE / (size_t)format_facts[t->of->in.format].bytes;
    char device[DEVICE_TEXT];
    device_text(device, t->device);
    if (f->kind == FOREIGN_PYTHON)
        return snprintf(to, size, "device %s\noffset %zu\n", device, ahead);
    return snprintf(to, size, "time\noffset %zu\nshape %u %u\n", ahead, t->shape.threads,
                    t->shape.blocks);
}

/* STATUS_DEVICE where the process that we wrote says that it is that. */
static enum status kind_of(const struct foreign *f, enum status status)
{
    return f->kind != FOREIGN_PROGRAM && status == STATUS_DATA &&
                   process_exit_status(f->process) == (int)STATUS_DEVICE
               ? STATUS_DEVICE
               : status;
}

/* A shell whose command was killed by signal N ends with status 128 + N. */
static bool ended_itself(const struct process *process)
{
    int exit_status = process_exit_status(process);
    return exit_status >= 0 && exit_status < 128;
}

/* Of the processes that we wrote this exit status says it; a shell's own are 126 and 127. */
static bool declined(const struct foreign *f)
{
    enum { PROGRAMS_MOST = 125 };
    int exit_status = process_exit_status(f->process);
    return process_silent(f->process) &&
           (f->kind == FOREIGN_PROGRAM ? exit_status > 0 && exit_status <= PROGRAMS_MOST
            : f->kind == FOREIGN_MPI   ? false
                                       : exit_status == (int)STATUS_FAILED);
}

enum status foreign_ask(struct foreign *f, const struct question *q, int device, struct problem *p)
{
    static _Atomic uint64_t questions;
    f->asked = questions++;
    for (int attempt = 0;; attempt++) {
        struct problem why = {0};
        uint64_t begin = clock_ns();
        f->started = false;
        enum status status = start(f, device, &why);
        if (status == STATUS_OK)
            status = process_ask(f->process, q, &why);
        f->took_s = (double)(clock_ns() - begin) / 1e9;
        f->late = status != STATUS_OK && f->process && process_late(f->process);
        f->refused = status != STATUS_OK && f->process && ended_itself(f->process);
        f->declined = status != STATUS_OK && f->process && declined(f);
        if (status == STATUS_OK)
            return status;
        /* A program may answer once and end. Processes that we wrote end where the subject does. */
        bool again =
            attempt == 0 && f->kind == FOREIGN_PROGRAM && f->process && process_served(f->process);
        status = f->process ? kind_of(f, status) : status;
        foreign_close(f);
        if (!again)
            return problem(p, status, "%s", why.text);
    }
}

/* An array's answer of a shared object's process is followed by the time, so both are read into a
 * place of their own. */
static enum status ask_timed(struct foreign *f, struct question q, int device, struct problem *p)
{
    void *out = q.answer;
    size_t due = q.due;
    q.answer = malloc(due + sizeof f->time_ns);
    q.due = due + sizeof f->time_ns;
    if (!q.answer)
        return problem(p, STATUS_MEMORY, "%s: out of memory for %zu bytes of results", f->name,
                       due);
    enum status status = foreign_ask(f, &q, device, p);
    if (status == STATUS_OK) {
        memcpy(out, q.answer, due);
        memcpy(&f->time_ns, (char *)q.answer + due, sizeof f->time_ns);
        f->timed = true;
    }
    free(q.answer);
    return status;
}

/* What a question has behind its array: another one, keys, or C; else NULL. */
static const void *second_of(const struct task *t, const struct wire_request *r)
{
    return request_behind(r) == 0            ? NULL
           : t->of->keys                     ? (const void *)t->of->keys
           : operation_reads_c(r->operation) ? t->of->c.data
                                             : t->of->in2.data;
}

/* The array and what is behind it, into *q, whose data the caller frees. */
static enum status join(struct question *q, const struct task *t, const void *second,
                        size_t second_bytes, struct problem *p)
{
    char *both = malloc(q->bytes + second_bytes + 1);
    if (!both)
        return problem(p, STATUS_MEMORY, "%s: out of memory for a question", t->method->name);
    if (q->bytes > 0)
        memcpy(both, t->of->in.data, q->bytes);
    if (second_bytes > 0)
        memcpy(both + q->bytes, second, second_bytes);
    q->data = both;
    q->bytes += second_bytes;
    return STATUS_OK;
}

/* runs: 0 for a plain question; else the program is asked for the time of so many. */
static enum status ask_program(struct foreign *f, const struct task *t, struct question q,
                               size_t runs, struct problem *p)
{
    if (runs == 0)
        return foreign_ask(f, &q, t->device, p);
    enum status status = ask_timed(f, q, t->device, p);
    f->timed = false; /* of runs that are asked for otherwise nothing is known */
    return status;
}

/* A function of Python: elements that its process has from the last question, by their hash, are
 * not sent again, and stay where they are on the device. */
static enum status ask_python(struct foreign *f, const struct task *t, struct question q,
                              const char *settings, const char *request, struct problem *p)
{
    char line[3 * WIRE_LINE];
    XXH128_hash_t hash = XXH3_128bits(q.bytes > 0 ? q.data : "", q.bytes);
    bool same = f->process && f->holds && XXH128_isEqual(hash, f->held);
    struct question brief = q;
    snprintf(line, sizeof line, "%s%s%s", settings, same ? "same " : "", request);
    q.line = brief.line = line;
    brief.bytes = same ? 0 : q.bytes;
    f->holds = false;
    enum status status = ask_timed(f, brief, t->device, p);
    f->holds = status == STATUS_OK;
    f->held = hash;
    return status;
}

static enum status question(const struct task *t, size_t runs, double timeout_s, struct problem *p)
{
    struct foreign *f = (struct foreign *)t->method;
    if (f->kind == FOREIGN_MPI)
        return mpi_run(t, runs ? runs : 1, timeout_s, p);
    char settings[WIRE_LINE] = "", request[2 * WIRE_LINE], line[3 * WIRE_LINE];
    bool ours = f->kind != FOREIGN_PROGRAM;
    if (ours)
        write_settings(settings, sizeof settings, t);
    int before = runs ? snprintf(request, WIRE_LINE, "time %zu ", runs) : 0;
    const struct wire_request asked = request_asked(t);
    wire_write(request + before, &asked);
    snprintf(line, sizeof line, "%s%s", settings, request);
    struct question q = {.line = line,
                         .data = t->of->in.data,
                         .bytes = array_bytes(asked.storage, asked.n),
                         .answer = t->out.data,
                         .due = array_bytes(t->out.format, t->out.n),
                         .timeout_s = timeout_s,
                         .limit = foreign_limit,
                         .stop = foreign_stop};
    const void *second = second_of(t, &asked);
    enum status status = second ? join(&q, t, second, request_behind_bytes(&asked), p) : STATUS_OK;
    if (status != STATUS_OK)
        return status;
    pthread_mutex_lock(&f->mutex);
    status = f->kind == FOREIGN_PYTHON   ? ask_python(f, t, q, settings, request, p)
             : f->kind == FOREIGN_OBJECT ? ask_timed(f, q, t->device, p)
                                         : ask_program(f, t, q, runs, p);
    pthread_mutex_unlock(&f->mutex);
    if (second)
        free((void *)q.data);
    return status;
}

/* Of this thread's last run. */
static _Thread_local struct foreign_wait in_vain;
static _Thread_local bool refused, said_no;

/* Of short runs the way there and back is what takes its time. */
enum { BYTES_LEAST = 1 << 16 };

static double bytes_of(const struct task *t)
{
    size_t bytes = array_bytes(t->of->in.format, t->of->in.n);
    return bytes < BYTES_LEAST ? BYTES_LEAST : (double)bytes;
}

static double usual(const struct foreign *f, const struct task *t)
{
    double start_s = f->start_s, byte_s = f->byte_s;
    for (const struct foreign *other = foreign_all(); other; other = other->next) {
        if (f->start_s == 0)
            start_s = fmax(start_s, other->start_s);
        if (f->byte_s == 0)
            byte_s = fmax(byte_s, other->byte_s);
    }
    return (f->started ? start_s : 0) + byte_s * bytes_of(t);
}

static void note_time(struct foreign *f, const struct task *t, enum status status)
{
    pthread_mutex_lock(&f->mutex);
    in_vain = (struct foreign_wait){0};
    refused = status != STATUS_OK && f->refused;
    said_no = status != STATUS_OK && f->declined;
    if (status != STATUS_OK && f->late)
        in_vain = (struct foreign_wait){f->took_s, usual(f, t)};
    else if (status == STATUS_OK && f->started)
        f->start_s = fmax(f->start_s, f->took_s);
    else if (status == STATUS_OK)
        f->byte_s = fmax(f->byte_s, f->took_s / bytes_of(t));
    pthread_mutex_unlock(&f->mutex);
}

bool foreign_late(struct foreign_wait *wait)
{
    *wait = in_vain;
    return in_vain.waited_s > 0;
}

bool foreign_refused(void)
{
    return refused;
}

bool foreign_declined(void)
{
    return said_no;
}

const char *foreign_last_words(const char *text, const char *name)
{
    static const char said[] = "its last words: ";
    const char *words = strstr(text, said);
    size_t length = strlen(name);
    if (words)
        return words + strlen(said);
    return strncmp(text, name, length) == 0 && strncmp(text + length, ": ", 2) == 0
               ? text + length + 2
               : text;
}

enum status foreign_run(const struct task *t, struct problem *p)
{
    enum status status = question(t, 0, foreign_timeout_s, p);
    note_time((struct foreign *)t->method, t, status);
    return status;
}

bool foreign_learn(const struct task *t)
{
    struct foreign *f = (struct foreign *)t->method;
    if (f->kind == FOREIGN_OBJECT || f->times != LEARN)
        return foreign_times(t->method);
    uint64_t begin = clock_ns();
    bool answers = foreign_run(t, NULL) == STATUS_OK;
    double seconds = LEARN_S + 4 * (double)(clock_ns() - begin) / 1e9;
    answers = answers && question(t, 1, fmin(seconds, foreign_timeout_s), NULL) == STATUS_OK;
    f->times = answers ? TIMES_ITSELF : NOT_TIMED;
    return answers;
}

enum status foreign_time_runs(const struct task *t, size_t runs, uint64_t *time_ns,
                              struct problem *p)
{
    struct foreign *f = (struct foreign *)t->method;
    enum status status = question(t, runs, foreign_timeout_s, p);
    *time_ns = f->time_ns;
    if (status == STATUS_OK && f->kind == FOREIGN_PROGRAM && (double)*time_ns > 1e9 * f->took_s)
        return problem(p, STATUS_DATA,
                       "%s: says that %zu run%s took %.2g s, but its answer came after %.2g s",
                       f->name, runs, runs == 1 ? "" : "s", (double)*time_ns / 1e9, f->took_s);
    return status;
}
