/* A question and its answer. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>
#include <signal.h>
#include <time.h>

#include "experiments/system/clock.h"
#include "experiments/system/process_state.h"

/* How often we look whether it has ended although something still holds its pipes, and whether we
 * are to stop. */
enum { SLICE_MS = 100, SPARE = 32 };

struct talk {
    struct process *process;
    const struct question *q;
    size_t line, sent, found; /* bytes: of the line, of line and data, of the answer */
    unsigned char spare[SPARE];
    size_t spares;    /* bytes beyond the answer */
    bool refused;     /* it closed its standard input */
    bool finished;    /* it closed its standard output, or ended */
    bool broken_pipe; /* a SIGPIPE is ours to take */
    uint64_t deadline;
};

static bool all_sent(const struct talk *t)
{
    return t->sent == t->line + t->q->bytes;
}

static void send_some(struct talk *t)
{
    struct iovec part[2];
    int parts = 0;
    size_t at = t->sent > t->line ? t->sent - t->line : 0;
    if (t->sent < t->line)
        part[parts++] = (struct iovec){(char *)t->q->line + t->sent, t->line - t->sent};
    if (at < t->q->bytes)
        part[parts++] = (struct iovec){(char *)t->q->data + at, t->q->bytes - at};
    ssize_t written = writev(t->process->to, part, parts);
    if (written >= 0)
        t->sent += (size_t)written;
    else if (errno != EAGAIN && errno != EINTR)
        t->refused = true;
    t->broken_pipe |= written < 0 && errno == EPIPE;
}

static void receive_some(struct talk *t)
{
    struct iovec part[2] = {{(char *)t->q->answer + t->found, t->q->due - t->found},
                            {t->spare + t->spares, SPARE - t->spares}};
    ssize_t got = readv(t->process->from, part, 2);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
        t->finished = true;
    if (got <= 0)
        return;
    size_t due = t->q->due - t->found, count = (size_t)got;
    t->found += count < due ? count : due;
    t->spares += count < due ? 0 : count - due;
}

static void wait_some(struct talk *t)
{
    struct process *c = t->process;
    uint64_t now = clock_ns(), left = t->deadline > now ? (t->deadline - now) / 1000000 + 1 : 0;
    struct pollfd at[3] = {{c->from, POLLIN, 0},
                           {c->errors, POLLIN, 0},
                           {all_sent(t) || t->refused ? -1 : c->to, POLLOUT, 0}};
    int ready = poll(at, 3, left < SLICE_MS ? (int)left : SLICE_MS);
    if (ready > 0 && at[2].revents)
        send_some(t);
    if (ready > 0 && at[0].revents)
        receive_some(t);
    if (ready > 0 && at[1].revents)
        process_listen(c);
    if (ready == 0) {
        process_look(c);
        t->finished |= c->over;
    }
}

static bool at_end(const struct talk *t)
{
    bool answered = !t->q->found && t->found == t->q->due;
    return t->finished || t->spares > 0 || (answered && (all_sent(t) || t->refused));
}

static bool stopped(const struct talk *t)
{
    return t->q->stop && *t->q->stop;
}

/* Bytes that are there already, or the end. */
static void receive_at_hand(struct talk *t)
{
    struct pollfd at = {t->process->from, POLLIN, 0};
    if (t->spares == 0 && poll(&at, 1, 0) > 0)
        receive_some(t);
}

/* As text: its last words, quoted. */
static void words_of(char text[300], struct process *c)
{
    const char *words = process_last_words(c);
    size_t length = strlen(words);
    *text = 0;
    if (length > 0)
        snprintf(text, 300, "; its last words: %s", words + (length > 200 ? length - 200 : 0));
}

static void end_of(char text[128], const struct process *c)
{
    if (!c->over)
        snprintf(text, 128, "closed its standard output");
    else if (c->code == CLD_EXITED)
        snprintf(text, 128, "ended with exit status %d", c->status);
    else if (c->code == 0)
        snprintf(text, 128, "ended");
    else
        snprintf(text, 128, "killed by signal %d (%s)", c->status, sigdescr_np(c->status));
}

