/* A run of a foreign subject: a question to its process. */
#include <stdio.h>
#include <stdlib.h>

#include "experiments/device.h"
#include "experiments/foreign_private.h"
#include "experiments/wire.h"

/* Bytes that the place of an array is told to: it is the same in runs of an array that is placed at
 * random, as long as it begins a cache line. */
enum { PLACE = 64 };

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
    process_close(oldest->process);
    oldest->process = NULL;
    pthread_mutex_unlock(&oldest->mutex);
}

/* Sees to it that a process for this device is up. */
static enum status start(struct foreign *f, int device, struct problem *p)
{
    char text[DEVICE_TEXT];
    if (f->process && f->device != device) {
        process_close(f->process);
        f->process = NULL;
    }
    if (f->process)
        return STATUS_OK;
    make_room();
    f->device = device;
    device_text(text, device);
    const char *const program[] = {"/bin/sh", "-c", f->name + strlen("exec:"), NULL};
    const char *const object[] = {foreign_server_path, "serve", f->name, "--device", text, NULL};
    return process_open(&f->process, f->name, f->object ? object : program, text, p);
}

/* What a shared object's process is told of the run beside the request. */
static int write_settings(char *to, size_t size, const struct task *t)
{
    size_t ahead = (uintptr_t)t->in.data % PLACE / (size_t)format_facts[t->in.format].bytes;
    return snprintf(to, size, "time\noffset %zu\nshape %u %u\n", ahead, t->shape.threads,
                    t->shape.blocks);
}

/* STATUS_DEVICE where the process that we wrote says that it is that. */
static enum status kind_of(const struct foreign *f, enum status status)
{
    return f->object && status == STATUS_DATA &&
                   process_exit_status(f->process) == (int)STATUS_DEVICE
               ? STATUS_DEVICE
               : status;
}

static enum status ask(struct foreign *f, const struct question *q, int device, struct problem *p)
{
    static _Atomic uint64_t questions;
    f->asked = questions++;
    for (int attempt = 0;; attempt++) {
        struct problem why = {0};
        enum status status = start(f, device, &why);
        if (status == STATUS_OK)
            status = process_ask(f->process, q, &why);
        if (status == STATUS_OK)
            return status;
        bool again = attempt == 0 && f->process && process_served(f->process);
        status = f->process ? kind_of(f, status) : status;
        process_close(f->process);
        f->process = NULL;
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
        return problem(p, STATUS_DEVICE, "%s: out of memory for %zu bytes of results", f->name,
                       due);
    enum status status = ask(f, &q, device, p);
    if (status == STATUS_OK) {
        memcpy(out, q.answer, due);
        memcpy(&f->time_ns, (char *)q.answer + due, sizeof f->time_ns);
        f->timed = true;
    }
    free(q.answer);
    return status;
}

/* Both arrays, one behind the other. The caller frees them; NULL where memory is short. */
static void *both_of(const struct task *t)
{
    size_t bytes = array_bytes(t->in.format, t->in.n);
    char *both = malloc(2 * bytes + 1);
    if (both && bytes > 0) {
        memcpy(both, t->in.data, bytes);
        memcpy(both + bytes, t->in2.data, bytes);
    }
    return both;
}

enum status foreign_run(const struct task *t, struct problem *p)
{
    struct foreign *f = (struct foreign *)t->method;
    char line[2 * WIRE_LINE];
    int settings = f->object ? write_settings(line, WIRE_LINE, t) : 0;
    wire_write(line + settings, &(struct wire_request){.operation = f->method.operation,
                                                       .n = t->in.n,
                                                       .storage = t->in.format,
                                                       .accumulator = t->accumulator,
                                                       .output = t->out.format,
                                                       .exclusive = t->exclusive});
    struct question q = {.line = line,
                         .data = t->in.data,
                         .bytes = array_bytes(t->in.format, t->in.n),
                         .answer = t->out.data,
                         .due = array_bytes(t->out.format, t->out.n),
                         .timeout_s = foreign_timeout_s,
                         .stop = foreign_stop};
    void *both = f->method.operation->inputs == 2 ? both_of(t) : NULL;
    if (both) {
        q.data = both;
        q.bytes *= 2;
    } else if (f->method.operation->inputs == 2) {
        return problem(p, STATUS_DEVICE, "%s: out of memory for two arrays", f->name);
    }
    pthread_mutex_lock(&f->mutex);
    enum status status = f->object ? ask_timed(f, q, t->device, p) : ask(f, &q, t->device, p);
    pthread_mutex_unlock(&f->mutex);
    free(both);
    return status;
}
