#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "experiments/system/clock.h"
#include "experiments/system/process_state.h"

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

/* Ours, with ULPSCOPE_DEVICE. entry is for that; the caller frees the list. */
static char **make_environment(char *entry)
{
    size_t count = 0, kept = 0;
    while (environ[count])
        count++;
    char **list = calloc(count + 2, sizeof *list);
    for (size_t i = 0; list && i < count; i++)
        if (strncmp(environ[i], "ULPSCOPE_DEVICE=", 16) != 0)
            list[kept++] = environ[i];
    if (list)
        list[kept] = entry;
    return list;
}

static int start(struct process *c, const char *const argv[], const char *device)
{
    int end[8] = {-1, -1, -1, -1, -1, -1, -1, -1};
    int *to = end, *from = end + 2, *errors = end + 4, *life = end + 6, error;
    char group[24], entry[64];
    snprintf(entry, sizeof entry, "ULPSCOPE_DEVICE=%s", device);
    char **environment = make_environment(entry);
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
                         const char *device, struct problem *p)
{
    struct process *c = calloc(1, sizeof *c);
    *process = NULL;
    if (!c)
        return problem(p, STATUS_DEVICE, "%s: out of memory", name);
    *c = (struct process){.name = name, .to = -1, .from = -1, .errors = -1, .life = -1};
    int error = start(c, argv, device);
    if (error) {
        c->failed = true;
        process_close(c);
        return problem(p, STATUS_DEVICE, "%s: could not be started: %s", name, strerror(error));
    }
    fcntl(c->to, F_SETFL, O_NONBLOCK);
    fcntl(c->from, F_SETFL, O_NONBLOCK);
    fcntl(c->errors, F_SETFL, O_NONBLOCK);
    *process = c;
    return STATUS_OK;
}

void process_look(struct process *c)
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
void process_listen(struct process *c)
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

void process_await(struct process *c, double seconds)
{
    uint64_t until = clock_ns() + clock_span(seconds);
    for (int pause_ms = 0; process_look(c), !c->over && clock_ns() < until;) {
        poll(NULL, 0, pause_ms);
        process_listen(c);
        pause_ms += pause_ms < 10;
    }
    process_listen(c);
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