static enum status too_much(const struct talk *t, struct problem *p)
{
    char shown[SPARE + 1] = "", words[300];
    for (size_t i = 0; i < t->spares; i++)
        shown[i] = t->spare[i] >= ' ' && t->spare[i] < 127 ? (char)t->spare[i] : '?';
    words_of(words, t->process);
    const char *more = t->spares == SPARE ? " or more" : "";
    if (t->sent == 0)
        return problem(p, STATUS_DATA,
                       "%s: wrote %zu bytes%s before it was asked ('%s'): expected nothing on "
                       "standard output but answers%s",
                       t->process->name, t->spares, more, shown, words);
    return problem(p, STATUS_DATA, "%s: answered with %zu bytes%s ('%s') beyond the %zu expected%s",
                   t->process->name, t->spares, more, shown, t->q->due, words);
}

static enum status too_little(struct talk *t, struct problem *p)
{
    struct process *c = t->process;
    char words[300], end[128];
    process_await(c, 1);
    end_of(end, c);
    words_of(words, c);
    c->served = c->answered && t->found == 0 && process_exit_status(c) == 0;
    if (t->q->found)
        return problem(p, STATUS_DATA, "%s: %s%s", c->name, end, words);
    return problem(p, STATUS_DATA, "%s: %s: found %zu of %zu bytes of its answer%s", c->name, end,
                   t->found, t->q->due, words);
}

static enum status verdict(struct talk *t, struct problem *p)
{
    struct process *c = t->process;
    char words[300];
    if (t->spares > 0)
        return too_much(t, p);
    if (t->q->found && t->finished) {
        process_await(c, 1);
        *t->q->found = t->found;
        return process_exit_status(c) == 0 ? STATUS_OK : too_little(t, p);
    }
    if (!t->q->found && t->found == t->q->due && all_sent(t))
        return STATUS_OK;
    if (t->finished)
        return too_little(t, p);
    if (stopped(t))
        return problem(p, STATUS_INTERRUPTED, "interrupted");
    words_of(words, c);
    if (t->refused)
        return problem(p, STATUS_DATA,
                       "%s: closed its standard input: read at most %zu of %zu bytes, found %zu of "
                       "%zu bytes of its answer%s",
                       c->name, t->sent, t->line + t->q->bytes, t->found, t->q->due, words);
    return problem(p, STATUS_DATA,
                   "%s: no answer within %g s (--timeout): found %zu of %zu bytes%s", c->name,
                   t->q->timeout_s, t->found, t->q->due, words);
}

/* SIGPIPE is held back in this thread for the while, and taken where it came from here: what the
 * rest of the program makes of it stays as it was. */
static void hold_pipe_signal(sigset_t *before, bool *pending)
{
    sigset_t pipe, waiting;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, before);
    sigpending(&waiting);
    *pending = sigismember(&waiting, SIGPIPE);
}

static void release_pipe_signal(const sigset_t *before, bool take)
{
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    while (take && sigtimedwait(&pipe, NULL, &(struct timespec){0}) < 0 && errno == EINTR)
        ;
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

enum status process_ask(struct process *c, const struct question *q, struct problem *p)
{
    sigset_t before;
    bool pending;
    struct talk t = {.process = c,
                     .q = q,
                     .line = strlen(q->line),
                     .deadline = clock_ns() + clock_span(q->timeout_s)};
    struct question nothing = *q;
    nothing.due = 0;
    hold_pipe_signal(&before, &pending);
    if (!q->found) { /* what comes before it is asked is no answer */
        t.q = &nothing;
        receive_at_hand(&t);
        t.q = q;
    }
    while (!at_end(&t) && !stopped(&t) && clock_ns() < t.deadline)
        wait_some(&t);
    if (!q->found && t.found == q->due)
        receive_at_hand(&t);
    release_pipe_signal(&before, t.broken_pipe && !pending);
    enum status status = verdict(&t, p);
    c->answered |= status == STATUS_OK;
    c->failed |= status != STATUS_OK;
    return status;
}
