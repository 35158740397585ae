#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <stdint.h>
#include <sys/types.h>

#include "experiments/system/clock.h"
#include "experiments/system/process.h"

enum { WORDS_KEPT = 1024 };

struct process {
    const char *name;
    pid_t pid, guard;
    int to, from, errors, life; /* our ends of the pipes; -1: closed. life: the guard's */
    bool answered, failed;      /* a question */
    bool served, late;          /* as process_served, process_late */
    bool silent;                /* it ended without a byte of an answer */
    bool over;                  /* it has ended; not yet reaped, so that its number stays its own */
    int code, status;           /* how, as waitid says: CLD_EXITED, ...; code 0: not known */
    char words[WORDS_KEPT + 1]; /* the end of its standard error */
    size_t words_length;
};

/* It was asked for, so the default of 64 KiB is a poor pipe for arrays. */
enum { PIPE_BYTES = 1 << 20 };

/* $1: the process group. */
static const char guard_script[] = "read x; kill -s KILL -- -$1";

/* Closes itself in children. Above 2, so that none is in the way of another's place there. */
static int make_pipe(int end[2])
{
    if (pipe2(end, O_CLOEXEC) != 0)
        return -1;
    for (int i = 0; i < 2; i++)
        while (end[i] >= 0 && end[i] < 3) {
            int higher = fcntl(end[i], F_DUPFD_CLOEXEC, 3);
            close(end[i]);
            end[i] = higher;
        }
    fcntl(end[1], F_SETPIPE_SZ, PIPE_BYTES);
    return end[0] >= 0 && end[1] >= 0 ? 0 : -1;
}

static void close_all(int *fd, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (fd[i] >= 0)
            close(fd[i]);
        fd[i] = -1;
    }
}

/* Signals as they are by default: ours may be caught or ignored. */
static void plain_signals(posix_spawnattr_t *attributes)
{
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                             POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(attributes, 0);
    posix_spawnattr_setsigmask(attributes, &none);
    posix_spawnattr_setsigdefault(attributes, &all);
}

/* Starts a program, the leader of a new process group. fd: what it gets as 0, 1, 2; -1: /dev/null.
 * Returns an errno. */
static int spawn(pid_t *pid, const char *const argv[], const int fd[3], char *const environment[])
{
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t actions;
    int error = posix_spawnattr_init(&attributes);
    if (error)
        return error;
    error = posix_spawn_file_actions_init(&actions);
    for (int i = 0; error == 0 && i < 3; i++)
        error = fd[i] >= 0 ? posix_spawn_file_actions_adddup2(&actions, fd[i], i)
                           : posix_spawn_file_actions_addopen(&actions, i, "/dev/null", O_RDWR, 0);
    plain_signals(&attributes);
    if (error == 0)
        error = posix_spawn(pid, argv[0], &actions, &attributes, (char *const *)argv, environment);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return error;
}

/* Do they set the variable of this entry? */
static bool is_set(const char *entry, const char *const variables[])
{
    size_t name = strcspn(entry, "=") + 1;
    while (*variables && strncmp(*variables, entry, name) != 0)
        variables++;
    return *variables;
}

/* Ours, with these variables in place of those of the same name. The caller frees the list. */
static char **make_environment(const char *const variables[])
{
    size_t count = 0, more = 0, kept = 0;
    while (environ[count])
        count++;
    while (variables[more])
        more++;
    char **list = calloc(count + more + 1, sizeof *list);
    for (size_t i = 0; list && i < count; i++)
        if (!is_set(environ[i], variables))
            list[kept++] = environ[i];
    for (size_t i = 0; list && i < more; i++)
        list[kept++] = (char *)variables[i];
    return list;
}

static int start(struct process *c, const char *const argv[], const char *const variables[])
{
    int end[8] = {-1, -1, -1, -1, -1, -1, -1, -1};
    int *to = end, *from = end + 2, *errors = end + 4, *life = end + 6, error;
    char group[24];
    char **environment = make_environment(variables);
    if (!environment || make_pipe(to) || make_pipe(from) || make_pipe(errors) || make_pipe(life)) {
        error = errno;
    } else {
        error = spawn(&c->pid, argv, (const int[]){to[0], from[1], errors[1]}, environment);
        snprintf(group, sizeof group, "%ld", (long)c->pid);
        const char *const guard[] = {"/bin/sh", "-c", guard_script, "ulpscope-guard", group, NULL};
        if (error == 0)
            error = spawn(&c->guard, guard, (const int[]){life[0], -1, -1}, environ);
    }
    free(environment);
    c->to = to[1], c->from = from[0], c->errors = errors[0], c->life = life[1];
    to[1] = from[0] = errors[0] = life[1] = -1;
    close_all(end, 8);
    return error;
}

