#include "experiments/system/progress.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "experiments/system/clock.h"

enum { REDRAW_NS = 100000000 };

void progress_begin(struct progress *p, bool shown, size_t cases, uint64_t runs, uint64_t done)
{
    *p = (struct progress){shown, cases, runs, done, clock_ns(), 0};
}

/* "75 s", "12 min", "3.2 h". */
static void duration(char text[32], double seconds)
{
    if (seconds < 100)
        snprintf(text, 32, "%.0f s", seconds);
    else if (seconds < 6000)
        snprintf(text, 32, "%.0f min", seconds / 60);
    else
        snprintf(text, 32, "%.1f h", seconds / 3600);
}

void progress_draw(struct progress *p, size_t cases_done, uint64_t runs_done)
{
    uint64_t now = p->shown ? clock_ns() : 0;
    if (!p->shown || now - p->drawn_ns < REDRAW_NS)
        return;
    p->drawn_ns = now;
    char left[32] = "?";
    double seconds = (double)(now - p->begin_ns) / 1e9;
    double rate = (double)(runs_done - p->begun_with) / seconds;
    if (rate > 0)
        duration(left, (double)(p->runs - runs_done) / rate);
    fprintf(stderr, "\r\033[K%zu of %zu cases, %.3g runs/s, %s left", cases_done, p->cases, rate,
            left);
    fflush(stderr);
}

void progress_clear(struct progress *p)
{
    if (!p->shown || p->drawn_ns == 0)
        return;
    fprintf(stderr, "\r\033[K");
    fflush(stderr);
    p->drawn_ns = 0;
}

/* --- a line that is drawn by itself --- */

enum { LINE_TEXT = 256, LINE_NS = 200000000, SECOND_NS = 1000000000 };

struct progress_line {
    pthread_t thread;
    pthread_mutex_t mutex; /* of all below */
    pthread_cond_t changed;
    bool ended, drawn;
    char words[LINE_TEXT];
    uint64_t end_ns; /* of what is counted down to */
};

/* Not by stdio, whose locks a child process would inherit. */
static void write_line(const char *text, size_t length)
{
    while (length > 0) {
        ssize_t written = write(STDERR_FILENO, text, length);
        if (written < 0 && errno != EINTR)
            return;
        text += written > 0 ? written : 0;
        length -= written > 0 ? (size_t)written : 0;
    }
}

static void draw_line(struct progress_line *l)
{
    char text[LINE_TEXT + 64];
    uint64_t now = clock_ns(), left = l->end_ns > now ? l->end_ns - now : 0;
    int length = snprintf(text, sizeof text, "\r\033[K%s, about %.0f s left", l->words,
                          (double)left / SECOND_NS);
    write_line(text, (size_t)length);
    l->drawn = true;
}

/* Waits so long, or until the line has ended. */
static void pause_line(struct progress_line *l, uint64_t ns)
{
    struct timespec until;
    int woken = 0;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += (long)(ns % SECOND_NS);
    until.tv_sec += (time_t)(ns / SECOND_NS) + until.tv_nsec / SECOND_NS;
    until.tv_nsec %= SECOND_NS;
    while (!l->ended && woken == 0)
        woken = pthread_cond_timedwait(&l->changed, &l->mutex, &until);
}

static void *draw_lines(void *context)
{
    struct progress_line *l = context;
    pthread_mutex_lock(&l->mutex);
    pause_line(l, SECOND_NS);
    while (!l->ended) {
        if (*l->words)
            draw_line(l);
        pause_line(l, LINE_NS);
    }
    pthread_mutex_unlock(&l->mutex);
    return NULL;
}

struct progress_line *progress_line_begin(bool shown)
{
    struct progress_line *l = shown ? calloc(1, sizeof *l) : NULL;
    pthread_condattr_t monotonic;
    sigset_t all, before;
    if (!l)
        return NULL;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&l->mutex, NULL);
    pthread_cond_init(&l->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    sigfillset(&all); /* signals are for the caller's thread */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool begun = pthread_create(&l->thread, NULL, draw_lines, l) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (begun)
        return l;
    pthread_cond_destroy(&l->changed);
    pthread_mutex_destroy(&l->mutex);
    free(l);
    return NULL;
}

void progress_line_say(struct progress_line *l, double seconds_left, const char *format, ...)
{
    va_list arguments;
    if (!l)
        return;
    pthread_mutex_lock(&l->mutex);
    va_start(arguments, format);
    vsnprintf(l->words, sizeof l->words, format, arguments);
    va_end(arguments);
    l->end_ns = clock_ns() + clock_span(seconds_left);
    pthread_mutex_unlock(&l->mutex);
}

void progress_line_clear(struct progress_line *l)
{
    if (!l)
        return;
    pthread_mutex_lock(&l->mutex);
    if (l->drawn)
        write_line("\r\033[K", 4);
    l->drawn = false;
    pthread_mutex_unlock(&l->mutex);
}

void progress_line_end(struct progress_line *l)
{
    if (!l)
        return;
    pthread_mutex_lock(&l->mutex);
    l->ended = true;
    pthread_cond_signal(&l->changed);
    pthread_mutex_unlock(&l->mutex);
    pthread_join(l->thread, NULL);
    progress_line_clear(l);
    pthread_cond_destroy(&l->changed);
    pthread_mutex_destroy(&l->mutex);
    free(l);
}
