/* gpu_to_gpu: numbers of threads and of processors that nothing but its environment tells a
 * subject. */
#include <unistd.h>

#include "experiments/check/attempts.h"
#include "experiments/options/subject_name.h"
#include "experiments/subjects/foreign_state.h"
#include "experiments/system/clock.h"
#include "experiments/system/machine.h"

bool check_environs(const struct check_request *r)
{
    const struct method *m = r->method;
    return m->foreign && r->device.kind == DEVICE_CPU && !name_is_mpi(m->name) &&
           !(m->shape_read[DEVICE_CPU] & SHAPE_THREADS);
}

struct shape check_shape_made(const struct check_request *r, size_t n, struct shape asked)
{
    struct shape is = method_shape(r->method, r->device.kind, n, asked);
    is.threads = check_environs(r) ? asked.threads : is.threads;
    return is;
}

const struct method *check_method(const struct check *c, struct shape shape)
{
    const struct method *m = c->request->method, *told;
    bool tells = shape.threads && check_environs(c->request) && foreign_restarts(m);
    return tells && foreign_with_threads(&told, m, shape.threads, NULL) == STATUS_OK ? told : m;
}

unsigned check_threads_made(const struct check_request *r, unsigned asked)
{
    const struct method *told;
    bool tells = asked && check_environs(r) && foreign_restarts(r->method);
    return tells && foreign_with_threads(&told, r->method, asked, NULL) == STATUS_OK
               ? foreign_threads_made(told)
               : asked;
}

/* Is there time to start another process? */
static bool time_for_start(const struct check *c)
{
    return clock_ns() + clock_span(foreign_start_s(c->request->method)) < c->last;
}

enum { OWN = 5, NUMBERS = 64 };

/* Those asked for; else some. */
static size_t numbers_of(const struct check *c, unsigned number[NUMBERS])
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    const unsigned cores = online > 0 && online < THREADS_MAX / 2 ? (unsigned)online : 1;
    const unsigned own[OWN] = {1, 3, 2 * cores, 2, 7};
    size_t count = 0;
    for (size_t i = 0; i < c->threads.count && count < NUMBERS; i++)
        if (c->threads.item[i] && c->threads.item[i] != c->at.shape.threads)
            number[count++] = (unsigned)c->threads.item[i];
    for (size_t i = 0; c->request->threads.count == 0 && i < OWN; i++)
        number[count++] = own[i];
    return count;
}

#define ALONE_S 2 /* beside two starts: what spins on one processor may take for ever */

/* Holds the subject to one processor, where it has more: what counts them makes fewer shares.
 * Nobody says that it runs so: where it does not, it is not asked again. */
static enum status take_alone(struct check *c, struct check_outcome *o, struct problem *p)
{
    const double limit = foreign_timeout_s, own = ALONE_S + 2 * foreign_start_s(c->request->method);
    const char *what = foreign_limit;
    struct array out;
    struct check_setting s = check_plain(c, &c->at);
    if (machine_processors() < 2 || c->never_alone)
        return STATUS_OK;
    enum status status = foreign_on_one_processor(&s.method, c->request->method, p);
    if (status != STATUS_OK || (!check_keeps(c, s.method) && !time_for_start(c)))
        return status;
    check_keep(c, s.method);
    foreign_time_left(limit < own ? limit : own, " (held to one processor)");
    status = check_once(c, &s, &out, p);
    foreign_time_left(limit, what);
    if (status == STATUS_DATA) {
        foreign_end(s.method);
        c->never_alone = true;
        if (c->evidence)
            c->evidence->run.there = false;
        *p = (struct problem){0};
        return STATUS_OK;
    }
    o->now = check_variant(&s);
    uint64_t differing = o->differing;
    if (status == STATUS_OK)
        status = check_take(c, o, &out, 0, p, "held to one processor");
    if (o->differing > differing && differing == 0)
        o->found.other_shape = c->at.shape;
    return status;
}

/* Runs the subject with so many threads; 0: as the case has it. */
static enum status take(struct check *c, struct check_outcome *o, unsigned threads,
                        struct problem *p)
{
    struct array out;
    struct check_setting s = check_plain(c, &c->at);
    enum status status = STATUS_OK;
    if (threads)
        status = foreign_with_threads(&s.method, c->request->method, threads, p);
    unsigned told = foreign_threads(s.method);
    s.shape.threads = c->at.shape.threads ? told : 0;
    if (told)
        check_keep(c, s.method); /* processes stay up from case to case */
    if (status == STATUS_OK)
        status = check_once(c, &s, &out, p);
    o->now = check_variant(&s);
    if (status != STATUS_OK)
        return status;
    uint64_t differing = o->differing;
    status = told ? check_take(c, o, &out, 0, p, "OMP_NUM_THREADS=%u in its environment", told)
                  : check_take(c, o, &out, 0, p, "in this environment");
    if (o->differing > differing && differing == 0)
        o->found.other_shape = s.shape;
    return status;
}

enum status check_environment(struct check *c, struct check_outcome *o, struct problem *p)
{
    unsigned number[NUMBERS];
    size_t count = numbers_of(c, number);
    unsigned most = THREADS_MAX; /* that its library has */
    enum status status = STATUS_OK;
    for (size_t i = 0; i < count && status == STATUS_OK && !check_enough(c, o); i++) {
        const struct method *told;
        if (number[i] > most)
            continue;
        status = foreign_with_threads(&told, c->request->method, number[i], p);
        if (status != STATUS_OK || (!check_keeps(c, told) && !time_for_start(c)))
            break;
        if (i == 0)
            status = take(c, o, 0, p);
        if (status == STATUS_OK)
            status = take(c, o, number[i], p);
        if (status == STATUS_OK && i == 0 && c->request->threads.count == 0)
            status = take_alone(c, o, p);
        unsigned made = check_threads_made(c->request, number[i]);
        most = made < number[i] ? made : most;
    }
    return status;
}