enum status process_open(struct process **process, const char *name, const char *const argv[],
                         const char *const variables[], struct problem *p)
{
    struct process *c = calloc(1, sizeof *c);
    *process = NULL;
    if (!c)
        return problem(p, STATUS_MEMORY, "%s: out of memory", name);
    *c = (struct process){.name = name, .to = -1, .from = -1, .errors = -1, .life = -1};
    int error = start(c, argv, variables);
    if (error) {
        c->failed = true;
        process_close(c);
        return problem(p, error == ENOMEM ? STATUS_MEMORY : STATUS_DEVICE,
                       "%s: could not be started: %s", name, strerror(error));
    }
    fcntl(c->to, F_SETFL, O_NONBLOCK);
    fcntl(c->from, F_SETFL, O_NONBLOCK);
    fcntl(c->errors, F_SETFL, O_NONBLOCK);
    *process = c;
    return STATUS_OK;
}

/* Notes its end, if it has ended. */
static void process_look(struct process *c)
{
    siginfo_t how = {0};
    if (c->over)
        return;
    int failed = waitid(P_PID, (id_t)c->pid, &how, WEXITED | WNOHANG | WNOWAIT);
    c->over = failed ? errno == ECHILD : how.si_pid != 0;
    c->code = failed ? 0 : how.si_code;
    c->status = how.si_status;
}

/* Not for ever, however much it says. */
static void process_listen(struct process *c)
{
    char block[512];
    for (int i = 0; i < 256 && c->errors >= 0; i++) {
        ssize_t got = read(c->errors, block, sizeof block);
        if (got == 0)
            close_all(&c->errors, 1);
        if (got <= 0)
            return;
        size_t count = (size_t)got, kept = WORDS_KEPT - count;
        if (c->words_length > kept) {
            memmove(c->words, c->words + c->words_length - kept, kept);
            c->words_length = kept;
        }
        memcpy(c->words + c->words_length, block, count);
        c->words_length += count;
    }
}

/* Waits for its end, listening to what it says on standard error, but at most so long. */
static void process_await(struct process *c, double seconds)
{
    uint64_t until = clock_ns() + clock_span(seconds);
    for (int pause_ms = 0; process_look(c), !c->over && clock_ns() < until;) {
        poll(NULL, 0, pause_ms);
        process_listen(c);
        pause_ms += pause_ms < 10;
    }
    process_listen(c);
}

void process_rename(struct process *c, const char *name)
{
    c->name = name;
    c->words_length = 0;
}

const char *process_last_words(struct process *c)
{
    process_listen(c);
    while (c->words_length > 0 && isspace((unsigned char)c->words[c->words_length - 1]))
        c->words_length--;
    c->words[c->words_length] = 0;
    const char *line = strrchr(c->words, '\n');
    return line ? line + 1 : c->words;
}

int process_exit_status(const struct process *c)
{
    return c->over && c->code == CLD_EXITED ? c->status : -1;
}

bool process_served(const struct process *c)
{
    return c->served;
}

bool process_silent(const struct process *c)
{
    return c->silent;
}

bool process_late(const struct process *c)
{
    return c->late;
}

static void reap(pid_t pid)
{
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

void process_close(struct process *c)
{
    if (!c)
        return;
    close_all(&c->to, 1);
    if (c->pid > 0 && !c->failed)
        process_await(c, 1);
    if (c->guard > 0) {
        kill(c->guard, SIGKILL);
        reap(c->guard);
    }
    if (c->pid > 0) {
        kill(-c->pid, SIGKILL);
        reap(c->pid);
    }
    close_all(&c->from, 1);
    close_all(&c->errors, 1);
    close_all(&c->life, 1);
    free(c);
}

/* --- A question and its answer --- */

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
    c->silent = t->found == 0;
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
    c->late = true;
    return problem(p, STATUS_DATA, "%s: no answer within %g s%s: found %zu of %zu bytes%s", c->name,
                   t->q->timeout_s, t->q->limit ? t->q->limit : " (--timeout)", t->found, t->q->due,
                   words);
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
